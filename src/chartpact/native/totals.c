/* Sums that run from the first bar on, and other series that only look one bar back. */
#include "kernels.h"

/* Totals so far, beginning with `total`; the last one is returned. A total waits for the one four bars
   before it, not for that of the last bar. */
static double running(const double *x, double *sum, int64_t n, double total)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        double two = x[i] + x[i + 1], three = two + x[i + 2], four = two + (x[i + 2] + x[i + 3]);
        sum[i] = total + x[i];
        sum[i + 1] = total + two;
        sum[i + 2] = total + three;
        sum[i + 3] = total += four;
    }
    double part = 0;
    for (int64_t k = i; k < n; k++)
        sum[k] = total + (part += x[k]);
    return n > i ? sum[n - 1] : total;
}

WIDE static void zeros_for_na(const double *step, double *present, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        present[i] = is_na(step[i]) ? 0 : step[i];
}

WIDE static void totals(const double *sum, const double *step, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = is_na(step[i]) ? NA : bounded(sum[i]);
}

/* Most are a running total of steps, which may lie where the totals go. A step that is na adds
   nothing; its bar is na too, or holds the total before it. */
static void add_up(const double *step, double *out, int64_t n, bool holds)
{
    double total = 0, present[PIECE], sum[PIECE];
    FOR_EACH_PIECE (from, m, n) {
        zeros_for_na(step + from, present, m);
        total = running(present, sum, m, total);
        totals(sum, holds ? present : step + from, out + from, m);
    }
}

int kernel_cum(Frame *f)
{
    add_up(series(f, 0), f->out[0], f->n, false);
    return 0;
}

WIDE static void flows(const double *high, const double *low, const double *close,
                       const double *volume, double *step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double share = ((close[i] - low[i]) - (high[i] - close[i])) / (high[i] - low[i]);
        step[i] = share * volume[i];
    }
}

int kernel_accdist(Frame *f)
{
    flows(series(f, 0), series(f, 1), series(f, 2), series(f, 3), f->out[0], f->n);
    add_up(f->out[0], f->out[0], f->n, true);
    return 0;
}

WIDE static void signed_volumes(const double *close, const double *volume, double *step, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        double v = volume[i], c = close[i], b = close[i - 1];
        double signed_volume = c > b ? v : c < b ? -v : 0;
        step[i] = is_na(c) | is_na(b) | is_na(v) ? NA : signed_volume;
    }
}

int kernel_obv(Frame *f)
{
    double *out = f->out[0];
    signed_volumes(series(f, 0), series(f, 1), out, f->n);
    out[0] = NA;
    add_up(out, out, f->n, false);
    return 0;
}

WIDE static void relative_volumes(const double *close, const double *volume, double *step,
                                  int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        double share = (close[i] - close[i - 1]) / close[i - 1] * volume[i];
        step[i] = close[i - 1] == 0 ? NA : share;
    }
}

int kernel_pvt(Frame *f)
{
    double *out = f->out[0];
    relative_volumes(series(f, 0), series(f, 1), out, f->n);
    out[0] = NA;
    add_up(out, out, f->n, false);
    return 0;
}

/* What a bar adds: from the nearer of its low and the close before up to an up close, or from the
   farther of its high and the close before down to a down close. */
WIDE static void accumulations(const double *high, const double *low, const double *close,
                               double *step, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        double c = close[i], b = close[i - 1];
        double up = is_na(low[i]) ? NA : c - (low[i] < b ? low[i] : b);
        double down = is_na(high[i]) ? NA : c - (high[i] > b ? high[i] : b);
        step[i] = c > b ? up : c < b ? down : 0;
    }
}

int kernel_wad(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    double *out = f->out[0];
    accumulations(high, low, close, out, f->n);
    out[0] = 0;
    add_up(out, out, f->n, true);
    return 0;
}

/* The close over the close before on bars with more (sign 1) or less (sign -1) volume than the bar
   before, 1 on other bars, around a zero close and around an na. */
