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

static void window_highest(const double *x, double *out, int64_t n, int64_t L)
{
    if (first_na(x, n) < n)
        extremes(x, out, n, L, true, true);
    else
        extremes(x, out, n, L, true, false);
}

static void window_lowest(const double *x, double *out, int64_t n, int64_t L)
{
    if (first_na(x, n) < n)
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

/* The bar of the extreme is remembered until it leaves the window or is beaten. Of equals the
   oldest counts, so the search for the next one starts at the old end; a long search is paid for by
   the bars until what it found leaves in turn. */
EITHER int extreme_bars(Frame *f, bool high)
{
    const double *x = series(f, 0);
    int64_t n = f->n, L = length(f, 1), at = -1;
    double *out = f->out[0];
    fill(out, L - 1, NA);
    (high ? window_highest : window_lowest)(x, out, n, L);
    for (int64_t i = L - 1; i < n; i++) {
        double best = out[i];
        if (is_na(best))
            continue;
        if (at <= i - L)
            for (at = i - L + 1; x[at] != best; at++)
                ;
        else if (x[at] != best)
            at = i;
        out[i] = (double)(at - i);
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
    const double *x = series(f, 0), *high = series(f, 1), *low = series(f, 2);
    int64_t L = length(f, 3), first = L - 1, span = bars_of_span(L);
    double *out = f->out[0], *top = scratch(f, 2 * span), *bottom = top + span;
    if (!top)
        return -1;
    fill(out, first, NA);
    FOR_EACH_SPAN (from, m, f->n, L) {
        int64_t to = from + first;
        window_highest(high + from, top, m, L);
        window_lowest(low + from, bottom, m, L);
        place_in_range(x + to, high + to, low + to, top + first, bottom + first, out + to,
                       m - first);
    }
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
    const double *given = series(f, 0);
    double *out = f->out[0];
    fill(out, n, NA);
    if (left < 0 || right < 0 || left >= n || right >= n - left)
        return 0;
    int64_t L = left + right + 1, span = bars_of_span(L);
    double *x = scratch(f, 3 * span), *before = x + span, *after = before + span;
    if (!x)
        return -1;
    FOR_EACH_SPAN (from, m, n, L) {
        for (int64_t i = 0; i < m; i++)
            x[i] = is_na(given[from + i]) ? (high ? INFINITY : -INFINITY) : given[from + i];
        if (left)
            extremes(x, before, m, left, high, false);
        if (right)
            extremes(x, after, m, right, high, false);
        for (int64_t i = L - 1; i < m; i++) {
            int64_t at = i - right;
            double value = given[from + at];
            bool stands = (!left || !beats(before[at - 1], value, high))
                          & (!right || beats(value, after[i], high));
            out[from + i] = stands ? value : NA;
        }
    }
    return 0;
}

int kernel_pivot_high(Frame *f) { return pivots(f, true); }

int kernel_pivot_low(Frame *f) { return pivots(f, false); }
