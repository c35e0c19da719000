/* Sums that run from the first bar on, and other series that only look one bar back. */
#include "kernels.h"

int kernel_cum(Frame *f)
{
    const double *x = series(f, 0);
    double *out = f->out[0], total = 0;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = is_na(x[i]) ? NA : (total += x[i]);
    return 0;
}

int kernel_accdist(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    const double *volume = series(f, 3);
    double *out = f->out[0], total = 0;
    for (int64_t i = 0; i < f->n; i++) {
        double range = high[i] - low[i];
        double share = ((close[i] - low[i]) - (high[i] - close[i])) / range;
        total += high[i] == low[i] ? 0 : share * volume[i];
        out[i] = total;
    }
    return 0;
}

int kernel_obv(Frame *f)
{
    const double *close = series(f, 0), *volume = series(f, 1);
    double *out = f->out[0], total = 0;
    double before = NA; /* na also when the bar before lacked its volume */
    for (int64_t i = 0; i < f->n; i++) {
        double sign = (double)(close[i] > before) - (double)(close[i] < before);
        bool counts = !(is_na(before) | is_na(close[i]) | is_na(volume[i]));
        total += counts ? volume[i] * sign : 0;
        out[i] = counts ? total : NA;
        before = is_na(volume[i]) ? NA : close[i];
    }
    return 0;
}

int kernel_pvt(Frame *f)
{
    const double *close = series(f, 0), *volume = series(f, 1);
    double *out = f->out[0], total = 0;
    double before = NA;
    for (int64_t i = 0; i < f->n; i++) {
        bool counts = !(is_na(before) | is_na(close[i]) | is_na(volume[i]) | (before == 0));
        total += counts ? (close[i] - before) / before * volume[i] : 0;
        out[i] = counts ? total : NA;
        before = is_na(volume[i]) ? NA : close[i];
    }
    return 0;
}

/* An index that follows the close only on bars with more (or less) volume than the bar before. */
static inline int volume_index(Frame *f, bool more)
{
    const double *close = series(f, 0), *volume = series(f, 1);
    double *out = f->out[0], value = 1;
    for (int64_t i = 0; i < f->n; i++) {
        if (i && (more ? volume[i] > volume[i - 1] : volume[i] < volume[i - 1])) {
            double c = close[i], before = close[i - 1];
            if (c != 0 && before != 0 && !is_na(c) && !is_na(before))
                value += (c - before) / before * value;
        }
        out[i] = is_na(close[i]) | is_na(volume[i]) ? NA : value;
    }
    return 0;
}

int kernel_pvi(Frame *f) { return volume_index(f, true); }

int kernel_nvi(Frame *f) { return volume_index(f, false); }

int kernel_wad(Frame *f)
{
    const double *high = series(f, 0), *low = series(f, 1), *close = series(f, 2);
    double *out = f->out[0], total = 0;
    double before = NA; /* na also when the bar before lacked its high or low */
    for (int64_t i = 0; i < f->n; i++) {
        double c = close[i];
        bool absent = is_na(c) | is_na(high[i]) | is_na(low[i]);
        if (!absent && c > before)
            total += c - (low[i] < before ? low[i] : before);
        else if (!absent && c < before)
            total += c - (high[i] > before ? high[i] : before);
        out[i] = absent ? NA : total;
        before = absent ? NA : c;
    }
    return 0;
}

/* The mean is the plain ratio of sums, as Pine has it; the spread is gathered step by step (West's
   scheme), since the difference of two large sums would lose it. */
int kernel_vwap(Frame *f)
{
    const double *x = series(f, 0), *volume = series(f, 1);
    const bool *anchor = flags(f, 2);
    double mult = factor(f, 3);
    double *middle = f->out[0], *upper = f->out[1], *lower = f->out[2];
    double flow = NA, weight = NA, mean = NA, spread = NA;
    for (int64_t i = 0; i < f->n; i++) {
        if (anchor[i])
            flow = weight = mean = spread = 0;
        middle[i] = upper[i] = lower[i] = NA;
        if (is_na(x[i]) || is_na(volume[i]))
            continue;
        flow += x[i] * volume[i];
        weight += volume[i];
        if (is_na(weight) || weight == 0)
            continue;
        double step = x[i] - mean;
        mean += step * volume[i] / weight;
        spread += volume[i] * step * (x[i] - mean);
        double reach = mult * sqrt(fmax(spread / weight, 0));
        middle[i] = flow / weight;
        upper[i] = middle[i] + reach;
        lower[i] = middle[i] - reach;
    }
    return 0;
}
