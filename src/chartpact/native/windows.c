/* Sums and averages over a moving window.

   A running sum drifts, and one huge value leaves its rounding error in every sum after it. So the
   series is cut into blocks of L bars. Every window of L is then the tail of one block and the head
   of the next; tails are summed walking back, heads walking forward, and a window's sum is made of
   its own values only. Two additions a bar, no drift (van Herk's scheme for maxima).

   Where the result is an average, distances from a pivot are summed: the last bar of the block,
   which belongs to every window that begins in the block. Flat prices then give exactly the price,
   and variances lose nothing to cancellation, since no member of a window of L lies further than
   sqrt(L - 1) standard deviations from its mean. */
#include "kernels.h"

/* A block's windows begin at its bars and end at last .. end - 1. The tail from j serves the window
   that ends at j + L - 1; in the last block the shortest tails serve none. */
#define FOR_EACH_BLOCK(last, end, n, L)                                                            \
    for (int64_t last = (L) - 1, end; end = last + (L) < (n) ? last + (L) : (n), last < (n);       \
         last += (L))

void window_sum(const double *x, double *out, int64_t n, int64_t L)
{
    FOR_EACH_BLOCK (last, end, n, L) {
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

/* Short windows and windows of fixed weights are summed outright, out = x + Σ w[k] (x[-k] - x) / total
   with the newest bar for a pivot: a stretch of bars at a time, one k after the other over all of
   them, which is a loop of independent bars. */
#define STRETCH 128

WIDE static void weighted_mean(const double *x, double *out, int64_t n, int64_t L, const double *w,
                               double total)
{
    for (int64_t i = L - 1; i < n; i += STRETCH) {
        int64_t m = n - i < STRETCH ? n - i : STRETCH;
        double sum[STRETCH] = {0};
        for (int64_t k = 1; k < L; k++)
            for (int64_t j = i; j < i + m; j++)
                sum[j - i] += w[k] * (x[j - k] - x[j]);
        for (int64_t j = i; j < i + m; j++)
            out[j] = x[j] + sum[j - i] / total;
    }
}

#define SHORT 8

void window_mean(const double *x, double *out, int64_t n, int64_t L)
{
    if (L <= SHORT) {
        const double ones[SHORT] = {1, 1, 1, 1, 1, 1, 1, 1};
        weighted_mean(x, out, n, L, ones, (double)L);
        return;
    }
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, head = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--)
            tail += x[j] - pivot;
        for (; j > last - L; j--)
            out[j + L - 1] = tail += x[j] - pivot;
        for (int64_t i = last + 1; i < end; i++)
            out[i] += head += x[i] - pivot;
        for (int64_t i = last; i < end; i++)
            out[i] = pivot + out[i] / (double)L;
    }
}

int kernel_sum(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L - 1, NA);
    window_sum(series(f, 0), f->out[0], f->n, L);
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
each_line(const double *x, double *out, int64_t n, int64_t L, double *sum, double offset, Line *line)
{
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, tail_w = 0, head = 0, head_w = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--)
            tail_w += tail += x[j] - pivot;
        for (; j > last - L; j--) {
            sum[j + L - 1 - last] = tail += x[j] - pivot;
            out[j + L - 1] = tail_w += tail;
        }
        for (int64_t i = last; i < end; i++) {
            double place = (double)(i - last), d = x[i] - pivot;
            head += d;
            head_w += place * d;
            double weighted = out[i] + (head_w + ((double)L - place) * head);
            out[i] = line(pivot, sum[i - last] + head, weighted, (double)L, offset);
        }
    }
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

int kernel_linreg(Frame *f)
{
    int64_t L = length(f, 1);
    double *sum = scratch(f, L);
    if (!sum)
        return -1;
    fill(f->out[0], L - 1, NA);
    each_line(series(f, 0), f->out[0], f->n, L, sum, (double)integer(f, 2), regression);
    return 0;
}

