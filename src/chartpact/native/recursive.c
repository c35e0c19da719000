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

/* Two averages side by side: the processor works on both at once. */
typedef double Pair __attribute__((vector_size(16)));

/* y[i] = y[i-1] + a (x[i] - y[i-1]) is a chain: each bar waits for the multiplication and addition
   of the last. Four steps written out, with b = 1 - a,

     y[i+4] = b⁴ y[i] + a (x[i+4] + b x[i+3] + b² x[i+2] + b³ x[i+1]),

   leave one multiplication and addition in the chain; the bracket waits for nothing. Each four are
   measured from their first value (c is the average so far, thus measured), so that a flat series
   stays exactly flat and one that falls to zero keeps its precision. A value is made of earlier
   bars alone, by the same operations however many bars follow.

   This is written once for series of doubles and of pairs. STORE(k, base, distance) keeps what is
   wanted of bar k, whose average is base + distance. */
#define AVERAGE_BLOCK(name, In, Value, Out, STORE)                                                 \
    static inline Value name(const In *x, Out *y, Value a, Value value)                            \
    {                                                                                              \
        Value b = 1 - a, b2 = b * b, b3 = b2 * b, b4 = b2 * b2, c = value - x[0];                  \
        for (int k = 0;; k += 4) {                                                                 \
            In base = x[k];                                                                        \
            Value d1 = a * (x[k + 1] - base), d2 = a * (x[k + 2] - base);                          \
            Value d3 = a * (x[k + 3] - base), s2 = d2 + b * d1, s3 = d3 + b * s2;                  \
            STORE(k, base, b * c);                                                                 \
            STORE(k + 1, base, (d1 + b2 * c));                                                     \
            STORE(k + 2, base, (s2 + b3 * c));                                                     \
            STORE(k + 3, base, (s3 + b4 * c));                                                     \
            if (k + 4 == BLOCK)                                                                    \
                return base + (s3 + b4 * c);                                                       \
            c = b4 * c + (s3 + (base - x[k + 4]));                                                 \
        }                                                                                          \
    }

#define KEEP_AVERAGE(k, base, distance) y[k] = (base) + (distance)
AVERAGE_BLOCK(average_block, double, double, double, KEEP_AVERAGE)
AVERAGE_BLOCK(average_block_of_two, double, Pair, Pair, KEEP_AVERAGE)

/* The same for steps, which are small beside what they are steps of: measured from zero. */
static inline Pair average_block_of_steps(const Pair *x, Pair *y, Pair a, Pair value)
{
    Pair b = 1 - a, b2 = b * b, b3 = b2 * b, b4 = b2 * b2;
    for (int k = 0; k < BLOCK; k += 4) {
        Pair s0 = a * x[k], s1 = a * x[k + 1] + b * s0, s2 = a * x[k + 2] + b * s1;
        Pair s3 = a * x[k + 3] + b * s2;
        y[k] = s0 + b * value;
        y[k + 1] = s1 + b2 * value;
        y[k + 2] = s2 + b3 * value;
        y[k + 3] = value = s3 + b4 * value;
    }
    return value;
}

/* Two averages of one series, and how far the first is above the second. Their distances from the
   series are subtracted, not they themselves, which are large and nearly equal. */
#define KEEP_DIFFERENCE(k, base, distance) y[k] = (distance)[0] - (distance)[1]
AVERAGE_BLOCK(difference_block, double, Pair, double, KEEP_DIFFERENCE)

/* One value, exactly as Pine takes it. The seed is the mean of the first `length` values. A step
   beyond the range of a double is na and not taken. */
static inline double add(Average *s, double x)
{
    if (s->seen == s->length) {
        double next = s->length == 1 ? x : s->value + s->alpha * (x - s->value);
        return is_na(next) ? NA : (s->value = next);
    }
    if (s->seen++ == 0)
        s->pivot = x;
    s->seed += x - s->pivot;
    s->value = s->pivot + s->seed / (double)s->length;
    return s->seen == s->length ? bounded(s->value) : NA;
}

static inline double add_if_present(Average *s, double x) { return is_na(x) ? NA : add(s, x); }