WIDE static void growths(const double *close, const double *volume, double sign, double *growth,
                         int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        double c = close[i], b = close[i - 1], v = volume[i];
        double step = (c - b) / b, w = volume[i - 1];
        bool absent = is_na(v) | is_na(w) | is_na(step);
        growth[i] = !absent & (sign * v > sign * w) & (c != 0) & (b != 0) ? 1 + step : 1;
    }
}

static int volume_index(Frame *f, double sign)
{
    const double *close = series(f, 0), *volume = series(f, 1);
    double *out = f->out[0], value = 1;
    growths(close, volume, sign, out, f->n);
    out[0] = 1;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = bounded(value *= out[i]);
    return 0;
}

int kernel_pvi(Frame *f) { return volume_index(f, 1); }

int kernel_nvi(Frame *f) { return volume_index(f, -1); }

WIDE static void products(const double *a, const double *b, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = a[i] * b[i];
}

WIDE static void ratios(const double *above, const double *below, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded(above[i] / below[i]);
}

/* From the first bar on. An na price or volume makes the sums na for good. */
int kernel_vwap(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    double flow[PIECE], flows[PIECE], weights[PIECE], weight = 0, total = 0;
    FOR_EACH_PIECE (from, m, f->n) {
        products(x + from, volume + from, flow, m);
        total = running(flow, flows, m, total);
        weight = running(volume + from, weights, m, weight);
        ratios(flows, weights, (double *)f->out[0] + from, m);
    }
    return 0;
}

/* From each anchor on: an na price or volume makes the sums na until the next. */
int kernel_vwap_anchored(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    const bool *anchor = flags(f, 2);
    double flows[PIECE], weights[PIECE], weight = NA, total = NA;
    FOR_EACH_PIECE (from, m, f->n) {
        for (int64_t i = 0; i < m; i++) {
            if (anchor[from + i])
                weight = total = 0;
            weights[i] = weight += volume[from + i];
            flows[i] = total += x[from + i] * volume[from + i];
        }
        ratios(flows, weights, (double *)f->out[0] + from, m);
    }
    return 0;
}

/* Running sums since the anchor: of volume, of price times volume, and of the price's distance from
   a pivot, once and squared. The pivot is the first price that had volume; measured from there, the
   spread is not lost in the difference of two large sums. An na price or volume makes the sums na,
   until the next anchor. */
WIDE static void prices_and_bands(const double *weight, const double *flow, const double *moment,
                                  const double *moment2, double mult, double *restrict middle,
                                  double *restrict upper, double *restrict lower, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double w = weight[i], mean = flow[i] / w;
        double spread = (moment2[i] - moment[i] * moment[i] / w) / w;
        double reach = mult * sqrt(spread < 0 ? 0 : spread);
        middle[i] = mean = w == 0 ? NA : bounded(mean);
        upper[i] = bounded(mean + reach);
        lower[i] = bounded(mean - reach);
    }
}

int kernel_vwap_bands(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    const bool *anchor = flags(f, 2);
    double *middle = f->out[0], *upper = f->out[1], *lower = f->out[2];
    double weight[PIECE], flow[PIECE], moment[PIECE], moment2[PIECE];
    double w = NA, xw = NA, dw = NA, ddw = NA, pivot = NA;
    FOR_EACH_PIECE (from, m, f->n) {
        for (int64_t i = 0; i < m; i++) {
            double price = x[from + i], v = volume[from + i];
            if (anchor[from + i])
                w = xw = dw = ddw = 0;
            if (w == 0 && dw == 0 && ddw == 0)
                pivot = price;
            double d = price - pivot;
            weight[i] = w += v;
            flow[i] = xw += price * v;
            moment[i] = dw += d * v;
            moment2[i] = ddw += d * d * v;
        }
        prices_and_bands(weight, flow, moment, moment2, factor(f, 3), middle + from, upper + from,
                         lower + from, m);
    }
    return 0;
}
