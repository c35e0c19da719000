/* Market structure: swings, breaks of them, gaps between bars, and what becomes of price zones.

   Prices are compared exactly. Whoever wants ties decided by ticks hands in whole ticks. */
#include "kernels.h"

/* Pivots of one price into `out`; the strengths are operands `left` and `left` + 1. */
static int find_pivots(Frame *f, int price, int left, double *out, bool high)
{
    Frame one = *f;
    one.in[0] = f->in[price], one.in[1] = f->in[left], one.in[2] = f->in[left + 1];
    one.out[0] = out;
    return high ? kernel_pivot_high(&one) : kernel_pivot_low(&one);
}

/* The last confirmed swings and the bars they lie on. */
int kernel_swings(Frame *f)
{
    int64_t right = integer(f, 3);
    for (int side = 0; side < 2; side++) {
        double *level = f->out[2 * side], *bar = f->out[2 * side + 1], held = NA, at = NA;
        if (find_pivots(f, side, 2, level, side == 0) < 0)
            return -1;
        for (int64_t i = 0; i < f->n; i++) {
            bool confirmed = !is_na(level[i]);
            held = confirmed ? level[i] : held;
            at = confirmed ? (double)(i - right) : at;
            level[i] = held, bar[i] = at;
        }
    }
    return 0;
}

/* A swing counts until a close breaks it. What is confirmed on a bar counts on that bar. */
int kernel_structure(Frame *f)
{
    enum { BREAK = 1, CHANGE = 2, BOTH = 2 };
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    double *event = f->out[0], *level = f->out[1], *bar = f->out[2], *trend = f->out[3];
    double *sweep = f->out[4];
    int64_t right = integer(f, 4);
    double top = NA, bottom = NA, top_bar = NA, bottom_bar = NA, direction = 0;
    if (find_pivots(f, 0, 3, event, true) < 0 || find_pivots(f, 1, 3, level, false) < 0)
        return -1;
    for (int64_t i = 0; i < f->n; i++) {
        if (!is_na(event[i]))
            top = event[i], top_bar = (double)(i - right);
        if (!is_na(level[i]))
            bottom = level[i], bottom_bar = (double)(i - right);
        double last = bounded(close[i]);
        bool up = last > top, down = last < bottom;
        bool over = bounded(high[i]) > top && last <= top;
        bool under = bounded(low[i]) < bottom && last >= bottom;
        sweep[i] = over && under ? BOTH : over ? 1 : under ? -1 : 0;
        event[i] = 0, level[i] = NA, bar[i] = NA;
        if (up != down) {
            double to = up ? 1 : -1;
            event[i] = to * (direction == -to ? CHANGE : BREAK);
            level[i] = up ? top : bottom;
            bar[i] = up ? top_bar : bottom_bar;
            direction = to;
            if (up)
                top = NA;
            else
                bottom = NA;
        }
        trend[i] = direction;
    }
    return 0;
}

/* Three bars whose first and last leave a gap, told on the last. */
int kernel_fvg(Frame *f)
{
    const double *open = series(f, 0), *high = series(f, 1), *low = series(f, 2);
    const double *close = series(f, 3);
    double least = factor(f, 4), *side = f->out[0], *top = f->out[1], *bottom = f->out[2];
    bool body = flag(f, 5);
    for (int64_t i = 0; i < f->n; i++) {
        side[i] = 0, top[i] = bottom[i] = NA;
        if (i < 2)
            continue;
        double first_high = bounded(high[i - 2]), first_low = bounded(low[i - 2]);
        double last_high = bounded(high[i]), last_low = bounded(low[i]);
        double move = body ? bounded(close[i - 1]) - bounded(open[i - 1]) : 0;
        bool up = last_low > first_high && last_low - first_high >= least && (!body || move > 0);
        bool down = last_high < first_low && first_low - last_high >= least && (!body || move < 0);
        if (up == down)
            continue;
        side[i] = up ? 1 : -1;
        top[i] = up ? last_low : first_low;
        bottom[i] = up ? first_high : last_high;
    }
    return 0;
}

enum { TOUCHED, MIDDLE, FILLED, BROKEN, DEAD, PHASES };

/* The life of one zone over the bars from `j` up to `end`. `sign` is -1 for a bearish zone, which is
   looked at upside down: `reach` is then the highs, and the bounds are negated. */
static inline void follow_zone(const double *reach, const double *close, double near, double far,
                               int64_t j, int64_t end, double sign, double *at)
{
    double edges[] = {near, near / 2 + far / 2, far, -INFINITY};
    int next = TOUCHED;
    for (; j < end; j++) {
        double extreme = sign * bounded(reach[j]), last = sign * bounded(close[j]);
        if (!(extreme <= edges[next] || last < far))
            continue;
        while (next < BROKEN && extreme <= edges[next])
            at[next++] = (double)j;
        if (last < far)
            break;
    }
    if (j == end)
        return;
    at[BROKEN] = (double)j;
    for (j++; j < end; j++)
        if (sign * bounded(close[j]) > near) {
            at[DEAD] = (double)j;
            return;
        }
}

