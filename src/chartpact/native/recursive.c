/* Series whose value depends on the one before: exponential averages and what is built on them. */
#include "kernels.h"

#include <string.h>

Average exponential(int64_t length)
{
    return (Average){.length = length, .alpha = 2.0 / ((double)length + 1.0)};
}

Average wilder(int64_t length)
{
    return (Average){.length = length, .alpha = 1.0 / (double)length};
}

#define BLOCK 32

/* y[i] = y[i-1] + a (x[i] - y[i-1]) is a chain: each bar waits for the multiplication and addition
   of the last. Four steps written out, with b = 1 - a,

     y[i+4] = b⁴ y[i] + a (x[i+4] + b x[i+3] + b² x[i+2] + b³ x[i+1]),

   leave one multiplication and addition in the chain; the bracket waits for nothing. Each four are
   measured from their first value (c is the average so far, thus measured), so that a flat series
   stays exactly flat and one that falls to zero keeps its precision. A value is made of earlier
   bars alone, by the same operations however many bars follow. */
static double average_block(const double *x, double *y, double a, double value)
{
    double b = 1 - a, b2 = b * b, b3 = b2 * b, b4 = b2 * b2;
    double c = value - x[0];
    for (int k = 0; k < BLOCK; k += 4) {
        double base = x[k];
        double d1 = a * (x[k + 1] - base), d2 = a * (x[k + 2] - base), d3 = a * (x[k + 3] - base);
        double s2 = d2 + b * d1, s3 = d3 + b * d2 + b2 * d1;
        y[k] = base + b * c;
        y[k + 1] = base + (d1 + b2 * c);
        y[k + 2] = base + (s2 + b3 * c);
        y[k + 3] = base + (s3 + b4 * c);
        if (k + 4 < BLOCK)
            c = b4 * c + (s3 + (base - x[k + 4]));
    }
    return y[BLOCK - 1];
}

/* One value, exactly as Pine takes it. The seed is the mean of the first `length` values. */
static inline double add(Average *s, double x)
{
    if (s->seen == s->length)
        return s->value = s->length == 1 ? x : s->value + s->alpha * (x - s->value);
    if (s->seen++ == 0)
        s->pivot = x;
    s->seed += x - s->pivot;
    s->value = s->pivot + s->seed / (double)s->length;
    return s->seen == s->length ? s->value : NA;
}

void average(Average *s, const double *x, double *y, int64_t n)
{
    int64_t i = 0;
    for (; i < n && (s->seen < s->length || s->length == 1); i++)
        y[i] = is_na(x[i]) ? NA : add(s, x[i]);
    for (; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        double last;
        if (m == BLOCK) {
            last = average_block(x + i, y + i, s->alpha, s->value);
        } else {
            double padded[BLOCK] = {0}, averaged[BLOCK];
            memcpy(padded, x + i, (size_t)m * sizeof *x);
            average_block(padded, averaged, s->alpha, s->value);
            memcpy(y + i, averaged, (size_t)m * sizeof *y);
            last = y[i + m - 1];
        }
        if (isfinite(last)) {
            s->value = last;
            continue;
        }
        /* An na or an infinity came by. The values before it stand; from there, bar by bar. */
        int64_t k = 0;
        for (; k < m && isfinite(y[i + k]); k++)
            s->value = y[i + k];
        for (; k < m; k++)
            y[i + k] = is_na(x[i + k]) ? NA : add(s, x[i + k]);
    }
}

int kernel_ema(Frame *f)
{
    Average s = exponential(length(f, 1));
    average(&s, series(f, 0), f->out[0], f->n);
    return 0;
}

int kernel_rma(Frame *f)
{
    Average s = wilder(length(f, 1));
    average(&s, series(f, 0), f->out[0], f->n);
    return 0;
}

WIDE static void strength(const double *up, const double *down, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = down[i] == 0 ? 100 : 100 * up[i] / (up[i] + down[i]);
}

int kernel_rsi(Frame *f)
{
    const double *x = series(f, 0);
    double *out = f->out[0];
    Average ups = wilder(length(f, 1)), downs = ups;
    double up[PIECE], down[PIECE], mean_up[PIECE], mean_down[PIECE];
    out[0] = NA;
    FOR_EACH_PIECE (from, m, f->n - 1) {
        for (int64_t i = 0; i < m; i++) {
            double step = x[from + i + 1] - x[from + i];
            up[i] = step > 0 ? step : 0;
            down[i] = step < 0 ? -step : 0;
        }
        average(&ups, up, mean_up, m);
        average(&downs, down, mean_down, m);
        strength(mean_up, mean_down, out + from + 1, m);
    }
    return 0;
}

