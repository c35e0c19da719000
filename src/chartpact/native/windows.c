/* Sums and averages over a moving window.

   A running sum drifts, and one huge value leaves its rounding error in every sum after it. So the
   series is cut into blocks of L bars. Every window of L is then the tail of one block and the head
   of the next; tails are summed walking back, heads walking forward, and a window's sum is made of
   its own values only. Two additions a bar, no drift (van Herk's scheme for maxima).

   Where the result is an average, distances from a pivot are summed: the last bar of the block,
   which belongs to every window that begins in the block. Flat prices then give exactly the price,
   and variances lose nothing to cancellation, since no member of a window of L lies further than
   sqrt(L - 1) standard deviations from its mean. An na makes exactly the windows that hold it na,
   since the last bar of the block belongs to them all.

   A sum waits for the one before it, so blocks are summed abreast, which do not wait for each other.

   Sums become averages one block later: reading several at once that were just written one by one
   would make the processor wait for its own writes. */
#include "kernels.h"

#include <string.h>

/* A block's windows begin at its bars and end at last .. end - 1. The tail from j serves the window
   that ends at j + L - 1; in the last block the shortest tails serve none. */
#define FOR_EACH_BLOCK(last, end, n, L) FOR_EACH_BLOCK_FROM((L) - 1, last, end, n, L)

#define FOR_EACH_BLOCK_FROM(first, last, end, n, L)                                                \
    for (int64_t last = (first), end; end = last + (L) < (n) ? last + (L) : (n), last < (n);       \
         last += (L))

/* Whole blocks, so many at a time; `last` then is where the other blocks begin. */
#define ABREAST 4
#define EACH_ABREAST for (int b = 0; b < ABREAST; b++)
#define FOR_EACH_FOUR_BLOCKS(last, n, L)                                                           \
    for (last = (L) - 1; last + ABREAST * (L) <= (n); last += ABREAST * (L))

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Sums of values, or of their distances from the pivots. */
ALWAYS_INLINE void sum_four_blocks(const double *x, double *out, int64_t L, bool from_pivot)
{
    double tail[ABREAST] = {0}, head[ABREAST] = {0}, pivot[ABREAST] = {0};
    EACH_ABREAST
        pivot[b] = from_pivot ? x[b * L] : 0;
    for (int64_t k = 0; k < L; k++)
        EACH_ABREAST
            out[b * L + L - 1 - k] = tail[b] += x[b * L - k] - pivot[b];
    for (int64_t k = 1; k < L; k++)
        EACH_ABREAST
            out[b * L + k] += head[b] += x[b * L + k] - pivot[b];
}

WIDE void window_sum(const double *x, double *out, int64_t n, int64_t L)
{
    int64_t first;
    FOR_EACH_FOUR_BLOCKS (first, n, L)
        sum_four_blocks(x + first, out + first, L, false);
    FOR_EACH_BLOCK_FROM (first, last, end, n, L) {
        double tail = 0, head = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--)
            tail += x[j];
        for (; j > last - L; j--)
            out[j + L - 1] = tail += x[j];
        for (int64_t i = last + 1; i < end; i++)
            out[i] += head += x[i];
    }
}

/* Short windows and windows of fixed weights are summed outright, as what the newest bar has gained
   on the others: x[-k] is x less the last k steps, so that a step counts with the weights of all bars
   before it,

     mean = x - Σ share[t] (x[-t] - x[-t-1]),  share[t] = Σ w[k] / Σ w[all], k > t.

   STEPS bars are summed at once. */
#define STEPS 32

/* Turns the weights of x, x[-1] … into the shares of steps. */
static void share_steps(double *w, int64_t L)
{
    double total = 0, rest = 0, weight = L > 0 ? w[L - 1] : 0;
    for (int64_t k = 0; k < L; k++)
        total += w[k];
    for (int64_t t = L - 2; t >= 0; t--) {
        rest += weight;
        weight = w[t];
        w[t] = rest / total;
    }
}

static inline int64_t room_for_steps(int64_t L) { return PIECE + L + STEPS; }