/* Seeded, and not of length 1, where each average is the value itself. */
static inline bool is_running(const Average *s) { return s->seen == s->length && s->length > 1; }

/* An na or an infinity came by in a block of m bars, whose values lie `apart`. The averages before
   it stand; from there on they are taken bar by bar. */
static void mend(Average *s, const double *x, double *y, int64_t m, int64_t apart)
{
    int64_t k = 0;
    for (; k < m && isfinite(y[k * apart]); k++)
        s->value = y[k * apart];
    for (; k < m; k++)
        y[k * apart] = add_if_present(s, x[k * apart]);
}

WIDE void average(Average *s, const double *x, double *y, int64_t n)
{
    int64_t i = 0;
    for (; i < n && !is_running(s); i++)
        y[i] = add_if_present(s, x[i]);
    double value = s->value;
    for (; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        double last;
        if (m == BLOCK) {
            last = average_block(x + i, y + i, s->alpha, value);
        } else {
            double padded[BLOCK] = {0}, averaged[BLOCK];
            memcpy(padded, x + i, (size_t)m * sizeof *x);
            average_block(padded, averaged, s->alpha, value);
            memcpy(y + i, averaged, (size_t)m * sizeof *y);
            last = y[i + m - 1];
        }
        if (isfinite(last)) {
            value = last;
        } else {
            s->value = value;
            mend(s, x + i, y + i, m, 1);
            value = s->value;
        }
    }
    s->value = value;
}

static inline bool are_finite(Pair pair) { return isfinite(pair[0]) && isfinite(pair[1]); }

WIDE static void average_steps(Average s[2], const Pair *x, Pair *y, int64_t n)
{
    int64_t i = 0;
    for (; i < n && !(is_running(&s[0]) && is_running(&s[1])); i++)
        y[i] = (Pair){add_if_present(&s[0], x[i][0]), add_if_present(&s[1], x[i][1])};
    const Pair alpha = {s[0].alpha, s[1].alpha};
    Pair value = {s[0].value, s[1].value};
    for (; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        Pair last;
        if (m == BLOCK) {
            last = average_block_of_steps(x + i, y + i, alpha, value);
        } else {
            Pair padded[BLOCK] = {{0}}, averaged[BLOCK];
            memcpy(padded, x + i, (size_t)m * sizeof *x);
            average_block_of_steps(padded, averaged, alpha, value);
            memcpy(y + i, averaged, (size_t)m * sizeof *y);
            last = y[i + m - 1];
        }
        if (are_finite(last)) {
            value = last;
            continue;
        }
        for (int k = 0; k < 2; k++) {
            s[k].value = value[k];
            mend(&s[k], (const double *)(x + i) + k, (double *)(y + i) + k, m, 2);
        }
        value = (Pair){s[0].value, s[1].value};
    }
    s[0].value = value[0], s[1].value = value[1];
}

/* How far the average s[0] of a series is above s[1]. */
WIDE static void differences(Average s[2], const double *x, double *y, int64_t n)
{
    int64_t i = 0;
    for (; i < n && !(is_running(&s[0]) && is_running(&s[1])); i++)
        y[i] = add_if_present(&s[0], x[i]) - add_if_present(&s[1], x[i]);
    const Pair alpha = {s[0].alpha, s[1].alpha};
    Pair value = {s[0].value, s[1].value};
    for (; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK, whole = 0;
        if (m == BLOCK) {
            Pair last = difference_block(x + i, y + i, alpha, value);
            if (are_finite(last)) {
                value = last;
                continue;
            }
        }
        /* In the last block, and in one with an na, the averages themselves are needed too. */
        double padded[BLOCK] = {0}, apart[BLOCK];
        Pair both[BLOCK] = {{0}}, averaged[BLOCK];
        memcpy(padded, x + i, (size_t)m * sizeof *x);
        for (int64_t k = 0; k < m; k++)
            both[k] = (Pair){padded[k], padded[k]};
        difference_block(padded, apart, alpha, value);
        average_block_of_two(padded, averaged, alpha, value);
        while (whole < m && are_finite(averaged[whole]))
            whole++;
        for (int k = 0; k < 2; k++) {
            s[k].value = value[k];
            mend(&s[k], (const double *)both + k, (double *)averaged + k, m, 2);
        }
        for (int64_t k = 0; k < m; k++)
            y[i + k] = k < whole ? apart[k] : averaged[k][0] - averaged[k][1];
        value = (Pair){s[0].value, s[1].value};
    }
    s[0].value = value[0], s[1].value = value[1];
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

WIDE static void strength(const Pair *means, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double up = means[i][0], down = means[i][1], share = 100 * up / (up + down);
        out[i] = down <= EPSILON ? 100 : up <= EPSILON ? 0 : bounded(share);
    }
}

