/* Highest and lowest of a moving window, by the blocks of windows.c: every window is the tail of
   one block and the head of the next, and the larger of the two is its highest. */
#include "kernels.h"

/* The functions below are written once for both directions and compiled for each. */
#define EITHER static inline __attribute__((always_inline))

EITHER bool beats(double a, double b, bool high) { return high ? a > b : a < b; }

/* Pine ignores na inside the window; only a window of nothing but na is na. */
EITHER double better(double a, double b, bool high, bool with_na)
{
    return beats(a, b, high) || (with_na && is_na(b)) ? a : b;
}

EITHER void extremes(const double *x, double *out, int64_t n, int64_t L, bool high, bool with_na)
{
    for (int64_t last = L - 1; last < n; last += L) {
        int64_t end = last + L < n ? last + L : n, j = last;
        double tail = x[last], head = x[last];
        for (; j + L - 1 >= end; j--)
            tail = better(x[j], tail, high, with_na);
        for (; j > last - L; j--)
            out[j + L - 1] = tail = better(x[j], tail, high, with_na);
        for (int64_t i = last + 1; i < end; i++) {
            head = better(x[i], head, high, with_na);
            out[i] = better(out[i], head, high, with_na);
        }
    }
}

static bool has_na(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (is_na(x[i]))
            return true;
    return false;
}

static void window_highest(const double *x, double *out, int64_t n, int64_t L)
{
    if (has_na(x, n))
        extremes(x, out, n, L, true, true);
    else
        extremes(x, out, n, L, true, false);
}

static void window_lowest(const double *x, double *out, int64_t n, int64_t L)
{
    if (has_na(x, n))
        extremes(x, out, n, L, false, true);
    else
        extremes(x, out, n, L, false, false);
}

int kernel_highest(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L - 1, NA);
    window_highest(series(f, 0), f->out[0], f->n, L);
    return 0;
}

int kernel_lowest(Frame *f)
{
    int64_t L = length(f, 1);
    fill(f->out[0], L - 1, NA);
    window_lowest(series(f, 0), f->out[0], f->n, L);
    return 0;
}

/* The same walk, keeping the bar instead of the value. Of equals the oldest counts: a tail lets an
   older equal in, a head keeps what it has, and between the two the tail is older. */
EITHER int extreme_bars(Frame *f, bool high)
{
    const double *x = series(f, 0);
    int64_t n = f->n, L = length(f, 1);
    double *out = f->out[0];
    int64_t *tails = (int64_t *)scratch(f, L);
    if (!tails)
        return -1;
    fill(out, L - 1, NA);
    for (int64_t last = L - 1; last < n; last += L) {
        int64_t end = last + L < n ? last + L : n, tail = last, head = last;
        for (int64_t j = last; j > last - L; j--) {
            if (!beats(x[tail], x[j], high) && !is_na(x[j]))
                tail = j;
            tails[j + L - 1 - last] = tail;
        }
        for (int64_t i = last; i < end; i++) {
            if (beats(x[i], x[head], high) || is_na(x[head]))
                head = i;
            int64_t at = tails[i - last];
            if (beats(x[head], x[at], high) || is_na(x[at]))
                at = head;
            out[i] = is_na(x[at]) ? NA : (double)(at - i);
        }
    }
    return 0;
}

int kernel_highestbars(Frame *f) { return extreme_bars(f, true); }

int kernel_lowestbars(Frame *f) { return extreme_bars(f, false); }

WIDE static void place_in_range(const double *x, const double *high, const double *low,
                                const double *top, const double *bottom, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double range = top[i] - bottom[i];
        bool absent = is_na(high[i]) | is_na(low[i]) | (range == 0);
        out[i] = absent ? NA : 100 * (x[i] - bottom[i]) / range;
    }
}

int kernel_stoch(Frame *f)
{
    const double *high = series(f, 1), *low = series(f, 2);
    int64_t L = length(f, 3), n = f->n, first = L - 1;
    double *top = scratch(f, 2 * n), *bottom = top + n, *out = f->out[0];
    if (!top)
        return -1;
    fill(out, first, NA);
    window_highest(high, top, n, L);
    window_lowest(low, bottom, n, L);
    place_in_range(series(f, 0) + first, high + first, low + first, top + first, bottom + first,
                   out + first, n - first);
    return 0;
}

EITHER int running_extreme(Frame *f, bool high)
{
    const double *x = series(f, 0);
    double *out = f->out[0], best = NA;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = best = better(best, x[i], high, true);
    return 0;
}

int kernel_cummax(Frame *f) { return running_extreme(f, true); }

int kernel_cummin(Frame *f) { return running_extreme(f, false); }

/* A pivot is at least as far out as the `left` bars before it and further than the `right` bars
   after it. An na among them stands for infinity, which nothing is further out than. */
EITHER int pivots(Frame *f, bool high)
{
    int64_t n = f->n, left = integer(f, 1), right = integer(f, 2);
    double *out = f->out[0];
    fill(out, n, NA);
    if (left < 0 || right < 0 || left >= n || right >= n - left)
        return 0;
    double *x = scratch(f, 3 * n), *before = x + n, *after = before + n;
    if (!x)
        return -1;
    const double *given = series(f, 0);
    for (int64_t i = 0; i < n; i++)
        x[i] = is_na(given[i]) ? (high ? INFINITY : -INFINITY) : given[i];
    if (left)
        extremes(x, before, n, left, high, false);
    if (right)
        extremes(x, after, n, right, high, false);
    for (int64_t i = left + right; i < n; i++) {
        int64_t at = i - right;
        bool stands = (!left || !beats(before[at - 1], given[at], high))
                      & (!right || beats(given[at], after[i], high));
        if (stands)
            out[i] = given[at];
    }
    return 0;
}

int kernel_pivot_high(Frame *f) { return pivots(f, true); }

int kernel_pivot_low(Frame *f) { return pivots(f, false); }
