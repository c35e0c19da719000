/* Typical prices of a bar, and steps from an earlier bar: each value is made of one bar or two. */
#include "kernels.h"

WIDE static void mean_of_two(const double *a, const double *b, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded((a[i] + b[i]) / 2);
}

WIDE static void mean_of_three(const double *a, const double *b, const double *c, double *out,
                               int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded((a[i] + b[i] + c[i]) / 3);
}

WIDE static void mean_of_four(const double *a, const double *b, const double *c, const double *d,
                              double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded((a[i] + b[i] + c[i] + d[i]) / 4);
}

int kernel_hl2(Frame *f)
{
    mean_of_two(series(f, 0), series(f, 1), f->out[0], f->n);
    return 0;
}

int kernel_hlc3(Frame *f)
{
    mean_of_three(series(f, 0), series(f, 1), series(f, 2), f->out[0], f->n);
    return 0;
}

int kernel_hlcc4(Frame *f)
{
    const double *close = series(f, 2);
    mean_of_four(series(f, 0), series(f, 1), close, close, f->out[0], f->n);
    return 0;
}

int kernel_ohlc4(Frame *f)
{
    mean_of_four(series(f, 0), series(f, 1), series(f, 2), series(f, 3), f->out[0], f->n);
    return 0;
}

WIDE static void differences(const double *x, const double *before, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded(x[i] - before[i]);
}

WIDE static void rates(const double *x, const double *before, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = bounded(100 * (x[i] - before[i]) / before[i]);
}

typedef void Step(const double *x, const double *before, double *out, int64_t n);

static int each_step(Frame *f, Step *step)
{
    const double *x = series(f, 0);
    int64_t L = length(f, 1);
    double *out = f->out[0];
    fill(out, L < f->n ? L : f->n, NA);
    if (L < f->n)
        step(x + L, x, out + L, f->n - L);
    return 0;
}

int kernel_change(Frame *f) { return each_step(f, differences); }

int kernel_mom(Frame *f) { return each_step(f, differences); }

int kernel_roc(Frame *f) { return each_step(f, rates); }