WIDE static void ups_and_downs(const double *x, const double *before, Pair *moves, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double half = (x[i] - before[i]) / 2;
        moves[i] = (Pair){fabs(half) + half, fabs(half) - half};
    }
}

int kernel_rsi(Frame *f)
{
    const double *x = series(f, 0);
    double *out = f->out[0];
    Average averages[2] = {wilder(length(f, 1)), wilder(length(f, 1))};
    Pair moves[PIECE], means[PIECE]; /* up and down */
    out[0] = NA;
    FOR_EACH_PIECE (from, m, f->n - 1) {
        ups_and_downs(x + from + 1, x + from, moves, m);
        average_steps(averages, moves, means, m);
        strength(means, out + from + 1, m);
    }
    return 0;
}

WIDE static void quotients(const Pair *pairs, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded(pairs[i][0] / pairs[i][1]);
}

WIDE static void steps_and_sizes(const double *x, const double *before, Pair *steps, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double step = x[i] - before[i];
        steps[i] = (Pair){step, fabs(step)};
    }
}

/* Steps and their sizes, averaged twice. */
int kernel_tsi(Frame *f)
{
    const double *x = series(f, 0);
    Average once[2] = {exponential(length(f, 2)), exponential(length(f, 2))};
    Average twice[2] = {exponential(length(f, 1)), exponential(length(f, 1))};
    Pair steps[PIECE], means[PIECE];
    FOR_EACH_PIECE (from, m, f->n) {
        int64_t skip = from == 0; /* bar 0 has no bar before */
        steps[0] = (Pair){NA, NA};
        steps_and_sizes(x + from + skip, x + from + skip - 1, steps + skip, m - skip);
        average_steps(once, steps, means, m);
        average_steps(twice, means, steps, m);
        quotients(steps, (double *)f->out[0] + from, m);
    }
    return 0;
}

int kernel_macd(Frame *f)
{
    const double *x = series(f, 0);
    double *line = f->out[0], *signal = f->out[1], *histogram = f->out[2];
    Average averages[2] = {exponential(length(f, 1)), exponential(length(f, 2))};
    Average smooth = exponential(length(f, 3));
    FOR_EACH_PIECE (from, m, f->n) {
        differences(averages, x + from, line + from, m);
        average(&smooth, line + from, signal + from, m);
        for (int64_t i = from; i < from + m; i++)
            histogram[i] = bounded(line[i] - signal[i]);
    }
    return 0;
}

/* A comparison with na is false, so a bar without a close before it is left with high - low, which
   is na itself where high or low is. */
static inline double reach(double high, double low, double before)
{
    double range = high - low, up = fabs(high - before), down = fabs(low - before);
    double most = up > down ? up : down;
    return bounded(most > range ? most : range);
}

/* From bar 1 on: bar 0 has no bar before. */
WIDE static void true_range(const double *high, const double *low, const double *close,
                            bool handle_na, double *out, int64_t n)
{
    if (handle_na)
        for (int64_t i = 1; i < n; i++)
            out[i] = reach(high[i], low[i], bounded(close[i - 1]));
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
    out[0] = handle_na ? bounded(high[0] - low[0]) : NA;
    return 0;
}

/* The true ranges of m bars, in range[1] and on: they are taken together with the bar before, to
   which range[0] belongs. */