WIDE static void weighted_mean(const double *x, double *out, int64_t n, int64_t L,
                               const double *share, double *steps)
{
    Four gain[(PIECE + STEPS) / 4];
    for (int64_t i = L - 1; i < n; i += PIECE) {
        int64_t m = n - i < PIECE ? n - i : PIECE, count = m + L - 2;
        const double *oldest = x + i - (L - 1);
        for (int64_t k = 0; k < count; k++)
            steps[k] = oldest[k + 1] - oldest[k];
        fill(steps + count, STEPS, 0);
        for (int64_t j = 0; j < m; j += STEPS) {
            Four sum[STEPS / 4] = {{0}};
            for (int64_t t = 0; t < L - 1; t++)
                for (int v = 0; v < STEPS / 4; v++) {
                    Four step;
                    memcpy(&step, steps + j + 4 * v + L - 2 - t, sizeof step);
                    sum[v] += share[t] * step;
                }
            for (int v = 0; v < STEPS / 4; v++)
                gain[j / 4 + v] = sum[v];
        }
        for (int64_t j = 0; j < m; j++)
            out[i + j] = bounded(x[i + j] - ((const double *)gain)[j]);
    }
}

#define SHORT 16

WIDE void window_mean(const double *x, double *out, int64_t n, int64_t L)
{
    if (L <= SHORT) {
        double weights[SHORT], steps[PIECE + SHORT + STEPS];
        fill(weights, L, 1);
        share_steps(weights, L);
        weighted_mean(x, out, n, L, weights, steps);
        return;
    }
    int64_t done = L - 1;
    double pivot_before = 0;
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, head = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--)
            tail += x[j] - pivot;
        for (; j > last - L; j--)
            out[j + L - 1] = tail += x[j] - pivot;
        for (int64_t i = last + 1; i < end; i++)
            out[i] += head += x[i] - pivot;
        for (; done < last; done++)
            out[done] = bounded(pivot_before + out[done] / (double)L);
        pivot_before = pivot;
    }
    for (; done < n; done++)
        out[done] = bounded(pivot_before + out[done] / (double)L);
}

WIDE static void bound(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = bounded(x[i]);
}

int kernel_sum(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L - 1, NA);
    window_sum(series(f, 0), f->out[0], f->n, L);
    bound(f->out[0], f->n);
    return 0;
}

int kernel_sma(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L - 1, NA);
    window_mean(series(f, 0), f->out[0], f->n, L);
    return 0;
}

/* ------------------------------------------------------------------ sums weighted by position */

typedef double Line(double pivot, double sum, double weighted, double L, double offset);

/* For every window the sum of the distances from the pivot, and their sum with weights 1..L from
   oldest to newest. Walking back, each step adds the tail's sum once more to its weighted sum.
   Walking forward, a bar's weight is its place in the head plus what the tail has lost. */
static inline __attribute__((always_inline)) void
each_line(const double *x, double *out, int64_t n, int64_t L, double *sum, double offset,
          Line *line)
{
    double *sum_before = sum + L, pivot_before = 0;
    int64_t done = L - 1;
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, tail_w = 0, head = 0, head_w = 0, place = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--)
            tail_w += tail += x[j] - pivot;
        for (; j > last - L; j--) {
            sum[j + L - 1 - last] = tail += x[j] - pivot;
            out[j + L - 1] = tail_w += tail;
        }
        for (int64_t i = last + 1; i < end; i++) {
            double d = x[i] - pivot;
            place += 1;
            head += d;
            head_w += place * d;
            sum[i - last] += head;
            out[i] += head_w + ((double)L - place) * head;
        }
        for (int64_t k = 0; done < last; done++, k++)
            out[done] = bounded(line(pivot_before, sum_before[k], out[done], (double)L, offset));
        double *swap = sum;
        sum = sum_before, sum_before = swap;
        pivot_before = pivot;
    }
    for (int64_t k = 0; done < n; done++, k++)
        out[done] = bounded(line(pivot_before, sum_before[k], out[done], (double)L, offset));
}

static inline double weighted_average(double pivot, double sum, double weighted, double L,
                                      double offset)
{
    (void)sum, (void)offset;
    return pivot + weighted / (L * (L + 1) / 2);
}

static inline double regression(double pivot, double sum, double weighted, double L, double offset)
{
    if (L == 1)
        return pivot;
    double slope = (weighted - sum * ((L + 1) / 2)) / (L * (L * L - 1) / 12);
    return pivot + (sum / L + slope * ((L - 1) / 2 - offset));
}

static inline double centre_of_gravity(double pivot, double sum, double weighted, double L,
                                       double offset)
{
    (void)offset;
    double total = L * pivot + sum;
    double moment = pivot * (L * (L + 1) / 2) + ((L + 1) * sum - weighted);
    return total == 0 ? NA : -(moment / total);
}