/* The line is a small difference of two large averages, where a re-ordered sum would show; so the
   three chains are taken bar by bar in Pine's order, and run side by side. */
int kernel_macd(Frame *f)
{
    const double *x = series(f, 0);
    double *line = f->out[0], *signal = f->out[1], *histogram = f->out[2];
    Average fast = exponential(length(f, 1)), slow = exponential(length(f, 2));
    Average smooth = exponential(length(f, 3));
    int64_t i = 0;
    for (; i < f->n; i++) {
        double a = NA, b = NA;
        if (!is_na(x[i])) {
            a = add(&fast, x[i]) - add(&slow, x[i]);
            if (!is_na(a))
                b = add(&smooth, a);
        }
        line[i] = a;
        signal[i] = b;
        histogram[i] = a - b;
        if (smooth.seen == smooth.length && fast.alpha < 1 && slow.alpha < 1 && smooth.alpha < 1)
            break;
    }
    /* All three are seeded and none is of length 1: the same steps without the questions. */
    double quick = fast.value, steady = slow.value, mean = smooth.value;
    for (i++; i < f->n; i++) {
        double a = NA, b = NA;
        if (!is_na(x[i])) {
            quick += fast.alpha * (x[i] - quick);
            steady += slow.alpha * (x[i] - steady);
            a = quick - steady;
            if (!is_na(a))
                b = mean += smooth.alpha * (a - mean);
        }
        line[i] = a;
        signal[i] = b;
        histogram[i] = a - b;
    }
    return 0;
}

/* A comparison with na is false, so a bar without a close before it is left with high - low, which
   is na itself where high or low is. */
static inline double reach(double high, double low, double before)
{
    double range = high - low, up = fabs(high - before), down = fabs(low - before);
    double most = up > down ? up : down;
    return most > range ? most : range;
}

/* From bar 1 on: bar 0 has no bar before. */
WIDE static void true_range(const double *high, const double *low, const double *close,
                            bool handle_na, double *out, int64_t n)
{
    if (handle_na)
        for (int64_t i = 1; i < n; i++)
            out[i] = reach(high[i], low[i], close[i - 1]);
    else
        for (int64_t i = 1; i < n; i++)
            out[i] = is_na(close[i - 1]) ? NA : reach(high[i], low[i], close[i - 1]);
}

int kernel_tr(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1);
    bool handle_na = flag(f, 3);
    double *out = f->out[0];
    true_range(high, low, series(f, 2), handle_na, out, f->n);
    out[0] = handle_na ? high[0] - low[0] : NA;
    return 0;
}

/* Each piece is taken with the bar before it, whose range is then not used. */
static void atr(const Frame *f, int64_t length, double *out)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    Average mean = wilder(length);
    double range[PIECE + 1] = {0};
    range[1] = high[0] - low[0];
    FOR_EACH_PIECE (from, m, f->n) {
        int64_t first = from ? from - 1 : 0;
        double *own = from ? range : range + 1; /* own[0] belongs to bar `first` */
        true_range(high + first, low + first, close + first, true, own, m + from - first);
        average(&mean, range + 1, out + from, m);
    }
}

int kernel_atr(Frame *f)
{
    atr(f, length(f, 3), f->out[0]);
    return 0;
}

/* Movement of bar i against the bar before: what high gained, what low lost, and the true range;
   only the larger of the two counts. Where one of them is na, all are. */
static void movements(const Frame *f, int64_t from, int64_t m, double *plus, double *minus,
                      double *range)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    int64_t skip = from == 0; /* bar 0 has no bar before */
    if (skip)
        plus[0] = minus[0] = range[0] = NA;
    for (int64_t i = skip; i < m; i++) {
        int64_t at = from + i;
        double up = high[at] - high[at - 1], down = low[at - 1] - low[at], c = close[at - 1];
        double span = high[at] - low[at];
        double above = fabs(high[at] - c), below = fabs(low[at] - c);
        span = above > span ? above : span;
        span = below > span ? below : span;
        bool absent = is_na(up) | is_na(down) | is_na(c);
        plus[i] = absent ? NA : up - down > EPSILON && up > EPSILON ? up : 0;
        minus[i] = absent ? NA : down - up > EPSILON && down > EPSILON ? down : 0;
        range[i] = absent ? NA : span;
    }
}