int kernel_cog(Frame *f)
{
    int64_t L = length(f, 1);
    double *sum = scratch(f, L);
    if (!sum)
        return -1;
    fill(f->out[0], L - 1, NA);
    each_line(series(f, 0), f->out[0], f->n, L, sum, 0, centre_of_gravity);
    return 0;
}

static void wma(const double *x, double *out, int64_t n, int64_t L, double *sum)
{
    if (L > SHORT) {
        each_line(x, out, n, L, sum, 0, weighted_average);
        return;
    }
    double weights[SHORT];
    for (int64_t k = 0; k < L; k++)
        weights[k] = (double)(L - k);
    weighted_mean(x, out, n, L, weights, (double)(L * (L + 1) / 2));
}

/* Pine fills an na in the window with the value before it, but the bar itself is na, and so is
   every bar before the L-th value. */
int kernel_wma(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), n = f->n, first = 0, missing = 0;
    double *out = f->out[0];
    while (first < n && is_na(x[first]))
        first++;
    for (int64_t i = first; i < n; i++)
        missing += is_na(x[i]);
    fill(out, first + L - 1 < n ? first + L - 1 : n, NA);
    double *sum = scratch(f, L + (missing ? n : 0)), *filled = sum + L;
    if (!sum)
        return -1;
    if (!missing) {
        wma(x + first, out + first, n - first, L, sum);
        return 0;
    }
    for (int64_t i = first; i < n; i++)
        filled[i] = is_na(x[i]) ? filled[i - 1] : x[i];
    wma(filled + first, out + first, n - first, L, sum);
    for (int64_t i = first, seen = 0; i < n; i++) {
        seen += !is_na(x[i]);
        if (is_na(x[i]) || seen < L)
            out[i] = NA;
    }
    return 0;
}

/* --------------------------------------------------------------------------- fixed weights */

int kernel_swma(Frame *f)
{
    static const double weights[] = {1, 2, 2, 1};
    fill(f->out[0], f->n < 3 ? f->n : 3, NA);
    weighted_mean(series(f, 0), f->out[0], f->n, 4, weights, 6);
    return 0;
}

int kernel_alma(Frame *f)
{
    int64_t L = length(f, 1);
    double centre = factor(f, 2) * (double)(L - 1), width = (double)L / factor(f, 3);
    fill(f->out[0], L - 1, NA);
    if (L > f->n)
        return 0;
    double *weights = scratch(f, L), total = 0;
    if (!weights)
        return -1;
    for (int64_t k = 0; k < L; k++) {
        double away = (double)(L - 1 - k) - centre;
        total += weights[k] = exp(-(away * away) / (2 * width * width));
    }
    weighted_mean(series(f, 0), f->out[0], f->n, L, weights, total);
    return 0;
}

/* ------------------------------------------------------------------------------ deviations */

/* L² times the variance of every window, from the sums of the distances and of their squares, and
   the mean, where `means` is not NULL. */
static int window_spread(const double *x, double *spread, double *means, int64_t n, int64_t L,
                         Frame *f)
{
    double *squares = scratch(f, L);
    if (!squares)
        return -1;
    FOR_EACH_BLOCK (last, end, n, L) {
        double pivot = x[last], tail = 0, head = 0, tail2 = 0, head2 = 0;
        int64_t j = last;
        for (; j + L - 1 >= end; j--) {
            double d = x[j] - pivot;
            tail += d, tail2 += d * d;
        }
        for (; j > last - L; j--) {
            double d = x[j] - pivot;
            spread[j + L - 1] = tail += d;
            squares[j + L - 1 - last] = tail2 += d * d;
        }
        for (int64_t i = last + 1; i < end; i++) {
            double d = x[i] - pivot;
            spread[i] += head += d;
            squares[i - last] += head2 += d * d;
        }
        for (int64_t i = last; means && i < end; i++)
            means[i] = pivot + spread[i] / (double)L;
        for (int64_t i = last; i < end; i++) {
            double all = (double)L * squares[i - last] - spread[i] * spread[i];
            spread[i] = all < 0 ? 0 : all;
        }
    }
    return 0;
}