WIDE static void regressions(const double *x, double *out, int64_t n, int64_t L, double *sum,
                             double offset)
{
    each_line(x, out, n, L, sum, offset, regression);
}

WIDE static void centres_of_gravity(const double *x, double *out, int64_t n, int64_t L, double *sum)
{
    each_line(x, out, n, L, sum, 0, centre_of_gravity);
}

WIDE static void weighted_averages(const double *x, double *out, int64_t n, int64_t L, double *sum)
{
    each_line(x, out, n, L, sum, 0, weighted_average);
}

int kernel_linreg(Frame *f)
{
    int64_t L = length(f, 1);
    double *sum = scratch(f, 2 * L);
    if (!sum)
        return -1;
    fill(f->out[0], L - 1, NA);
    regressions(series(f, 0), f->out[0], f->n, L, sum, (double)integer(f, 2));
    return 0;
}

int kernel_cog(Frame *f)
{
    int64_t L = length(f, 1);
    double *sum = scratch(f, 2 * L);
    if (!sum)
        return -1;
    fill(f->out[0], L - 1, NA);
    centres_of_gravity(series(f, 0), f->out[0], f->n, L, sum);
    return 0;
}

#define SHORT_WEIGHTED 24

/* The shares of steps in an average with weights L … 1, newest to oldest. */
static void share_linearly(double *shares, int64_t L)
{
    for (int64_t k = 0; k < L; k++)
        shares[k] = (double)(L - k);
    share_steps(shares, L);
}

static void wma(const double *x, double *out, int64_t n, int64_t L, double *sum)
{
    if (L > SHORT_WEIGHTED) {
        weighted_averages(x, out, n, L, sum);
        return;
    }
    double shares[SHORT_WEIGHTED], steps[PIECE + SHORT_WEIGHTED + STEPS];
    share_linearly(shares, L);
    weighted_mean(x, out, n, L, shares, steps);
}

static int64_t first_present(const double *x, int64_t n)
{
    int64_t first = 0;
    while (first < n && is_na(x[first]))
        first++;
    return first;
}

/* The first value is present. */
static void fill_gaps(const double *x, double *filled, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        filled[i] = is_na(x[i]) ? filled[i - 1] : x[i];
}

/* Pine fills an na in the window with the value before it, but the bar itself is na, and so is
   every bar before the L-th value. */
int kernel_wma(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n, first = first_present(x, n);
    double *out = f->out[0];
    bool has_gaps = first_na(x + first, n - first) < n - first;
    double *sum = scratch(f, 2 * L + (has_gaps ? n : 0)), *filled = sum + 2 * L;
    if (!sum)
        return -1;
    fill(out, first + L - 1 < n ? first + L - 1 : n, NA);
    if (!has_gaps) {
        wma(x + first, out + first, n - first, L, sum);
        return 0;
    }
    fill_gaps(x + first, filled, n - first);
    wma(filled, out + first, n - first, L, sum);
    for (int64_t i = first, seen = 0; i < n; i++) {
        seen += !is_na(x[i]);
        if (is_na(x[i]) || seen < L)
            out[i] = NA;
    }
    return 0;
}

WIDE static void leads(const double *half, const double *whole, double *lead, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lead[i] = 2 * half[i] - whole[i];
}

/* How far the average of half the window leads that of the whole, from bar L - 1 on. Of short ones
   the shares of steps are subtracted instead of the averages. */
static void hull_lead(const double *x, double *lead, int64_t n, int64_t L, double *half, double *sum)
{
    if (L > SHORT_WEIGHTED) {
        wma(x, half, n, L / 2, sum);
        wma(x, lead, n, L, sum);
        leads(half + L - 1, lead + L - 1, lead + L - 1, n - (L - 1));
        return;
    }
    double whole[SHORT_WEIGHTED], shares[SHORT_WEIGHTED] = {0};
    double steps[PIECE + SHORT_WEIGHTED + STEPS];
    share_linearly(whole, L);
    share_linearly(shares, L / 2);
    shares[L / 2 - 1] = 0; /* a window of L / 2 has one step less */
    leads(shares, whole, shares, L - 1);
    weighted_mean(x, lead, n, L, shares, steps);
}

/* What wma does about na, for the m bars of a span: `lead` keeps its last value where it is na, and
   `shown` is na where the result will be. */
typedef struct {
    int64_t values, leads; /* present so far */
    double last;
} Seen;

