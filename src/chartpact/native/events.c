/* Things that happen at a bar, and how long ago they did. Conditions are never na (Pine v6). */
#include "kernels.h"

/* a > b now, and a <= b on the last bar where both were there. */
static int crossed(const double *a, const double *b, bool *out, int64_t n)
{
    bool below = false;
    for (int64_t i = 0; i < n; i++) {
        bool above = a[i] > b[i], under = a[i] <= b[i];
        out[i] = above & below;
        below = under | (below & !above);
    }
    return 0;
}

int kernel_crossover(Frame *f) { return crossed(series(f, 0), series(f, 1), f->out[0], f->n); }

int kernel_crossunder(Frame *f) { return crossed(series(f, 1), series(f, 0), f->out[0], f->n); }

/* The side changed since the last bar that had one; equal bars have none. */
int kernel_cross(Frame *f)
{
    const double *a = series(f, 0), *b = series(f, 1);
    bool *out = f->out[0];
    bool was_above = false, was_below = false;
    for (int64_t i = 0; i < f->n; i++) {
        bool above = a[i] > b[i], below = a[i] < b[i];
        out[i] = (above & was_below) | (below & was_above);
        was_above = above | (was_above & !below);
        was_below = below | (was_below & !above);
    }
    return 0;
}

/* A step from or to an na bar neither counts nor breaks the run. */
static int moved(Frame *f, double sign)
{
    const double *x = series(f, 0);
    int64_t asked = length(f, 1), run = 0;
    bool *out = f->out[0];
    double before = NA;
    for (int64_t i = 0; i < f->n; i++) {
        double step = sign * (x[i] - before);
        run = is_na(step) ? run : step > EPSILON ? run + 1 : 0;
        out[i] = run >= asked;
        before = x[i];
    }
    return 0;
}

int kernel_rising(Frame *f) { return moved(f, 1); }

int kernel_falling(Frame *f) { return moved(f, -1); }

int kernel_barssince(Frame *f)
{
    const bool *condition = flags(f, 0);
    double *out = f->out[0], since = NA;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = since = condition[i] ? 0 : since + 1;
    return 0;
}

/* A ring of the last occurrence + 1 values: the next place to write holds the one asked for. */
int kernel_valuewhen(Frame *f)
{
    const bool *condition = flags(f, 0);
    const double *x = series(f, 1);
    int64_t occurrence = integer(f, 2), n = f->n;
    double *out = f->out[0];
    if (occurrence < 0 || occurrence >= n) {
        fill(out, n, NA);
        return 0;
    }
    int64_t places = occurrence + 1, next = 0;
    double *ring = scratch(f, places), value = NA;
    if (!ring)
        return -1;
    fill(ring, places, NA);
    for (int64_t i = 0; i < n; i++) {
        if (condition[i]) {
            ring[next] = x[i];
            next = next + 1 == places ? 0 : next + 1;
            value = ring[next];
        }
        out[i] = value;
    }
    return 0;
}