/* When price reached the parts of each zone, told where the zone became known. */
int kernel_zone_life(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    const double *side = series(f, 3), *tops = series(f, 4), *bottoms = series(f, 5);
    int64_t n = f->n, oldest = integer(f, 6);
    for (int phase = 0; phase < PHASES; phase++)
        fill(f->out[phase], n, NA);
    for (int64_t i = 0; i < n; i++) {
        bool bull = side[i] > 0;
        if (!(bull || side[i] < 0) || is_na(side[i]) || is_na(tops[i]) || is_na(bottoms[i])
            || tops[i] < bottoms[i])
            continue;
        double at[PHASES] = {NA, NA, NA, NA, NA};
        int64_t left = n - 1 - i, age = oldest < 0 ? 0 : oldest;
        int64_t end = i + 1 + (age < left ? age : left);
        if (bull)
            follow_zone(low, close, tops[i], bottoms[i], i + 1, end, 1, at);
        else
            follow_zone(high, close, -bottoms[i], -tops[i], i + 1, end, -1, at);
        if (is_na(at[DEAD]) && end < n)
            at[DEAD] = (double)end;
        for (int phase = 0; phase < PHASES; phase++)
            ((double *)f->out[phase])[i] = at[phase];
    }
    return 0;
}

/* The bar of the better value, the later of equals; -1 stands for no bar. */
static inline int64_t better(const double *x, int64_t a, int64_t b, double sign)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    double gain = sign * x[b] - sign * x[a];
    return gain > 0 || (gain == 0 && b > a) ? b : a;
}

/* Extremes between two bars by a segment tree: leaf n + i is bar i, a node the better of its two. */
static int extreme_between(Frame *f, double sign)
{
    const double *x = series(f, 0), *first = series(f, 1), *last = series(f, 2);
    double *value = f->out[0], *bar = f->out[1];
    int64_t n = f->n, *best = room(f->scratch, 2 * (size_t)(n ? n : 1) * sizeof(int64_t));
    if (!best)
        return -1;
    for (int64_t i = 0; i < n; i++)
        best[n + i] = is_na(x[i]) ? -1 : i;
    for (int64_t k = n - 1; k > 0; k--)
        best[k] = better(x, best[2 * k], best[2 * k + 1], sign);
    for (int64_t i = 0; i < n; i++) {
        int64_t found = -1;
        if (first[i] <= last[i] && last[i] >= 0 && last[i] <= (double)i) {
            int64_t from = (first[i] > 0 ? (int64_t)ceil(first[i]) : 0) + n;
            int64_t to = (int64_t)floor(last[i]) + 1 + n;
            for (; from < to; from /= 2, to /= 2) {
                if (from & 1)
                    found = better(x, found, best[from++], sign);
                if (to & 1)
                    found = better(x, found, best[--to], sign);
            }
        }
        value[i] = found < 0 ? NA : x[found];
        bar[i] = found < 0 ? NA : (double)found;
    }
    return 0;
}

int kernel_highest_between(Frame *f) { return extreme_between(f, 1); }

int kernel_lowest_between(Frame *f) { return extreme_between(f, -1); }

static int extreme_since(Frame *f, double sign)
{
    const bool *condition = flags(f, 0);
    const double *x = series(f, 1);
    double *out = f->out[0], best = NA;
    bool begun = false;
    for (int64_t i = 0; i < f->n; i++) {
        begun |= condition[i];
        best = condition[i] ? NA : best;
        if (begun && !is_na(x[i]) && !(sign * best >= sign * x[i]))
            best = x[i];
        out[i] = best;
    }
    return 0;
}

int kernel_highest_since(Frame *f) { return extreme_since(f, 1); }

int kernel_lowest_since(Frame *f) { return extreme_since(f, -1); }

int kernel_first_true(Frame *f)
{
    const bool *condition = flags(f, 0), *reset = flags(f, 1);
    bool *out = f->out[0], done = false;
    for (int64_t i = 0; i < f->n; i++) {
        done &= !reset[i];
        out[i] = condition[i] & !done;
        done |= condition[i];
    }
    return 0;
}

int kernel_runs(Frame *f)
{
    const bool *condition = flags(f, 0);
    double *first = f->out[0], *last = f->out[1], from = NA, to = NA;
    bool before = false;
    for (int64_t i = 0; i < f->n; i++) {
        from = condition[i] & !before ? (double)i : from;
        to = condition[i] ? (double)i : to;
        before = condition[i];
        first[i] = from, last[i] = to;
    }
    return 0;
}