static void hold_leads(Seen *seen, const double *x, double *lead, double *shown, int64_t m,
                       int64_t L, int64_t S)
{
    for (int64_t i = L - 1; i < m; i++) {
        bool present = !is_na(x[i]);
        seen->values += present;
        present &= seen->values >= L;
        seen->leads += present;
        seen->last = lead[i] = present ? lead[i] : seen->last;
        shown[i] = present && seen->leads >= S ? 0 : NA;
    }
}

/* The lead is smoothed over S bars. The last S - 1 leads of each span are kept in front of those of
   the next. `filled` is x without gaps. */
static void hull(const double *x, const double *filled, double *out, int64_t n, int64_t L, int64_t S,
                 double *room)
{
    double *sum = room, *half = sum + 2 * L, *lead = half + bars_of_span(L);
    Seen seen = {.last = NA};
    int64_t kept = 0;
    for (int64_t i = 0; i < L - 1 && x != filled; i++)
        seen.values += !is_na(x[i]);
    FOR_EACH_SPAN (from, m, n, L) {
        hull_lead(filled + from, lead, m, L, half, sum);
        if (x != filled)
            hold_leads(&seen, x + from, lead, half, m, L, S);
        int64_t first = L - 1 - kept;
        wma(lead + first, out + from + first, m - first, S, sum);
        for (int64_t i = L - 1; i < m && x != filled; i++)
            out[from + i] = is_na(half[i]) ? NA : out[from + i];
        kept = m - first < S - 1 ? m - first : S - 1;
        memmove(lead + L - 1 - kept, lead + m - kept, (size_t)kept * sizeof *lead);
    }
}

int kernel_hma(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n, S = (int64_t)sqrt((double)L), first = first_present(x, n);
    double *out = f->out[0];
    fill(out, n, NA);
    if (L < 2 || L > n - first)
        return 0;
    bool has_gaps = first_na(x + first, n - first) < n - first;
    int64_t needed = 2 * L + 2 * bars_of_span(L);
    double *room = scratch(f, needed + (has_gaps ? n : 0)), *filled = room + needed;
    if (!room)
        return -1;
    if (has_gaps)
        fill_gaps(x + first, filled, n - first);
    hull(x + first, has_gaps ? filled : x + first, out + first, n - first, L, S, room);
    return 0;
}

/* --------------------------------------------------------------------------- fixed weights */

int kernel_swma(Frame *f)
{
    double weights[] = {1, 2, 2, 1}, steps[PIECE + 4 + STEPS];
    share_steps(weights, 4);
    fill(f->out[0], f->n < 3 ? f->n : 3, NA);
    weighted_mean(series(f, 0), f->out[0], f->n, 4, weights, steps);
    return 0;
}

int kernel_alma(Frame *f)
{
    int64_t L = length(f, 1);
    double centre = factor(f, 2) * (double)(L - 1), width = (double)L / factor(f, 3);
    fill(f->out[0], L - 1, NA);
    if (L > f->n)
        return 0;
    double *weights = scratch(f, L + room_for_steps(L));
    if (!weights)
        return -1;
    for (int64_t k = 0; k < L; k++) {
        double away = (double)(L - 1 - k) - centre;
        weights[k] = exp(-(away * away) / (2 * width * width));
    }
    share_steps(weights, L);
    weighted_mean(series(f, 0), f->out[0], f->n, L, weights, weights + L);
    return 0;
}

/* ------------------------------------------------------------------------------ deviations */

typedef enum { VARIANCE, STDEV, BANDS } Measure;

typedef struct {
    Measure measure;
    double *out, *upper, *lower; /* the last two for bands only */
    double L, by, mult;
} Deviation;

/* From the sums of distances (in `out`) and of their squares, for `count` windows. The spread,
   L Σd² - (Σd)², is L² times the variance. */
static inline __attribute__((always_inline)) void
measure(Deviation to, int64_t first, int64_t count, double pivot, const double *squares)
{
    double *restrict out = to.out + first;
    double *restrict upper = to.measure == BANDS ? to.upper + first : NULL;
    double *restrict lower = to.measure == BANDS ? to.lower + first : NULL;
    for (int64_t k = 0; k < count; k++) {
        double spread = to.L * squares[k] - out[k] * out[k];
        spread = spread < 0 ? 0 : spread;
        if (to.measure == VARIANCE) {
            out[k] = bounded(spread / to.by);
        } else if (to.measure == STDEV) {
            out[k] = bounded(sqrt(spread) / to.by);
        } else {
            double middle = pivot + out[k] / to.L, reach = to.mult * (sqrt(spread) / to.by);
            out[k] = bounded(middle);
            upper[k] = bounded(middle + reach);
            lower[k] = bounded(middle - reach);
        }
    }
}

