/* Order statistics of a moving window, which is kept sorted.

   A few values are sorted anew by one pass over all of them, which needs no search and no branch. Of
   many, the one that leaves is found by bisection, and only the values between it and the one that
   enters are moved. */
#include "kernels.h"

#include <string.h>

#define FEW 64

/* Where a sorted window of a few values lies: a multiple of GROUP of them, with infinities in front
   and behind. */
#define GROUP 8
#define FEW_ROOM (GROUP + FEW + GROUP)

static void begin_few(double *room, int64_t L)
{
    fill(room, GROUP, -INFINITY);
    fill(room + GROUP + L, FEW_ROOM - GROUP - L, INFINITY);
}

/* The sorted values `a` with one that leaves and one that enters, in `b`. Between the two places
   each value makes room for its neighbour: the next one if a larger value enters, else the last one.
   The second case is the first seen in a mirror, and which it is cannot be foretold, so that `side`
   is multiplied instead of asked for. */
WIDE static void exchange_few(const double *restrict a, double *restrict b, int64_t L,
                              double leaves, double enters)
{
    double side = copysign(1, enters - leaves), out = side * leaves, in = side * enters;
    int64_t toward = (int64_t)side;
    for (int64_t from = 0; from < L; from += GROUP)
        for (int64_t k = 0; k < GROUP; k++) {
            double value = side * a[from + k], neighbour = side * a[from + k + toward];
            double next = neighbour < in ? neighbour : in;
            double moved = value > next ? value : next;
            b[from + k] = side * (value < out ? value : moved);
        }
}

/* How many of the sorted values are below x. */
static int64_t below(const double *sorted, int64_t count, double x)
{
    const double *from = sorted;
    while (count > 0) {
        int64_t half = count / 2;
        bool right = from[half] < x;
        from = right ? from + half + 1 : from;
        count = right ? count - half - 1 : half;
    }
    return from - sorted;
}

static void insert(double *sorted, int64_t count, double x)
{
    int64_t at = below(sorted, count, x);
    memmove(sorted + at + 1, sorted + at, (size_t)(count - at) * sizeof x);
    sorted[at] = x;
}

/* The value at `from` leaves, and x enters in front of the one at `to`. */
static void move(double *sorted, int64_t from, int64_t to, double x)
{
    if (to > from) {
        to--;
        memmove(sorted + from, sorted + from + 1, (size_t)(to - from) * sizeof x);
    } else {
        memmove(sorted + to + 1, sorted + to, (size_t)(from - to) * sizeof x);
    }
    sorted[to] = x;
}

typedef double Statistic(const double *sorted, int64_t L);

static inline __attribute__((always_inline)) int each_sorted(Frame *f, Statistic *statistic)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n;
    double *out = f->out[0];
    fill(out, L - 1, NA);
    if (L > n)
        return 0;
    double few[2][FEW_ROOM], *sorted = L <= FEW ? few[0] + GROUP : scratch(f, L);
    if (!sorted)
        return -1;
    for (int64_t i = 0; i < L; i++)
        insert(sorted, i, x[i]);
    out[L - 1] = statistic(sorted, L);
    if (L > FEW) {
        for (int64_t i = L; i < n; i++) {
            move(sorted, below(sorted, L, x[i - L]), below(sorted, L, x[i]), x[i]);
            out[i] = statistic(sorted, L);
        }
        return 0;
    }
    begin_few(few[0], L);
    begin_few(few[1], L);
    for (int64_t i = L; i < n; i++) {
        double *next = few[(i - L + 1) % 2] + GROUP;
        exchange_few(sorted, next, L, x[i - L], x[i]);
        out[i] = statistic(sorted = next, L);
    }
    return 0;
}

static inline double middle(const double *sorted, int64_t L)
{
    return bounded((sorted[(L - 1) / 2] + sorted[L / 2]) / 2);
}

/* Of equally frequent values the smallest, which comes first. */
static inline double most_frequent(const double *sorted, int64_t L)
{
    int64_t most = 0, run = 0;
    double value = NA;
    for (int64_t k = 0; k < L; k++) {
        run = k && sorted[k] == sorted[k - 1] ? run + 1 : 1;
        if (run > most)
            most = run, value = sorted[k];
    }
    return value;
}

int kernel_median(Frame *f) { return each_sorted(f, middle); }

int kernel_mode(Frame *f) { return each_sorted(f, most_frequent); }

/* ------------------------------------------------------------------------------- percentiles */

/* Pine keeps the last L bars of a percentile in L slots, na among them. At first all are na. Each
   bar one value leaves and one enters:

   - a number enters in front of the first number that is not below it, else at the end; an na
     enters at the end;
   - of the slots that are equal to the number that leaves, the last is emptied; for an na that
     leaves, the first na.

   Numbers no further apart than EPSILON are equal, so the slots need not be in strict order. The na
   in front, of bars before the first, are not stored: the first L - count slots are na, and they
   leave first. While all stored values are clearly apart or the same, they are sorted, and exchanged
   as in any sorted window. */
typedef struct {
    double *slot;
    int64_t count, L;
    bool is_sorted;
} Slots;

static inline bool is_near(double a, double b) { return (a != b) & (fabs(a - b) <= EPSILON); }

WIDE static bool any_is_near(const double *few, int64_t L, double x)
{
    int64_t near = 0;
    for (int64_t k = 0; k < (L + GROUP - 1) / GROUP * GROUP; k++)
        near |= is_near(few[k], x);
    return near;
}

