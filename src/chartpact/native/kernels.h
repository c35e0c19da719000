/* What a kernel is: one function over one series of bars, and the table of all of them.

   NumPy calls a loop over rows; rows.c turns each row into a Frame of contiguous operands and
   calls the kernel on it. A kernel therefore never sees a stride, an alias of its output or a row
   count, and where the table says SKIPS_NA or HOLDS_NA it never sees an na either. What a
   kernel writes is `bounded`: it never makes an infinity. */
#ifndef CHARTPACT_KERNELS_H
#define CHARTPACT_KERNELS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_IN 7
#define MAX_OUT 5

/* Memory kept from one row to the next, so that a batch of rows allocates once. */
typedef struct {
    void *start;
    size_t bytes;
} Room;

void *room(Room *, size_t bytes); /* NULL when there is no memory */

typedef struct {
    int64_t n; /* bars */
    const void *in[MAX_IN];
    void *out[MAX_OUT];
    Room *scratch;
} Frame;

#define NA ((double)NAN)

#define EPSILON 1e-10 /* Pine's tolerance: values no further apart are equal */

/* Pine's na() is true of an infinity too, and windows and recursions skip both alike. */
static inline bool is_na(double x) { return !(fabs(x) <= DBL_MAX); }

/* A result beyond the range of a double is na. */
static inline double bounded(double x) { return is_na(x) ? NA : x; }

static inline const double *series(const Frame *f, int k) { return f->in[k]; }
static inline const bool *flags(const Frame *f, int k) { return f->in[k]; }
static inline double factor(const Frame *f, int k) { return *(const double *)f->in[k]; }
static inline int64_t integer(const Frame *f, int k) { return *(const int64_t *)f->in[k]; }
static inline bool flag(const Frame *f, int k) { return *(const bool *)f->in[k]; }

/* A length no window of these bars can fill (too long, or not a length at all) becomes n + 1, so
   that kernels may add lengths without overflow and allocate by them without fear. */
static inline int64_t length(const Frame *f, int k)
{
    int64_t asked = integer(f, k);
    return asked < 1 || asked > f->n ? f->n + 1 : asked;
}

static inline double *scratch(Frame *f, int64_t doubles)
{
    return room(f->scratch, (size_t)doubles * sizeof(double));
}

static inline void fill(double *out, int64_t n, double value)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* Where the compiler and the C library can choose at load time, loops over independent bars exist
   twice, for any x86-64 and for those with AVX2. Neither contracts a*b+c, so both give the same
   bits. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* A branch that the processor foretells well, where a selection would lengthen a chain. The compiler
   prefers the selection, unless something happens in the branch that it does not know. */
#define RARELY(condition) __builtin_expect(condition, 0)
#define AS_BRANCH __asm__ volatile("")

int64_t first_na(const double *x, int64_t n); /* n where there is none */

/* Where every bar looks at all bars of its window, LANES bars are computed at once, in registers. The
   last ones may be computed twice, so that there are as many; where there are not, one by one. */
typedef double Four __attribute__((vector_size(32)));
typedef int64_t FourIntegers __attribute__((vector_size(32)));

#define LANES 16

#define FOR_EACH_LANES(i, first, n)                                                                \
    for (int64_t i = (first), next = i; i = next + LANES <= (n) ? next : (n)-LANES, next < (n);    \
         next += LANES)

/* The four doubles at an address. */
typedef double FourThere __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR_AT(x) (*(FourThere *)(x))

/* What passes from one loop to the next is made a piece at a time, to stay in the nearest cache. */
#define PIECE 256

#define FOR_EACH_PIECE(from, m, n)                                                                 \
    for (int64_t from = 0, m; m = (n)-from < PIECE ? (n)-from : PIECE, from < (n); from += PIECE)

/* Over every window of L bars; out[i] for i < L - 1 is left alone. What these sums and extremes are
   taken of is made a span of windows at a time, for the same reason. A span is whole blocks of L, so
   that its windows are summed as those of the whole series would be; the bars it needs overlap the
   next span's by L - 1. */
#define SPAN 512

static inline int64_t windows_of_span(int64_t L) { return L < SPAN ? SPAN / L * L : L; }
static inline int64_t bars_of_span(int64_t L) { return windows_of_span(L) + L - 1; }

#define FOR_EACH_SPAN(from, m, n, L)                                                               \
    for (int64_t from = 0, m;                                                                      \
         m = (n)-from < bars_of_span(L) ? (n)-from : bars_of_span(L), m >= (L);                    \
         from += windows_of_span(L))


void window_sum(const double *x, double *out, int64_t n, int64_t L);
void window_mean(const double *x, double *out, int64_t n, int64_t L);

/* An exponential average that Pine seeds with the mean of its first `length` values. It may be fed
   piece by piece; x and y must not overlap. */
typedef struct {
    int64_t length, seen;
    double alpha, value;
    double pivot, seed; /* while seeding: the first value, and the sum of distances from it */
} Average;