static inline __attribute__((always_inline)) void
each_spread(const double *x, int64_t n, int64_t L, double *squares, Deviation to)
{
    double *out = to.out, *squares_before = squares + L, pivot_before = 0;
    int64_t done = L - 1;
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, head = 0, tail2 = 0, head2 = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--) {
            double d = x[j] - pivot;
            tail += d, tail2 += d * d;
        }
        for (; j > last - L; j--) {
            double d = x[j] - pivot;
            out[j + L - 1] = tail += d;
            squares[j + L - 1 - last] = tail2 += d * d;
        }
        for (int64_t i = last + 1; i < end; i++) {
            double d = x[i] - pivot;
            out[i] += head += d;
            squares[i - last] += head2 += d * d;
        }
        measure(to, done, last - done, pivot_before, squares_before);
        done = last;
        double *swap = squares;
        squares = squares_before, squares_before = swap;
        pivot_before = pivot;
    }
    measure(to, done, n - done, pivot_before, squares_before);
}

WIDE static void variances(const double *x, int64_t n, int64_t L, double *squares, Deviation to)
{
    to.measure = VARIANCE;
    each_spread(x, n, L, squares, to);
}

WIDE static void stdevs(const double *x, int64_t n, int64_t L, double *squares, Deviation to)
{
    to.measure = STDEV;
    each_spread(x, n, L, squares, to);
}

WIDE static void bands(const double *x, int64_t n, int64_t L, double *squares, Deviation to)
{
    to.measure = BANDS;
    each_spread(x, n, L, squares, to);
}

/* Divided by n, or by n - 1 for the unbiased one, which a single value does not have. */
static int deviation(Frame *f, Measure measure)
{
    int64_t L = length(f, 1), freedom = flag(f, 2) ? L : L - 1, n = f->n;
    double *out = f->out[0], by = (double)L * (double)freedom, *squares = scratch(f, 2 * L);
    if (!squares)
        return -1;
    fill(out, freedom ? L - 1 : n, NA);
    if (L > n || freedom == 0)
        return 0;
    Deviation to = {.out = out, .L = (double)L, .by = measure == VARIANCE ? by : sqrt(by)};
    (measure == VARIANCE ? variances : stdevs)(series(f, 0), n, L, squares, to);
    return 0;
}

int kernel_variance(Frame *f) { return deviation(f, VARIANCE); }

int kernel_stdev(Frame *f) { return deviation(f, STDEV); }

int kernel_bb(Frame *f)
{
    int64_t L = length(f, 1);
    double *squares = scratch(f, 2 * L);
    if (!squares)
        return -1;
    for (int k = 0; k < 3; k++)
        fill(f->out[k], L - 1, NA);
    if (L > f->n)
        return 0;
    Deviation to = {.out = f->out[0], .upper = f->out[1], .lower = f->out[2]};
    to.L = to.by = (double)L;
    to.mult = factor(f, 2);
    bands(series(f, 0), f->n, L, squares, to);
    return 0;
}

/* The mean distance from the window's own mean has no shorter form than looking at every value. */
WIDE static void mean_distance(const double *x, const double *mean, double *out, int64_t n,
                               int64_t L)
{
    const FourIntegers but_the_sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    if (n - (L - 1) >= LANES)
        FOR_EACH_LANES (i, L - 1, n) {
            Four sum[LANES / 4] = {{0}}, middle[LANES / 4];
            for (int v = 0; v < LANES / 4; v++)
                middle[v] = FOUR_AT(mean + i + 4 * v);
            for (int64_t k = 0; k < L; k++)
                for (int v = 0; v < LANES / 4; v++) {
                    Four distance = FOUR_AT(x + i + 4 * v - k) - middle[v];
                    sum[v] += (Four)((FourIntegers)distance & but_the_sign);
                }
            for (int v = 0; v < LANES / 4; v++)
                FOUR_AT(out + i + 4 * v) = sum[v];
        }
    else
        for (int64_t i = L - 1; i < n; i++) {
            out[i] = 0;
            for (int64_t k = 0; k < L; k++)
                out[i] += fabs(x[i - k] - mean[i]);
        }
    for (int64_t i = L - 1; i < n; i++)
        out[i] = bounded(out[i] / (double)L);
}

