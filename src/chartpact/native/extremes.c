/* Highest and lowest of a moving window. Long ones by the blocks of windows.c: every window is the tail
   of one block and the head of the next, and the larger of the two is its highest. */
#include "kernels.h"

/* The functions below are written once for both directions and compiled for each. */
#define EITHER static inline __attribute__((always_inline))

EITHER bool beats(double a, double b, bool high) { return high ? a > b : a < b; }

EITHER double better(double a, double b, bool high) { return beats(a, b, high) ? a : b; }

/* A window of 2p bars is two of p, and one of L is two that overlap: for short windows the fastest way,
   as no bar waits for another. What windows begin at each bar is kept, a piece of them at a time. */
#define DOUBLED 128 /* the longest of the short windows */

EITHER void pair_up(const double *x, double *best, int64_t p, int64_t n, bool high)
{
#pragma GCC ivdep /* what is read lies at or after what is written */
    for (int64_t j = 0; j < n; j++)
        best[j] = better(x[j + p], x[j], high);
}

EITHER void short_extremes(const double *x, double *out, int64_t n, int64_t L, bool high)
{
    double best[PIECE + DOUBLED];
    FOR_EACH_PIECE (from, m, n - L + 1) {
        const double *of_p = x + from;
        int64_t p = 1;
        for (; 2 * p <= L; p *= 2, of_p = best)
            pair_up(of_p, best, p, m + L - 2 * p, high);
        for (int64_t j = 0; j < m; j++)
            out[from + L - 1 + j] = better(of_p[j + L - p], of_p[j], high);
    }
}

EITHER void long_extremes(const double *x, double *out, int64_t n, int64_t L, bool high)
{
    for (int64_t last = L - 1; last < n; last += L) {
        int64_t end = last + L < n ? last + L : n, j = last;
        double tail = x[last], head = x[last];
        for (; j + L - 1 >= end; j--)
            tail = better(x[j], tail, high);
        for (; j > last - L; j--)
            out[j + L - 1] = tail = better(x[j], tail, high);
        for (int64_t i = last + 1; i < end; i++) {
            head = better(x[i], head, high);
            out[i] = better(out[i], head, high);
        }
    }
}

WIDE static void tops(const double *x, double *out, int64_t n, int64_t L)
{
    if (L <= DOUBLED)
        short_extremes(x, out, n, L, true);
    else
        long_extremes(x, out, n, L, true);
}

WIDE static void bottoms(const double *x, double *out, int64_t n, int64_t L)
{
    if (L <= DOUBLED)
        short_extremes(x, out, n, L, false);
    else
        long_extremes(x, out, n, L, false);
}

/* Over every window of L bars that are all present; out[i] for i < L - 1 is left alone. */
EITHER void extremes(const double *x, double *out, int64_t n, int64_t L, bool high)
{
    (high ? tops : bottoms)(x, out, n, L);
}

/* In Pine an na ends the window: only the bars after it count. So each run of present bars is a
   series of its own, whose windows are shorter at its start. */
EITHER void window_extremes(const double *x, double *out, int64_t n, int64_t L, bool high)
{
    for (int64_t i = 0; i < n;) {
        int64_t end = i + first_na(x + i, n - i);
        double best = end > i ? x[i] : NA;
        for (int64_t j = i; i && j < end && j < i + L - 1; j++) {
            best = better(x[j], best, high);
            if (j >= L - 1)
                out[j] = best;
        }
        extremes(x + i, out + i, end - i, L, high);
        for (i = end; i < n && is_na(x[i]); i++)
            if (i >= L - 1)
                out[i] = NA;
    }
}

static void window_highest(const double *x, double *out, int64_t n, int64_t L)
{
    window_extremes(x, out, n, L, true);
}

