/* The kernels as a table, and how one is run over the rows of a call. */
#ifndef CHARTPACT_ROWS_H
#define CHARTPACT_ROWS_H

#include <numpy/npy_common.h>

#include "kernels.h"

typedef struct {
    const char *name, *signature, *types;
    NaRule na;
    int (*compute)(Frame *);
    /* read from signature and types once, when the module is loaded */
    int n_in, n_out;
    char type[MAX_IN + MAX_OUT];
    bool is_series[MAX_IN + MAX_OUT];
} Kernel;

enum {
#define NUMBER(name, signature, types, na) KERNEL_##name,
    KERNEL_TABLE(NUMBER)
#undef NUMBER
    KERNELS
};

extern Kernel kernels[KERNELS];

void read_signatures(Kernel *, int count);

/* How many threads a batch may take: CHARTPACT_THREADS, once, when the module is loaded. */
void read_threads(void);

/* `dimensions` are the rows and the bars; `steps` lead from row to row for every operand, then from
   bar to bar for those that have bars. -1 where there is no memory. */
int run(const Kernel *, char *const *operands, const npy_intp *dimensions, const npy_intp *steps);

/* For each of n bars the last results over the bars from `first` on, of which there are `longest` at
   most. `steps` lead from bar to bar, also of numbers that each bar has its own of. */
int run_slices(const Kernel *, char *const *operands, const npy_intp *steps, const int64_t *first,
               int64_t n, int64_t longest);

#endif