int kernel_dev(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1);
    double *out = f->out[0], *mean = scratch(f, bars_of_span(L));
    if (!mean)
        return -1;
    fill(out, L - 1, NA);
    FOR_EACH_SPAN (from, m, f->n, L) {
        window_mean(x + from, mean, m, L);
        mean_distance(x + from, mean, out + from, m, L);
    }
    return 0;
}

/* From mean distances (in `out`) to the index, except on flat windows; tells whether there are any. */
WIDE static bool index_of_commodity(const double *x, const double *mean, double *out, int64_t n)
{
    int64_t flat = 0;
    for (int64_t i = 0; i < n; i++) {
        bool is_flat = out[i] <= EPSILON;
        flat |= is_flat;
        out[i] = is_flat ? INFINITY : (x[i] - mean[i]) / (0.015 * out[i]);
    }
    return flat;
}

int kernel_cci(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), first = L - 1;
    double *out = f->out[0], *mean = scratch(f, bars_of_span(L)), last = 0;
    bool has_flat = false;
    if (!mean)
        return -1;
    fill(out, first, NA);
    FOR_EACH_SPAN (from, m, f->n, L) {
        window_mean(x + from, mean, m, L);
        mean_distance(x + from, mean, out + from, m, L);
        has_flat |=
            index_of_commodity(x + from + first, mean + first, out + from + first, m - first);
    }
    /* On a flat window Pine repeats the last index, 0 before the first. */
    for (int64_t i = first; has_flat && i < f->n; i++) {
        if (out[i] == INFINITY)
            out[i] = last;
        last = is_na(out[i]) ? last : out[i];
    }
    return 0;
}

/* The five sums a correlation is made of, each in a row of L. */
enum { A, B, AA, BB, AB, SUMS };

static inline void add_pair(double *sums, double a, double b)
{
    sums[A] += a;
    sums[B] += b;
    sums[AA] += a * a;
    sums[BB] += b * b;
    sums[AB] += a * b;
}

WIDE static void correlations(const double *a, const double *b, double *out, int64_t n, int64_t L,
                              double *row)
{
    FOR_EACH_BLOCK (last, end, n, L) {
        double tail[SUMS] = {0}, head[SUMS] = {0};
        for (int64_t k = L - 1; k >= 0; k--) {
            add_pair(tail, a[last - L + 1 + k] - a[last], b[last - L + 1 + k] - b[last]);
            for (int s = 0; s < SUMS; s++)
                row[s * L + k] = tail[s];
        }
        for (int64_t k = 1; k < end - last; k++) {
            add_pair(head, a[last + k] - a[last], b[last + k] - b[last]);
            for (int s = 0; s < SUMS; s++)
                row[s * L + k] += head[s];
        }
        const double *sa = row, *sb = row + L, *saa = row + 2 * L, *sbb = row + 3 * L;
        const double *sab = row + 4 * L;
        double squared = (double)L * (double)L;
        for (int64_t k = 0; k < end - last; k++) {
            double spread_a = (double)L * saa[k] - sa[k] * sa[k];
            double spread_b = (double)L * sbb[k] - sb[k] * sb[k];
            double together = (double)L * sab[k] - sa[k] * sb[k];
            double r = together / (sqrt(spread_a) * sqrt(spread_b));
            r = r > 1 ? 1 : r < -1 ? -1 : r;
            r = (spread_a > 0) & (spread_b > 0) ? bounded(r) : NA;
            out[last + k] = fabs(together) <= EPSILON * squared ? 0 : r;
        }
    }
}

/* The bars where a series is present, or both are (b may be NULL); returns how many. */
static int64_t present_bars(const double *a, const double *b, int64_t n, int64_t *bars)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!is_na(a[i]) && !(b && is_na(b[i])))
            bars[count++] = i;
    return count;
}

static double mean_of(const double *x, const int64_t *bars, int64_t L, double pivot)
{
    double sum = 0;
    for (int64_t k = 0; k < L; k++)
        sum += x[bars[k]] - pivot;
    return pivot + sum / (double)L;
}

static double variance_of(const double *x, const int64_t *bars, int64_t L, double mean)
{
    double sum = 0;
    for (int64_t k = 0; k < L; k++)
        sum += (x[bars[k]] - mean) * (x[bars[k]] - mean);
    return sum / (double)L;
}