static void window_lowest(const double *x, double *out, int64_t n, int64_t L)
{
    window_extremes(x, out, n, L, false);
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

/* The same with the places of the extremes, counted from the first bar of a piece. */
EITHER void pair_up_places(const double *x, const double *place, double *best, double *best_place,
                           int64_t p, int64_t n, bool high)
{
#pragma GCC ivdep
    for (int64_t j = 0; j < n; j++) {
        double later = x[j + p], sooner = x[j], later_place = place[j + p], sooner_place = place[j];
        bool beaten = beats(later, sooner, high);
        best[j] = beaten ? later : sooner;
        best_place[j] = beaten ? later_place : sooner_place;
    }
}

EITHER void short_extreme_bars(const double *x, double *out, int64_t n, int64_t L, bool high)
{
    double best[PIECE + DOUBLED], place[PIECE + DOUBLED];
    FOR_EACH_PIECE (from, m, n - L + 1) {
        const double *of_p = x + from;
        int64_t p = 1;
        for (int64_t j = 0; j < m + L - 1; j++)
            place[j] = (double)j;
        for (; 2 * p <= L; p *= 2, of_p = best)
            pair_up_places(of_p, place, best, place, p, m + L - 2 * p, high);
        for (int64_t j = 0; j < m; j++) {
            double later = place[j + L - p], sooner = place[j];
            double at = beats(of_p[j + L - p], of_p[j], high) ? later : sooner;
            out[from + L - 1 + j] = at - (double)(j + L - 1);
        }
    }
}

WIDE static void top_bars(const double *x, double *out, int64_t n, int64_t L)
{
    short_extreme_bars(x, out, n, L, true);
}

WIDE static void bottom_bars(const double *x, double *out, int64_t n, int64_t L)
{
    short_extreme_bars(x, out, n, L, false);
}

/* The bar of the extreme is remembered until it leaves the window or is beaten. Of equals the
   oldest counts, so the search for the next one starts at the old end; a long search is paid for by
   the bars until what it found leaves in turn. On an na bar Pine answers 0. */
EITHER int extreme_bars(Frame *f, bool high)
{
    const double *x = series(f, 0);
    int64_t n = f->n, L = length(f, 1), at = -1, begin = 0; /* the bar after the last na */
    double *out = f->out[0];
    fill(out, L - 1, NA);
    if (L <= DOUBLED && first_na(x, n) == n) {
        (high ? top_bars : bottom_bars)(x, out, n, L);
        return 0;
    }
    (high ? window_highest : window_lowest)(x, out, n, L);
    for (int64_t i = 0; i < L - 1 && i < n; i++)
        begin = is_na(x[i]) ? i + 1 : begin;
    for (int64_t i = L - 1; i < n; i++) {
        double best = out[i];
        int64_t oldest = i - L + 1 > begin ? i - L + 1 : begin;
        if (is_na(x[i])) {
            begin = i + 1;
            out[i] = 0;
            continue;
        }
        if (at < oldest)
            for (at = oldest; x[at] != best; at++)
                ;
        else if (x[at] != best)
            at = i;
        out[i] = (double)(at - i);
    }
    return 0;
}

int kernel_highestbars(Frame *f) { return extreme_bars(f, true); }

int kernel_lowestbars(Frame *f) { return extreme_bars(f, false); }

/* 100 (x - origin) / (top - bottom), na where that is no number; tells whether it is somewhere. */
WIDE static bool place_in_range(const double *x, const double *origin, const double *top,
                                const double *bottom, double *out, int64_t n)
{
    int64_t absent = 0;
    for (int64_t i = 0; i < n; i++) {
        double place = 100 * (x[i] - origin[i]) / (top[i] - bottom[i]);
        bool is_absent = is_na(place);
        absent |= is_absent;
        out[i] = is_absent ? NA : place;
    }
    return absent;
}

/* Where nothing can be said, because the range is zero or something is na, stoch repeats its last
   value and wpr is na. */
EITHER int stochastic(Frame *f, const double *x, const double *high, const double *low, bool holds)
{
    int64_t L = length(f, 3), first = L - 1, span = bars_of_span(L);
    double *out = f->out[0], *top = scratch(f, 2 * span), *bottom = top + span;
    if (!top)
        return -1;
    fill(out, first, NA);
    FOR_EACH_SPAN (from, m, f->n, L) {
        double *to = out + from + first;
        window_highest(high + from, top, m, L);
        window_lowest(low + from, bottom, m, L);
        bool absent = place_in_range(x + from + first, (holds ? bottom : top) + first, top + first,
                                     bottom + first, to, m - first);
        for (int64_t i = from + first == 0; holds && absent && i < m - first; i++)
            to[i] = is_na(to[i]) ? to[i - 1] : to[i];
    }
    return 0;
}

int kernel_stoch(Frame *f)
{
    return stochastic(f, series(f, 0), series(f, 1), series(f, 2), true);
}

int kernel_wpr(Frame *f)
{
    return stochastic(f, series(f, 2), series(f, 0), series(f, 1), false);
}

int kernel_window_range(Frame *f)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1), first = L - 1, span = bars_of_span(L);
    double *out = f->out[0], *top = scratch(f, 2 * span), *bottom = top + span;
    if (!top)
        return -1;
    fill(out, first, NA);
    FOR_EACH_SPAN (from, m, f->n, L) {
        extremes(x + from, top, m, L, true);
        extremes(x + from, bottom, m, L, false);
        for (int64_t i = first; i < m; i++)
            out[from + i] = bounded(top[i] - bottom[i]);
    }
    return 0;
}

EITHER int running_extreme(Frame *f, bool high)
{
    const double *x = series(f, 0);
    double *out = f->out[0], best = NA;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = best = is_na(x[i]) || beats(best, x[i], high) ? best : x[i];
    return 0;
}

int kernel_cummax(Frame *f) { return running_extreme(f, true); }

int kernel_cummin(Frame *f) { return running_extreme(f, false); }

/* A pivot is at least as far out as the `left` bars before it and further than the `right` bars
   after it. An na before it ends the comparison, as it ends a window. An na after it stands for
   infinity, which nothing is further out than. */
EITHER int pivots(Frame *f, bool high)
{
    int64_t n = f->n, left = integer(f, 1), right = integer(f, 2);
    const double *x = series(f, 0);
    double *out = f->out[0];
    fill(out, n, NA);
    if (left < 0 || right < 0 || left >= n || right >= n - left)
        return 0;
    int64_t L = left + right + 1, span = bars_of_span(L);
    double *later = scratch(f, 3 * span), *before = later + span, *after = before + span;
    if (!later)
        return -1;
    FOR_EACH_SPAN (from, m, n, L) {
        for (int64_t i = 0; i < m; i++)
            later[i] = is_na(x[from + i]) ? (high ? INFINITY : -INFINITY) : x[from + i];
        if (left)
            window_extremes(x + from, before, m, left, high);
        if (right)
            extremes(later, after, m, right, high);
        for (int64_t i = L - 1; i < m; i++) {
            int64_t at = i - right;
            double value = x[from + at];
            bool stands = (!left || !beats(before[at - 1], value, high))
                          & (!right || beats(value, after[i], high));
            out[from + i] = stands ? bounded(value) : NA;
        }
    }
    return 0;
}

int kernel_pivot_high(Frame *f) { return pivots(f, true); }

int kernel_pivot_low(Frame *f) { return pivots(f, false); }