/* Where the value that leaves is stored. */
static int64_t place_of(const Slots *s, double x)
{
    if (is_na(x))
        return first_na(s->slot, s->count);
    if (s->is_sorted)
        return below(s->slot, s->count, x);
    int64_t at = s->count - 1;
    while (at >= 0 && !(fabs(s->slot[at] - x) <= EPSILON))
        at--;
    for (int64_t k = s->count - 1; at < 0; k--) /* gone for its equal: the last number */
        at = is_na(s->slot[k]) ? -1 : k;
    return at;
}

/* While fewer than L are stored, one of the na in front leaves. */
static void exchange(Slots *s, const double *leaves, double enters)
{
    int64_t to = s->count;
    if (s->is_sorted && !is_na(enters)) {
        to = below(s->slot, s->count, enters);
        s->is_sorted = !(to > 0 && is_near(s->slot[to - 1], enters))
                       && !(to < s->count && is_near(s->slot[to], enters));
    } else {
        s->is_sorted = false;
    }
    int64_t from = leaves ? place_of(s, *leaves) : -1;
    if (!s->is_sorted && !is_na(enters))
        for (to = 0; to < s->count; to++)
            if (to != from && !is_na(s->slot[to]) && !(enters - s->slot[to] > EPSILON))
                break;
    if (from < 0)
        from = s->count++;
    move(s->slot, from, to, is_na(enters) ? NA : enters);
}

static double slot(const Slots *s, int64_t rank)
{
    int64_t at = rank - 1 - (s->L - s->count);
    return at < 0 ? NA : s->slot[at];
}

/* Hazen's percentile, between two slots; na where one of them is, even if it has no share. The part
   of the slots that lies below a percentile is counted in slots. */
static inline double interpolated(const Slots *s, double part)
{
    double rank = part + 0.5;
    if (rank <= 1 || rank >= (double)s->L)
        return slot(s, rank <= 1 ? 1 : s->L);
    int64_t under = (int64_t)rank;
    double share = rank - (double)under;
    return slot(s, under) * (1 - share) + slot(s, under + 1) * share;
}

static inline double nearest(const Slots *s, double part)
{
    double rank = ceil(part);
    return slot(s, rank < 1 ? 1 : rank < (double)s->L ? (int64_t)rank : s->L);
}

static inline __attribute__((always_inline)) int
percentiles(Frame *f, double (*percentile)(const Slots *, double))
{
    const double *x = series(f, 0);
    int64_t n = f->n, first = 0;
    Slots s = {.L = integer(f, 1), .is_sorted = true};
    double *out = f->out[0], part = (double)s.L * factor(f, 2) / 100;
    while (first < n && is_na(x[first]))
        first++;
    fill(out, s.L < 1 ? n : first, NA);
    if (s.L < 1)
        return 0;
    double few[2][FEW_ROOM];
    s.slot = s.L <= FEW ? few[0] + GROUP : scratch(f, (s.L < n ? s.L : n) + 1);
    if (!s.slot)
        return -1;
    for (int k = 0; k < 2 && s.L <= FEW; k++)
        begin_few(few[k], s.L);
    for (int64_t i = first; i < n; i++) {
        const double *leaves = i - s.L < first ? NULL : &x[i - s.L];
        double enters = x[i];
        bool is_full = s.is_sorted && s.count == s.L && s.L <= FEW;
        if (is_full && !is_na(enters) && !any_is_near(s.slot, s.L, enters)) {
            double *next = s.slot == few[0] + GROUP ? few[1] + GROUP : few[0] + GROUP;
            exchange_few(s.slot, next, s.L, *leaves, enters);
            s.slot = next;
        } else {
            exchange(&s, leaves, enters);
        }
        out[i] = i < s.L - 1 ? NA : percentile(&s, part);
    }
    return 0;
}

int kernel_percentile_linear_interpolation(Frame *f) { return percentiles(f, interpolated); }

int kernel_percentile_nearest_rank(Frame *f) { return percentiles(f, nearest); }

WIDE static void rank_among_before(const double *x, double *out, int64_t n, int64_t L)
{
    const Four one = {1, 1, 1, 1};
    if (n - L >= LANES)
        FOR_EACH_LANES (i, L, n) {
            Four count[LANES / 4] = {{0}}, value[LANES / 4];
            for (int v = 0; v < LANES / 4; v++)
                value[v] = FOUR_AT(x + i + 4 * v);
            for (int64_t k = 1; k <= L; k++)
                for (int v = 0; v < LANES / 4; v++) {
                    FourIntegers counts = FOUR_AT(x + i + 4 * v - k) - value[v] <= EPSILON;
                    count[v] += (Four)(counts & (FourIntegers)one);
                }
            for (int v = 0; v < LANES / 4; v++)
                FOUR_AT(out + i + 4 * v) = count[v];
        }
    else
        for (int64_t i = L; i < n; i++) {
            out[i] = 0;
            for (int64_t k = 1; k <= L; k++)
                out[i] += x[i - k] - x[i] <= EPSILON ? 1 : 0;
        }
    for (int64_t i = L; i < n; i++)
        out[i] = is_na(x[i]) ? NA : 100 * out[i] / (double)L;
}

/* An na before counts as above the value, whatever it is. */
int kernel_percentrank(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n;
    fill(f->out[0], L < n ? L : n, NA);
    if (first_na(x, n) < n) { /* without infinities, which compare */
        double *finite = scratch(f, n);
        if (!finite)
            return -1;
        for (int64_t i = 0; i < n; i++)
            finite[i] = is_na(x[i]) ? NA : x[i];
        x = finite;
    }
    rank_among_before(x, f->out[0], n, L);
    return 0;
}