/* Where a and b have gaps on different bars, Pine's sums of a, of b and of a·b are over different
   bars. With p and q the means of a and b, the mean of a·b less p·q is then the mean of
   (a - p)(b - q) + p (b - q) + q (a - p) over the bars of a·b. */
static double odd_correlation(const double *a, const double *b, int64_t L, const int64_t *of_a,
                              const int64_t *of_b, const int64_t *of_ab)
{
    double p = mean_of(a, of_a, L, a[of_a[0]]), q = mean_of(b, of_b, L, b[of_b[0]]);
    double product = variance_of(a, of_a, L, p) * variance_of(b, of_b, L, q), together = 0;
    bool apart_a = of_a[0] != of_ab[0] || of_a[L - 1] != of_ab[L - 1];
    bool apart_b = of_b[0] != of_ab[0] || of_b[L - 1] != of_ab[L - 1];
    for (int64_t k = 0; k < L; k++) {
        double da = a[of_ab[k]] - p, db = b[of_ab[k]] - q;
        together += da * db + (apart_b ? p * db : 0) + (apart_a ? q * da : 0);
    }
    together /= (double)L;
    return fabs(together) <= EPSILON ? 0 : product > 0 ? bounded(together / sqrt(product)) : NA;
}

/* From the bar of the first gap on. */
static int correlation_with_gaps(Frame *f, int64_t gap, int64_t L)
{
    const double *a = series(f, 0), *b = series(f, 1);
    int64_t n = f->n, na = 0, nb = 0, nab = 0;
    int64_t *of_a = room(f->scratch, 3 * (size_t)n * sizeof *of_a);
    double *out = f->out[0];
    if (!of_a)
        return -1;
    int64_t *of_b = of_a + n, *of_ab = of_b + n;
    present_bars(a, NULL, n, of_a);
    present_bars(b, NULL, n, of_b);
    present_bars(a, b, n, of_ab);
    for (int64_t i = 0; i < n; i++) {
        bool has_a = !is_na(a[i]), has_b = !is_na(b[i]);
        na += has_a, nb += has_b, nab += has_a && has_b;
        if (i < gap)
            continue;
        if (nab < L)
            out[i] = NA;
        else if (has_a || has_b)
            out[i] = odd_correlation(a, b, L, of_a + na - L, of_b + nb - L, of_ab + nab - L);
        else
            out[i] = out[i - 1];
    }
    return 0;
}

int kernel_correlation(Frame *f)
{
    const double *a = series(f, 0), *b = series(f, 1);
    int64_t L = length(f, 2), n = f->n, lead = 0;
    double *out = f->out[0];
    while (lead < n && (is_na(a[lead]) || is_na(b[lead])))
        lead++;
    fill(out, lead + L - 1 < n ? lead + L - 1 : n, NA);
    double *row = scratch(f, SUMS * L);
    if (!row)
        return -1;
    int64_t gap = lead + first_na(a + lead, n - lead);
    gap = lead + first_na(b + lead, gap - lead);
    correlations(a + lead, b + lead, out + lead, gap - lead, L, row);
    return gap < n ? correlation_with_gaps(f, gap, L) : 0;
}

/* ------------------------------------------------------------------------- ratios of sums */

WIDE static void ratio(const double *above, const double *below, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded(above[i] / below[i]);
}

/* Sums of the last L values that are present; a bar without one repeats the sum before. `values` is
   room for 2n. */
static void held_sums(const double *x, double *out, int64_t n, int64_t L, double *values)
{
    double *sums = values + n;
    int64_t count = 0, seen = 0;
    for (int64_t i = 0; i < n; i++)
        if (!is_na(x[i]))
            values[count++] = x[i];
    window_sum(values, sums, count, L);
    for (int64_t i = 0; i < n; i++) {
        seen += !is_na(x[i]);
        out[i] = seen < L ? NA : sums[seen - 1];
    }
}

static int vwma_with_gaps(Frame *f, const double *x, const double *volume, double *out, int64_t n,
                          int64_t L)
{
    double *flow = scratch(f, 5 * n), *flows = flow + n, *volumes = flows + n;
    if (!flow)
        return -1;
    for (int64_t i = 0; i < n; i++)
        flow[i] = is_na(x[i]) ? NA : x[i] * volume[i];
    held_sums(flow, flows, n, L, volumes + n);
    held_sums(volume, volumes, n, L, volumes + n);
    ratio(flows, volumes, out, n);
    return 0;
}

