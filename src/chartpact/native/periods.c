/* The prices of periods, each from one anchor bar to the next; the first begins at bar 0. */
#include "kernels.h"

static double larger(double a, double b) { return a > b || is_na(b) ? a : b; }
static double smaller(double a, double b) { return a < b || is_na(b) ? a : b; }

/* High, low, open and close of the period that ended last, and the open of the running one; while
   it develops, those of the running one itself. */
int kernel_period_prices(Frame *f)
{
    const bool *anchor = flags(f, 0);
    const double *open = series(f, 1), *high = series(f, 2), *low = series(f, 3);
    const double *close = series(f, 4);
    bool developing = flag(f, 5);
    double *top = f->out[0], *bottom = f->out[1], *first = f->out[2], *last = f->out[3];
    double *now = f->out[4];
    double ended_high = NA, ended_low = NA, ended_open = NA, ended_close = NA, fresh = NA;
    double running_high = NA, running_low = NA, running_open = NA;
    for (int64_t i = 0; i < f->n; i++) {
        if (anchor[i] && i > 0) {
            ended_high = running_high, ended_low = running_low, ended_open = running_open;
            ended_close = bounded(close[i - 1]);
            fresh = bounded(open[i]);
        }
        if (anchor[i] || i == 0) {
            running_high = running_low = NA;
            running_open = bounded(open[i]);
        }
        running_high = larger(running_high, high[i]);
        running_low = smaller(running_low, low[i]);
        top[i] = developing ? running_high : ended_high;
        bottom[i] = developing ? running_low : ended_low;
        first[i] = developing ? running_open : ended_open;
        last[i] = developing ? bounded(close[i]) : ended_close;
        now[i] = developing ? running_open : fresh;
    }
    return 0;
}
