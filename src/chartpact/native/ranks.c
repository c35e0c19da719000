/* Order statistics of a moving window, which is kept sorted: the value that leaves is found by
   bisection, and only the values between it and the one that enters are moved. */
#include "kernels.h"

#include <string.h>

/* How many of the sorted values are below x; a few are counted faster than bisected. */
static int64_t below(const double *sorted, int64_t count, double x)
{
    if (count <= 64) {
        int64_t under = 0;
        for (int64_t k = 0; k < count; k++)
            under += sorted[k] < x;
        return under;
    }
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

static void replace(double *sorted, int64_t count, double leaves, double enters)
{
    int64_t from = below(sorted, count, leaves), to = below(sorted, count, enters);
    if (to > from) {
        to--;
        memmove(sorted + from, sorted + from + 1, (size_t)(to - from) * sizeof leaves);
    } else {
        memmove(sorted + to + 1, sorted + to, (size_t)(from - to) * sizeof leaves);
    }
    sorted[to] = enters;
}

typedef double Statistic(const double *sorted, int64_t L, double percentage);

static inline __attribute__((always_inline)) int each_sorted(Frame *f, double percentage,
                                                             Statistic *statistic)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n;
    double *out = f->out[0];
    fill(out, L - 1, NA);
    if (L > n)
        return 0;
    double *sorted = scratch(f, L);
    if (!sorted)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        if (i < L)
            insert(sorted, i, x[i]);
        else
            replace(sorted, L, x[i - L], x[i]);
        if (i >= L - 1)
            out[i] = statistic(sorted, L, percentage);
    }
    return 0;
}

static inline double middle(const double *sorted, int64_t L, double percentage)
{
    (void)percentage;
    return (sorted[(L - 1) / 2] + sorted[L / 2]) / 2;
}

/* Of equally frequent values the smallest, which comes first. */
static inline double most_frequent(const double *sorted, int64_t L, double percentage)
{
    (void)percentage;
    int64_t most = 0, run = 0;
    double value = NA;
    for (int64_t k = 0; k < L; k++) {
        run = k && sorted[k] == sorted[k - 1] ? run + 1 : 1;
        if (run > most)
            most = run, value = sorted[k];
    }
    return value;
}

/* Hazen's percentile. */
static inline double interpolated(const double *sorted, int64_t L, double percentage)
{
    double rank = fmin(fmax((double)L * percentage / 100 + 0.5, 1), (double)L);
    int64_t under = (int64_t)rank;
    if (under == L)
        return sorted[L - 1];
    return sorted[under - 1] + (rank - (double)under) * (sorted[under] - sorted[under - 1]);
}

static inline double nearest(const double *sorted, int64_t L, double percentage)
{
    double rank = fmin(fmax(ceil((double)L * percentage / 100), 1), (double)L);
    return sorted[(int64_t)rank - 1];
}

int kernel_median(Frame *f) { return each_sorted(f, 0, middle); }

int kernel_mode(Frame *f) { return each_sorted(f, 0, most_frequent); }

int kernel_percentile_linear_interpolation(Frame *f)
{
    return each_sorted(f, factor(f, 2), interpolated);
}

int kernel_percentile_nearest_rank(Frame *f) { return each_sorted(f, factor(f, 2), nearest); }

/* One distance back after the other is taken over a whole piece of bars. */
WIDE static void rank_among_before(const double *x, double *out, int64_t n, int64_t L)
{
    for (int64_t i = L; i < n; i += PIECE) {
        int64_t m = n - i < PIECE ? n - i : PIECE;
        double count[PIECE] = {0};
        for (int64_t k = 1; k <= L; k++)
            for (int64_t j = i; j < i + m; j++)
                count[j - i] += x[j - k] <= x[j] ? 1.0 : 0.0;
        for (int64_t j = i; j < i + m; j++)
            out[j] = 100 * count[j - i] / (double)L;
    }
}

int kernel_percentrank(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L < f->n ? L : f->n, NA);
    rank_among_before(series(f, 0), f->out[0], f->n, L);
    return 0;
}