int kernel_vwma(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    int64_t L = length(f, 2), span = bars_of_span(L), first = L - 1, n = f->n, lead = 0;
    while (lead < n && (is_na(x[lead]) || is_na(volume[lead])))
        lead++;
    double *out = (double *)f->out[0] + lead;
    fill(f->out[0], lead + first < n ? lead + first : n, NA);
    x += lead, volume += lead, n -= lead;
    if (first_na(x, n) < n || first_na(volume, n) < n)
        return vwma_with_gaps(f, x, volume, out, n, L);
    double *flow = scratch(f, 3 * span), *flows = flow + span, *volumes = flows + span;
    if (!flow)
        return -1;
    FOR_EACH_SPAN (from, m, n, L) {
        for (int64_t i = 0; i < m; i++)
            flow[i] = x[from + i] * volume[from + i];
        window_sum(flow, flows, m, L);
        window_sum(volume + from, volumes, m, L);
        ratio(flows + first, volumes + first, out + from + first, m - first);
    }
    return 0;
}

WIDE static void momentum_balance(const double *ups, const double *downs, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double all = ups[i] + downs[i];
        out[i] = bounded(100 * (ups[i] - downs[i]) / all);
    }
}

/* Over the steps between bars, of which there is one less: step i leads to bar i + 1. */
int kernel_cmo(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), span = bars_of_span(L), first = L - 1;
    double *out = f->out[0], *up = scratch(f, 4 * span), *down = up + span;
    double *ups = down + span, *downs = ups + span;
    if (!up)
        return -1;
    fill(out, L < f->n ? L : f->n, NA);
    FOR_EACH_SPAN (from, m, f->n - 1, L) {
        for (int64_t i = 0; i < m; i++) {
            double step = x[from + i + 1] - x[from + i];
            up[i] = step < -EPSILON ? 0 : step;
            down[i] = step < -EPSILON ? -step : 0;
        }
        window_sum(up, ups, m, L);
        window_sum(down, downs, m, L);
        momentum_balance(ups + first, downs + first, out + 1 + from + first, m - first);
    }
    return 0;
}

WIDE static void flow_index(const double *ins, const double *outs, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double in = fabs(ins[i]) <= EPSILON ? 0 : ins[i];
        double all = 1 + in / outs[i], none = in == in ? 100 : NA;
        out[i] = fabs(outs[i]) <= EPSILON ? none : bounded(100 - 100 / all);
    }
}

static int mfi_with_gaps(Frame *f, int64_t L)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    int64_t n = f->n;
    double *in = scratch(f, 6 * n), *out = in + n, *ins = out + n, *outs = ins + n, before = NA;
    if (!in)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        double price = is_na(x[i]) ? NA : x[i], step = price - before, flow = price * volume[i];
        in[i] = step <= EPSILON ? 0 : flow;
        out[i] = step >= -EPSILON ? 0 : flow;
        before = price;
    }
    held_sums(in, ins, n, L, outs + n);
    held_sums(out, outs, n, L, outs + n);
    flow_index(ins, outs, f->out[0], n);
    return 0;
}

/* Where there is no step, on bar 0 and after an na, Pine counts the flow both ways. */
int kernel_mfi(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    int64_t L = length(f, 2), span = bars_of_span(L), first = L - 1, n = f->n, lead = 0;
    while (lead < n && is_na(x[lead]))
        lead++;
    x += lead, volume += lead, n -= lead;
    if (first_na(x, n) < n || first_na(volume, n) < n)
        return mfi_with_gaps(f, L);
    double *index = f->out[0], *in = scratch(f, 4 * span), *out = in + span;
    double *ins = out + span, *outs = ins + span;
    if (!in)
        return -1;
    fill(index, lead + first < f->n ? lead + first : f->n, NA);
    index += lead;
    FOR_EACH_SPAN (from, m, n, L) {
        if (from == 0)
            in[0] = out[0] = x[0] * volume[0];
        for (int64_t i = from == 0; i < m; i++) {
            double step = x[from + i] - x[from + i - 1], flow = x[from + i] * volume[from + i];
            in[i] = step > EPSILON ? flow : 0;
            out[i] = step < -EPSILON ? flow : 0;
        }
        window_sum(in, ins, m, L);
        window_sum(out, outs, m, L);
        flow_index(ins + first, outs + first, index + from + first, m - first);
    }
    return 0;
}