WIDE static void directional(double *plus, double *minus, const double *range, double *index,
                             int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        double p = 100 * plus[i] / range[i], q = 100 * minus[i] / range[i];
        bool absent = range[i] == 0;
        plus[i] = p = absent ? NA : p;
        minus[i] = q = absent ? NA : q;
        index[i] = fabs(p - q) / (p + q == 0 ? 1 : p + q);
    }
}

int kernel_dmi(Frame *f)
{
    Average pluses = wilder(length(f, 3)), minuses = pluses, ranges = pluses;
    Average indexes = wilder(length(f, 4));
    double plus[PIECE], minus[PIECE], range[PIECE], mean_range[PIECE], index[PIECE];
    double *up = f->out[0], *down = f->out[1], *adx = f->out[2];
    FOR_EACH_PIECE (from, m, f->n) {
        movements(f, from, m, plus, minus, range);
        average(&pluses, plus, up + from, m);
        average(&minuses, minus, down + from, m);
        average(&ranges, range, mean_range, m);
        directional(up + from, down + from, mean_range, index, m);
        average(&indexes, index, adx + from, m);
        for (int64_t i = from; i < from + m; i++)
            adx[i] *= 100;
    }
    return 0;
}

/* Pine answers (0, 1) on bar 0. The trend starts down, on the first bar after it that has an atr.
   A band moves only inwards, unless the last close broke it; Pine tells the last trend by
   comparing the last line with the last upper band, also where the bands meet. */
int kernel_supertrend(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    double reach = factor(f, 3), *line = f->out[0], *direction = f->out[1];
    double upper = NA, lower = NA, last_line = NA, last_close = NA, trend = 1;
    atr(f, length(f, 4), line);
    for (int64_t i = 0; i < f->n; i++) {
        double range = line[i], middle = (high[i] + low[i]) / 2;
        if (i == 0 || is_na(middle) || is_na(close[i]) || is_na(range)) {
            line[i] = i == 0 ? 0 : NA;
            direction[i] = trend;
            continue;
        }
        double top = middle + reach * range, bottom = middle - reach * range;
        if (is_na(upper)) {
            upper = top, lower = bottom;
        } else {
            bool was_down = last_line == upper;
            upper = top < upper || last_close > upper ? top : upper;
            lower = bottom > lower || last_close < lower ? bottom : lower;
            bool flips = was_down ? close[i] > upper : close[i] < lower;
            trend = was_down == flips ? -1 : 1;
        }
        last_close = close[i];
        line[i] = last_line = trend > 0 ? upper : lower;
        direction[i] = trend;
    }
    return 0;
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* Starts on the second bar, long unless the first high was above the second. The stop never passes
   the last two lows (highs when short); a reversal restarts it from the extreme, held outside the
   current bar too. Pine takes the close and does not look at it. */
int kernel_sar(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1);
    double start = factor(f, 3), step = factor(f, 4), limit = factor(f, 5), speed = start;
    double *out = f->out[0], stop = NA, extreme = NA;
    double high1 = NA, low1 = NA, high2 = NA, low2 = NA; /* one and two bars ago */
    bool is_long = true;
    int64_t seen = 0;
    for (int64_t i = 0; i < f->n; i++) {
        double h = high[i], l = low[i];
        out[i] = NA;
        if (is_na(h) || is_na(l))
            continue;
        if (seen == 1) {
            is_long = !(high1 > h);
            stop = is_long ? low1 : high1;
            extreme = is_long ? h : l;
        } else if (seen > 1) {
            double floor = least(low1, low2), ceiling = most(high1, high2);
            stop += speed * (extreme - stop);
            if (is_long ? l <= stop : h >= stop) {
                is_long = !is_long;
                speed = start;
                stop = is_long ? least(least(extreme, l), floor) : most(most(extreme, h), ceiling);
                extreme = is_long ? h : l;
            } else {
                stop = is_long ? least(stop, floor) : most(stop, ceiling);
                if (is_long ? h > extreme : l < extreme) {
                    extreme = is_long ? h : l;
                    speed = least(speed + step, limit);
                }
            }
        }
        out[i] = stop;
        high2 = high1, low2 = low1, high1 = h, low1 = l;
        seen++;
    }
    return 0;
}