WIDE static void divide(double *out, int64_t n, double by)
{
    for (int64_t i = 0; i < n; i++)
        out[i] /= by;
}

WIDE static void root_and_divide(double *out, int64_t n, double by)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = sqrt(out[i]) / by;
}

/* Divided by n, or by n - 1 for the unbiased one, which a single value does not have. */
static int deviation(Frame *f, bool root)
{
    int64_t L = length(f, 1), freedom = flag(f, 2) ? L : L - 1, n = f->n;
    double *out = f->out[0], by = (double)L * (double)freedom;
    fill(out, freedom ? L - 1 : n, NA);
    if (L > n || freedom == 0)
        return 0;
    if (window_spread(series(f, 0), out, NULL, n, L, f) < 0)
        return -1;
    if (root)
        root_and_divide(out + L - 1, n - L + 1, sqrt(by));
    else
        divide(out + L - 1, n - L + 1, by);
    return 0;
}

int kernel_variance(Frame *f) { return deviation(f, false); }

int kernel_stdev(Frame *f) { return deviation(f, true); }

WIDE static void bands(const double *middle, double *upper, double *lower, int64_t n, double L,
                       double mult)
{
    for (int64_t i = 0; i < n; i++) {
        double reach = mult * (sqrt(upper[i]) / L);
        upper[i] = middle[i] + reach;
        lower[i] = middle[i] - reach;
    }
}

int kernel_bb(Frame *f)
{
    int64_t L = length(f, 1), n = f->n;
    double *middle = f->out[0], *upper = f->out[1], *lower = f->out[2];
    for (int k = 0; k < 3; k++)
        fill(f->out[k], L - 1, NA);
    if (L > n)
        return 0;
    if (window_spread(series(f, 0), upper, middle, n, L, f) < 0)
        return -1;
    bands(middle + L - 1, upper + L - 1, lower + L - 1, n - L + 1, (double)L, factor(f, 2));
    return 0;
}

/* The mean distance from the window's own mean has no shorter form than looking at every value. */
WIDE static void mean_distance(const double *x, const double *mean, double *out, int64_t n,
                               int64_t L)
{
    for (int64_t i = L - 1; i < n; i += STRETCH) {
        int64_t m = n - i < STRETCH ? n - i : STRETCH;
        double sum[STRETCH] = {0};
        for (int64_t k = 0; k < L; k++)
            for (int64_t j = i; j < i + m; j++)
                sum[j - i] += fabs(x[j - k] - mean[j]);
        for (int64_t j = i; j < i + m; j++)
            out[j] = sum[j - i] / (double)L;
    }
}

int kernel_dev(Frame *f)
{
    int64_t L = length(f, 1), n = f->n;
    double *mean = scratch(f, n);
    if (!mean)
        return -1;
    fill(f->out[0], L - 1, NA);
    window_mean(series(f, 0), mean, n, L);
    mean_distance(series(f, 0), mean, f->out[0], n, L);
    return 0;
}

WIDE static void index_of_commodity(const double *x, const double *mean, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double distance = 0.015 * out[i];
        out[i] = distance == 0 ? NA : (x[i] - mean[i]) / distance;
    }
}

int kernel_cci(Frame *f)
{
    int64_t L = length(f, 1), n = f->n;
    const double *x = series(f, 0);
    double *mean = scratch(f, n), *out = f->out[0];
    if (!mean)
        return -1;
    fill(out, L - 1, NA);
    window_mean(x, mean, n, L);
    mean_distance(x, mean, out, n, L);
    index_of_commodity(x + L - 1, mean + L - 1, out + L - 1, n - L + 1);
    return 0;
}