Average exponential(int64_t length); /* ta.ema: alpha = 2 / (length + 1) */
Average wilder(int64_t length);      /* ta.rma: alpha = 1 / length */
void average(Average *, const double *x, double *y, int64_t n);

/* What becomes of an na bar: SKIPS_NA takes the bar out of every series before the kernel runs and
   gives it na in every result; HOLDS_NA gives it the results of the bar before instead; SEES_NA
   leaves the matter to the kernel. */
typedef enum { SEES_NA, SKIPS_NA, HOLDS_NA } NaRule;

/* name, gufunc signature, type letters (d float64, q int64, ? bool), na rule.
   chartpact/ta/kernels.py holds the same names and signatures; a test compares them. */
#define KERNEL_TABLE(KERNEL)                                                                       \
    KERNEL(sma, "(n),()->(n)", "dq->d", HOLDS_NA)                                                  \
    KERNEL(sum, "(n),()->(n)", "dq->d", HOLDS_NA)                                                  \
    KERNEL(wma, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(hma, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(alma, "(n),(),(),()->(n)", "dqdd->d", SEES_NA)                                          \
    KERNEL(swma, "(n)->(n)", "d->d", SEES_NA)                                                      \
    KERNEL(vwma, "(n),(n),()->(n)", "ddq->d", SEES_NA)                                             \
    KERNEL(stdev, "(n),(),()->(n)", "dq?->d", HOLDS_NA)                                            \
    KERNEL(variance, "(n),(),()->(n)", "dq?->d", HOLDS_NA)                                         \
    KERNEL(dev, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(cci, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(cmo, "(n),()->(n)", "dq->d", SKIPS_NA)                                                  \
    KERNEL(cog, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(highest, "(n),()->(n)", "dq->d", SEES_NA)                                               \
    KERNEL(lowest, "(n),()->(n)", "dq->d", SEES_NA)                                                \
    KERNEL(highestbars, "(n),()->(n)", "dq->d", SEES_NA)                                           \
    KERNEL(lowestbars, "(n),()->(n)", "dq->d", SEES_NA)                                            \
    KERNEL(median, "(n),()->(n)", "dq->d", HOLDS_NA)                                               \
    KERNEL(mode, "(n),()->(n)", "dq->d", HOLDS_NA)                                                 \
    KERNEL(percentrank, "(n),()->(n)", "dq->d", SEES_NA)                                           \
    KERNEL(percentile_linear_interpolation, "(n),(),()->(n)", "dqd->d", SEES_NA)                   \
    KERNEL(percentile_nearest_rank, "(n),(),()->(n)", "dqd->d", SEES_NA)                           \
    KERNEL(linreg, "(n),(),()->(n)", "dqq->d", SEES_NA)                                            \
    KERNEL(correlation, "(n),(n),()->(n)", "ddq->d", SEES_NA)                                      \
    KERNEL(stoch, "(n),(n),(n),()->(n)", "dddq->d", SEES_NA)                                       \
    KERNEL(wpr, "(n),(n),(n),()->(n)", "dddq->d", SEES_NA)                                         \
    KERNEL(window_range, "(n),()->(n)", "dq->d", HOLDS_NA)                                         \
    KERNEL(mfi, "(n),(n),()->(n)", "ddq->d", SEES_NA)                                              \
    KERNEL(bb, "(n),(),()->(n),(n),(n)", "dqd->ddd", HOLDS_NA)                                     \
    KERNEL(ema, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(rma, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(rsi, "(n),()->(n)", "dq->d", SKIPS_NA)                                                  \
    KERNEL(macd, "(n),(),(),()->(n),(n),(n)", "dqqq->ddd", SEES_NA)                                \
    KERNEL(tr, "(n),(n),(n),()->(n)", "ddd?->d", SEES_NA)                                          \
    KERNEL(atr, "(n),(n),(n),()->(n)", "dddq->d", SEES_NA)                                         \
    KERNEL(dmi, "(n),(n),(n),(),()->(n),(n),(n)", "dddqq->ddd", SEES_NA)                           \
    KERNEL(supertrend, "(n),(n),(n),(),()->(n),(n)", "ddddq->dd", SEES_NA)                         \
    KERNEL(sar, "(n),(n),(n),(),(),()->(n)", "dddddd->d", SEES_NA)                                 \
    KERNEL(vwap, "(n),(n)->(n)", "dd->d", SEES_NA)                                                 \
    KERNEL(vwap_anchored, "(n),(n),(n)->(n)", "dd?->d", SEES_NA)                                   \
    KERNEL(vwap_bands, "(n),(n),(n),()->(n),(n),(n)", "dd?d->ddd", SEES_NA)                        \
    KERNEL(cum, "(n)->(n)", "d->d", SEES_NA)                                                       \
    KERNEL(cummax, "(n)->(n)", "d->d", SEES_NA)                                                    \
    KERNEL(cummin, "(n)->(n)", "d->d", SEES_NA)                                                    \
    KERNEL(obv, "(n),(n)->(n)", "dd->d", SEES_NA)                                                  \
    KERNEL(accdist, "(n),(n),(n),(n)->(n)", "dddd->d", SEES_NA)                                    \
    KERNEL(pvt, "(n),(n)->(n)", "dd->d", SEES_NA)                                                  \
    KERNEL(pvi, "(n),(n)->(n)", "dd->d", SEES_NA)                                                  \
    KERNEL(nvi, "(n),(n)->(n)", "dd->d", SEES_NA)                                                  \
    KERNEL(wad, "(n),(n),(n)->(n)", "ddd->d", SEES_NA)                                             \
    KERNEL(crossover, "(n),(n)->(n)", "dd->?", SEES_NA)                                            \
    KERNEL(crossunder, "(n),(n)->(n)", "dd->?", SEES_NA)                                           \
    KERNEL(cross, "(n),(n)->(n)", "dd->?", SEES_NA)                                                \
    KERNEL(rising, "(n),()->(n)", "dq->?", SEES_NA)                                                \
    KERNEL(falling, "(n),()->(n)", "dq->?", SEES_NA)                                               \
    KERNEL(barssince, "(n)->(n)", "?->d", SEES_NA)                                                 \
    KERNEL(valuewhen, "(n),(n),()->(n)", "?dq->d", SEES_NA)                                        \
    KERNEL(pivot_high, "(n),(),()->(n)", "dqq->d", SEES_NA)                                        \
    KERNEL(pivot_low, "(n),(),()->(n)", "dqq->d", SEES_NA)                                         \
    KERNEL(hl2, "(n),(n)->(n)", "dd->d", SEES_NA)                                                  \
    KERNEL(hlc3, "(n),(n),(n)->(n)", "ddd->d", SEES_NA)                                            \
    KERNEL(hlcc4, "(n),(n),(n)->(n)", "ddd->d", SEES_NA)                                           \
    KERNEL(ohlc4, "(n),(n),(n),(n)->(n)", "dddd->d", SEES_NA)                                      \
    KERNEL(change, "(n),()->(n)", "dq->d", SEES_NA)                                                \
    KERNEL(mom, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(roc, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(tsi, "(n),(),()->(n)", "dqq->d", SEES_NA)                                               \
    KERNEL(kc, "(n),(n),(n),(n),(),(),()->(n),(n),(n)", "ddddqd?->ddd", SEES_NA)                   \
    KERNEL(rci, "(n),()->(n)", "dq->d", SEES_NA)                                                   \
    KERNEL(period_prices, "(n),(n),(n),(n),(n),()->(n),(n),(n),(n),(n)", "?dddd?->ddddd", SEES_NA) \
    KERNEL(swings, "(n),(n),(),()->(n),(n),(n),(n)", "ddqq->dddd", SEES_NA)                        \
    KERNEL(structure, "(n),(n),(n),(),()->(n),(n),(n),(n),(n)", "dddqq->ddddd", SEES_NA)           \
    KERNEL(fvg, "(n),(n),(n),(n),(),()->(n),(n),(n)", "ddddd?->ddd", SEES_NA)                      \
    KERNEL(zone_life, "(n),(n),(n),(n),(n),(n),()->(n),(n),(n),(n),(n)",                           \
           "ddddddq->ddddd", SEES_NA)                                                              \
    KERNEL(highest_between, "(n),(n),(n)->(n),(n)", "ddd->dd", SEES_NA)                            \
    KERNEL(lowest_between, "(n),(n),(n)->(n),(n)", "ddd->dd", SEES_NA)                             \
    KERNEL(highest_since, "(n),(n)->(n)", "?d->d", SEES_NA)                                        \
    KERNEL(lowest_since, "(n),(n)->(n)", "?d->d", SEES_NA)                                         \
    KERNEL(first_true, "(n),(n)->(n)", "?" "?->?", SEES_NA)                                        \
    KERNEL(runs, "(n)->(n),(n)", "?->dd", SEES_NA)

/* What NumPy walks value by value: arithmetic.c and compare.c hold the loops. */
#define VALUE_TABLE(ENTRY)                                                                         \
    ENTRY(add, "(),()->()", "dd->d")                                                               \
    ENTRY(sub, "(),()->()", "dd->d")                                                               \
    ENTRY(mul, "(),()->()", "dd->d")                                                               \
    ENTRY(div, "(),()->()", "dd->d")                                                               \
    ENTRY(sqrt, "()->()", "d->d")                                                                  \
    ENTRY(lt, "(),()->()", "dd->?")                                                                \
    ENTRY(le, "(),()->()", "dd->?")                                                                \
    ENTRY(gt, "(),()->()", "dd->?")                                                                \
    ENTRY(ge, "(),()->()", "dd->?")                                                                \
    ENTRY(eq, "(),()->()", "dd->?")                                                                \
    ENTRY(ne, "(),()->()", "dd->?")

#define DECLARE(name, signature, types, na) int kernel_##name(Frame *);
KERNEL_TABLE(DECLARE)
#undef DECLARE

#endif