static void true_ranges(const double *high, const double *low, const double *close, bool handle_na,
                        int64_t from, int64_t m, double range[PIECE + 1])
{
    int64_t before = from ? from - 1 : 0;
    if (from == 0)
        range[1] = handle_na ? high[0] - low[0] : NA;
    true_range(high + before, low + before, close + before, handle_na, from ? range : range + 1,
               m + from - before);
}

static void atr(const Frame *f, int64_t length, double *out)
{
    Average mean = wilder(length);
    double range[PIECE + 1];
    FOR_EACH_PIECE (from, m, f->n) {
        true_ranges(series(f, 0), series(f, 1), series(f, 2), true, from, m, range);
        average(&mean, range + 1, out + from, m);
    }
}

int kernel_atr(Frame *f)
{
    atr(f, length(f, 3), f->out[0]);
    return 0;
}

WIDE static void channel(const double *middle, const double *reach, double mult,
                         double *restrict upper, double *restrict lower, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double away = mult * reach[i];
        upper[i] = bounded(middle[i] + away);
        lower[i] = bounded(middle[i] - away);
    }
}

int kernel_kc(Frame *f)
{
    double *middle = f->out[0], *upper = f->out[1], *lower = f->out[2];
    Average mean = exponential(length(f, 4)), mean_range = mean;
    const double *high = series(f, 1), *low = series(f, 2);
    double range[PIECE + 1], reach[PIECE];
    FOR_EACH_PIECE (from, m, f->n) {
        if (flag(f, 6))
            true_ranges(high, low, series(f, 3), false, from, m, range);
        else
            for (int64_t i = 0; i < m; i++)
                range[i + 1] = high[from + i] - low[from + i];
        average(&mean, series(f, 0) + from, middle + from, m);
        average(&mean_range, range + 1, reach, m);
        channel(middle + from, reach, factor(f, 5), upper + from, lower + from, m);
    }
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
        bool absent = is_na(up + down + c + span);
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
        bool absent = is_na(p) | is_na(q);
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
            adx[i] = bounded(100 * adx[i]);
    }
    return 0;
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* The bands a bar would have by itself; `range` becomes the lower one. */
WIDE static void bands_of_bars(const double *high, const double *low, const double *close,
                               double reach, double *upper, double *range, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double middle = (high[i] + low[i]) / 2, away = reach * range[i];
        double top = middle + away, bottom = middle - away;
        range[i] = bottom;
        upper[i] = is_na(close[i]) | is_na(bottom) ? NA : bounded(top);
    }
}

/* Pine answers (0, 1) on bar 0. The trend starts down, on the first bar after it that has an atr.
   A band moves only inwards, unless the last close broke it; Pine tells the last trend by
   comparing the last line with the last upper band, also where the bands meet. */
int kernel_supertrend(Frame *f)
{
    const double *close = series(f, 2);
    double *line = f->out[0], *direction = f->out[1];
    atr(f, length(f, 4), line);
    bands_of_bars(series(f, 0), series(f, 1), close, factor(f, 3), direction, line, f->n);
    line[0] = 0, direction[0] = 1;
    int64_t i = 1;
    for (; i < f->n && is_na(direction[i]); i++)
        line[i] = NA, direction[i] = 1;
    if (i == f->n)
        return 0;
    double upper = direction[i], lower = line[i], last_close = close[i];
    double last_line = upper, trend = 1;
    line[i] = upper, direction[i] = trend;
    for (i++; i < f->n; i++) {
        double top = direction[i], bottom = line[i];
        if (is_na(top)) {
            line[i] = NA, direction[i] = trend;
            continue;
        }
        bool was_down = last_line == upper;
        if (RARELY(last_close > upper))
            upper = INFINITY;
        if (RARELY(last_close < lower))
            lower = -INFINITY;
        upper = least(top, upper);
        lower = most(bottom, lower);
        last_close = close[i];
        if (was_down)
            trend = last_close > upper ? -1 : 1;
        else
            trend = last_close < lower ? 1 : -1;
        line[i] = last_line = trend > 0 ? upper : lower;
        direction[i] = trend;
    }
    return 0;
}

