/* The rank correlation of a window with time. The window is kept sorted: one value leaves and one
   enters a bar, and a sweep over the order gives every value its rank. */
#include "kernels.h"

#include <string.h>

typedef struct {
    double value;
    int64_t bar;
} Entry;

static void leave(Entry *sorted, int64_t count, int64_t bar)
{
    int64_t at = 0;
    while (sorted[at].bar != bar)
        at++;
    memmove(sorted + at, sorted + at + 1, (size_t)(count - at - 1) * sizeof *sorted);
}

static void enter(Entry *sorted, int64_t count, Entry entry)
{
    int64_t at = 0;
    while (at < count && sorted[at].value < entry.value)
        at++;
    memmove(sorted + at + 1, sorted + at, (size_t)(count - at) * sizeof *sorted);
    sorted[at] = entry;
}

/* The largest value has rank 0, as the newest bar has age 0. Values less than EPSILON above the
   smallest of their group share its mean rank. Ages and ranks have the same mean; distances from it
   are halves of whole numbers, so that every sum here is exact. */
static double correlate(const Entry *sorted, int64_t L, int64_t now)
{
    double middle = (double)(L - 1) / 2, product = 0, squares = 0;
    double ages = (double)L * ((double)L * (double)L - 1) / 12;
    for (int64_t first = 0, after; first < L; first = after) {
        double age = 0;
        for (after = first; after < L; after++) {
            if (!(sorted[after].value - sorted[first].value < EPSILON))
                break;
            age += (double)(now - sorted[after].bar) - middle;
        }
        double rank = middle - (double)(first + after - 1) / 2;
        product += age * rank;
        squares += (double)(after - first) * rank * rank;
    }
    return squares > 0 ? 100 * product / sqrt(ages * squares) : NA;
}

/* Pine keeps the values in L + 1 slots and leaves the slot of an na bar as it was: there the window
   holds the value of L + 1 bars before, or 0. */
int kernel_rci(Frame *f)
{
    const double *x = series(f, 0);
    double *out = f->out[0], last = NA;
    int64_t L = length(f, 1), n = f->n;
    if (L >= n) {
        fill(out, n, NA);
        return 0;
    }
    double *slots = scratch(f, 3 * L + 1);
    if (!slots)
        return -1;
    Entry *sorted = (Entry *)(slots + L + 1);
    fill(slots, L + 1, 0);
    for (int64_t i = 0, count = 0; i < n; i++) {
        bool missing = !isfinite(x[i]);
        double *slot = &slots[i % (L + 1)];
        if (!missing)
            *slot = x[i];
        if (i >= L)
            leave(sorted, count--, i - L);
        enter(sorted, count++, (Entry){*slot, i});
        if (i >= L && !missing)
            last = correlate(sorted, L, i);
        out[i] = last;
    }
    return 0;
}