int kernel_correlation(Frame *f)
{
    const double *a = series(f, 0), *b = series(f, 1);
    int64_t L = length(f, 2), n = f->n;
    double *out = f->out[0], *tails = scratch(f, 5 * L);
    if (!tails)
        return -1;
    fill(out, L - 1, NA);
    FOR_EACH_BLOCK (last, end, n, L) {
        double pa = a[last], pb = b[last], s[5] = {0};
        for (int64_t j = last; j > last - L; j--) {
            double da = a[j] - pa, db = b[j] - pb;
            s[0] += da, s[1] += db, s[2] += da * da, s[3] += db * db, s[4] += da * db;
            double *tail = tails + 5 * (j + L - 1 - last);
            for (int k = 0; k < 5; k++)
                tail[k] = s[k];
        }
        double h[5] = {0};
        for (int64_t i = last; i < end; i++) {
            double da = a[i] - pa, db = b[i] - pb;
            h[0] += da, h[1] += db, h[2] += da * da, h[3] += db * db, h[4] += da * db;
            double w[5];
            for (int k = 0; k < 5; k++)
                w[k] = tails[5 * (i - last) + k] + h[k];
            double spread_a = (double)L * w[2] - w[0] * w[0];
            double spread_b = (double)L * w[3] - w[1] * w[1];
            double r = ((double)L * w[4] - w[0] * w[1]) / (sqrt(spread_a) * sqrt(spread_b));
            out[i] = !(spread_a > 0 && spread_b > 0) ? NA : r > 1 ? 1 : r < -1 ? -1 : r;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------------- ratios of sums */

WIDE static void ratio(double *out, const double *below, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = below[i] == 0 ? NA : out[i] / below[i];
}

int kernel_vwma(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    int64_t L = length(f, 2), n = f->n;
    double *flow = scratch(f, 2 * n), *total = flow + n, *out = f->out[0];
    if (!flow)
        return -1;
    for (int64_t i = 0; i < n; i++)
        flow[i] = x[i] * volume[i];
    fill(out, L - 1, NA);
    window_sum(flow, out, n, L);
    window_sum(volume, total, n, L);
    ratio(out + L - 1, total + L - 1, n - L + 1);
    return 0;
}

#define EPSILON 1e-10 /* Pine's tolerance when it asks whether a value rose or fell */

WIDE static void momentum_balance(const double *ups, const double *downs, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double all = ups[i] + downs[i];
        out[i] = all == 0 ? NA : 100 * (ups[i] - downs[i]) / all;
    }
}

int kernel_cmo(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), steps = f->n - 1;
    double *out = f->out[0];
    fill(out, L <= steps ? L : f->n, NA);
    if (L > steps)
        return 0;
    double *up = scratch(f, 4 * steps), *down = up + steps;
    double *ups = down + steps, *downs = ups + steps;
    if (!up)
        return -1;
    for (int64_t i = 0; i < steps; i++) {
        double step = x[i + 1] - x[i];
        up[i] = step < -EPSILON ? 0 : step;
        down[i] = step < -EPSILON ? -step : 0;
    }
    window_sum(up, ups, steps, L);
    window_sum(down, downs, steps, L);
    momentum_balance(ups + L - 1, downs + L - 1, out + L, steps - L + 1);
    return 0;
}

WIDE static void flow_index(const double *ins, const double *outs, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double all = 1 + ins[i] / outs[i];
        out[i] = outs[i] == 0 ? 100 : all == 0 ? NA : 100 - 100 / all;
    }
}

int kernel_mfi(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    int64_t L = length(f, 2), n = f->n;
    double *in = scratch(f, 4 * n), *out = in + n, *ins = out + n, *outs = ins + n;
    if (!in)
        return -1;
    in[0] = out[0] = x[0] * volume[0];
    for (int64_t i = 1; i < n; i++) {
        double step = x[i] - x[i - 1], flow = x[i] * volume[i];
        in[i] = step > EPSILON ? flow : 0;
        out[i] = step < -EPSILON ? flow : 0;
    }
    fill(f->out[0], L - 1, NA);
    window_sum(in, ins, n, L);
    window_sum(out, outs, n, L);
    flow_index(ins + L - 1, outs + L - 1, (double *)f->out[0] + L - 1, n - L + 1);
    return 0;
}