/* A bar as seen from the trend: a short trend is a long one upside down. */
typedef struct {
    double high, low;
} Bar;

static inline Bar mirrored(Bar bar) { return (Bar){-bar.low, -bar.high}; }

/* Starts on the second bar, long unless the first high was above the second. The stop never passes
   the last two lows (highs when short). A price beyond the stop, not one that touches it, reverses
   the trend: the stop restarts from the extreme, held outside the current bar too. Tells whether all
   bars were present; where `has_na` is false, they must have been.

   The stop goes the part `speed` of its distance from the extreme. The distance is carried on from bar
   to bar, not taken anew of the stop, which would have to wait for it. */
typedef struct {
    double start, step, limit, stop, extreme, distance, odd;
    Bar last, last2; /* one and two bars ago, as seen from the trend */
} Trail;

/* From bar i on, until the trend reverses: the bar after that. */
static inline __attribute__((always_inline)) int64_t
follow(Trail *t, const double *high, const double *low, double *out, int64_t i, int64_t n, bool is_long,
       bool has_na)
{
    double stop = t->stop, extreme = t->extreme, distance = t->distance, speed = t->start;
    double odd = t->odd;
    Bar last = t->last, last2 = t->last2;
    bool reversed = false;
    for (; i < n && !reversed; i++) {
        Bar bar = {high[i], low[i]};
        double span = bar.high - bar.low;
        odd += span - span; /* 0 of numbers */
        if (has_na && (is_na(bar.high) || is_na(bar.low))) {
            out[i] = NA;
            continue;
        }
        bar = is_long ? bar : mirrored(bar);
        stop += speed * distance;
        if (RARELY(bar.low < stop)) {
            stop = -most(most(extreme, bar.high), most(last.high, last2.high));
            bar = mirrored(bar), last = mirrored(last);
            extreme = bar.high;
            distance = extreme - stop;
            out[i] = bounded(is_long ? -stop : stop);
            reversed = true;
        } else {
            double floor = least(last.low, last2.low), faster = least(speed + t->step, t->limit);
            double highest = most(bar.high, extreme);
            distance = (1 - speed) * distance + (highest - extreme);
            if (stop > floor) {
                AS_BRANCH;
                stop = floor;
                distance = highest - stop;
            }
            speed = bar.high > extreme ? faster : speed;
            extreme = highest;
            out[i] = bounded(is_long ? stop : -stop);
        }
        last2 = last, last = bar;
    }
    *t = (Trail){t->start, t->step, t->limit, stop, extreme, distance, odd, last, last2};
    return i;
}

static inline __attribute__((always_inline)) bool
trail(const double *high, const double *low, double *out, int64_t n, bool has_na, double start,
      double step, double limit)
{
    Trail t = {.start = start, .step = step, .limit = limit};
    Bar last = {NA, NA};
    bool is_long = true;
    int64_t i = 0;
    for (int seen = 0; i < n && seen < 2; i++) {
        Bar bar = {high[i], low[i]};
        double span = bar.high - bar.low;
        t.odd += span - span;
        out[i] = NA;
        if (is_na(bar.high) || is_na(bar.low)) {
            if (!has_na)
                return false;
            continue;
        }
        is_long = seen++ == 0 || !(last.high > bar.high);
        if (!is_long)
            bar = mirrored(bar), last = mirrored(last);
        t.stop = last.low;
        t.extreme = bar.high;
        t.distance = t.extreme - t.stop;
        t.last2 = last, t.last = last = bar;
        out[i] = bounded(is_long ? t.stop : -t.stop);
    }
    for (; i < n; is_long = !is_long)
        i = is_long ? follow(&t, high, low, out, i, n, true, has_na)
                    : follow(&t, high, low, out, i, n, false, has_na);
    return t.odd == 0;
}

/* Pine takes the close and does not look at it. */
int kernel_sar(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1);
    double start = factor(f, 3), step = factor(f, 4), limit = factor(f, 5);
    if (!trail(high, low, f->out[0], f->n, false, start, step, limit))
        trail(high, low, f->out[0], f->n, true, start, step, limit);
    return 0;
}
