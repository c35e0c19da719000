/* The rows of a call, made into Frames one after the other. */
#define _GNU_SOURCE
#include <Python.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

#include "rows.h"

Kernel kernels[KERNELS] = {
#define ENTRY(name, signature, types, na)                                                          \
    {#name, signature, types, na, kernel_##name, 0, 0, {0}, {false}},
    KERNEL_TABLE(ENTRY)
#undef ENTRY
};

static void read_operands(Kernel *kernel)
{
    const char *signature = kernel->signature;
    int operand = 0;
    for (const char *type = kernel->types; *type; type++) {
        if (*type == '-' || *type == '>')
            continue;
        if (type < strchr(kernel->types, '-'))
            kernel->n_in++;
        else
            kernel->n_out++;
        signature = strchr(signature, '(') + 1;
        kernel->is_series[operand] = *signature == 'n';
        kernel->type[operand++] = *type;
    }
}

void read_signatures(Kernel *table, int count)
{
    for (int k = 0; k < count; k++)
        read_operands(&table[k]);
}

void *room(Room *room, size_t bytes)
{
    if (!room->start || bytes > room->bytes) {
        free(room->start);
        room->start = malloc(bytes ? bytes : 1);
        room->bytes = bytes;
    }
    return room->start;
}

static size_t item_size(char type) { return type == '?' ? sizeof(bool) : 8; }

/* Eight independent sums keep the scan at the speed of memory; x - x is 0 for a number and NaN for
   what is not finite. */
WIDE int64_t first_na(const double *x, int64_t n)
{
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        double odd[8] = {0};
        for (int k = 0; k < 64; k += 8)
            for (int j = 0; j < 8; j++)
                odd[j] += x[i + k + j] - x[i + k + j];
        for (int j = 1; j < 8; j++)
            odd[0] += odd[j];
        if (odd[0] != 0)
            for (int k = 0; k < 64; k++)
                if (is_na(x[i + k]))
                    return i + k;
    }
    for (; i < n; i++)
        if (is_na(x[i]))
            return i;
    return n;
}

/* One row: where each operand lies, and what had to be copied to make it contiguous. */
typedef struct {
    const Kernel *kernel;
    char *at[MAX_IN + MAX_OUT];
    npy_intp stride[MAX_IN + MAX_OUT]; /* 0 for scalars */
    int64_t n;
    Room packed, mask, scratch;
} Row;

static bool is_na_at(const Row *row, int64_t i)
{
    for (int k = 0; k < row->kernel->n_in; k++)
        if (row->kernel->is_series[k] && row->kernel->type[k] == 'd'
            && is_na(*(const double *)(row->at[k] + i * row->stride[k])))
            return true;
    return false;
}

static int64_t first_na_bar(const Row *row, int64_t from)
{
    int64_t first = row->n;
    for (int k = 0; k < row->kernel->n_in; k++) {
        if (!row->kernel->is_series[k] || row->kernel->type[k] != 'd')
            continue;
        const char *x = row->at[k] + from * row->stride[k];
        int64_t bars = first - from, i = 0;
        if (row->stride[k] == sizeof(double))
            i = first_na((const double *)x, bars);
        else
            while (i < bars && !is_na(*(const double *)(x + i * row->stride[k])))
                i++;
        first = from + i;
    }
    return first;
}

/* Copies the bars `keep` marks (all when it is NULL) of a strided operand to a contiguous place. */
static void pack(char *to, const char *from, npy_intp stride, size_t item, int64_t n,
                 const bool *keep)
{
    for (int64_t i = 0; i < n; i++) {
        if (keep && !keep[i])
            continue;
        memcpy(to, from + i * stride, item);
        to += item;
    }
}

/* The inverse, in place: spreads the first values of `out` over the kept bars. Elsewhere there is
   na, or the value before where results hold. */
static void spread(double *out, int64_t n, int64_t kept, const bool *keep, bool holds)
{
    for (int64_t i = n - 1; i >= 0; i--)
        out[i] = keep[i] ? out[--kept] : holds && kept ? out[kept - 1] : NA;
}

/* NumPy copies overlapping operands apart, except an output that lies exactly on an input, which
   would be safe if each value were made of its own bar alone. */
static bool is_written_over(const Row *row, int in)
{
    for (int k = 0; k < row->kernel->n_out; k++)
        if (row->at[row->kernel->n_in + k] == row->at[in])
            return true;
    return false;
}

static int run_row(Row *row)
{
    const Kernel *kernel = row->kernel;
    int operands = kernel->n_in + kernel->n_out;
    int64_t lead = 0, kept = row->n;
    bool *keep = NULL;

    /* Bars that are na at the very start need no copy: the kernel simply begins after them. */
    if (kernel->na != SEES_NA) {
        int64_t na = first_na_bar(row, 0);
        if (na == 0) {
            while (lead < row->n && is_na_at(row, lead))
                lead++;
            na = first_na_bar(row, lead);
        }
        kept = row->n - lead;
        if (na < row->n) {
            if (!(keep = room(&row->mask, (size_t)kept)))
                return -1;
            kept = 0;
            for (int64_t i = lead; i < row->n; i++)
                kept += keep[i - lead] = !is_na_at(row, i);
        }
    }

    int64_t n = row->n - lead, copies = 0;
    bool is_copied[MAX_IN + MAX_OUT];
    for (int k = 0; k < operands; k++) {
        bool is_input = k < kernel->n_in;
        bool contiguous = row->stride[k] == (npy_intp)item_size(kernel->type[k]);
        bool in_place = !is_input || (!keep && !is_written_over(row, k));
        is_copied[k] = kernel->is_series[k] && !(contiguous && in_place);
        copies += is_copied[k];
    }
    char *copy = NULL;
    if (copies && !(copy = room(&row->packed, (size_t)(copies * n) * sizeof(double))))
        return -1;

    Frame frame = {.n = kept, .scratch = &row->scratch};
    for (int k = 0; k < operands; k++) {
        bool is_input = k < kernel->n_in;
        char *at = row->at[k] + lead * row->stride[k];
        if (is_copied[k]) {
            if (is_input)
                pack(copy, at, row->stride[k], item_size(kernel->type[k]), n, keep);
            at = copy;
            copy += (size_t)n * sizeof(double);
        }
        if (is_input)
            frame.in[k] = at;
        else
            frame.out[k - kernel->n_in] = at;
    }

    if (kept > 0 && kernel->compute(&frame) < 0)
        return -1;

    for (int k = 0; k < kernel->n_out; k++) {
        int o = kernel->n_in + k;
        size_t item = item_size(kernel->type[o]);
        if (keep)
            spread(frame.out[k], n, kept, keep, kernel->na == HOLDS_NA);
        for (int64_t i = 0; i < lead; i++)
            *(double *)(row->at[o] + i * row->stride[o]) = NA;
        if (is_copied[o])
            for (int64_t i = 0; i < n; i++)
                memcpy(row->at[o] + (lead + i) * row->stride[o],
                       (char *)frame.out[k] + i * (int64_t)item, item);
    }
    return 0;
}

/* The rows of a batch do not depend on one another, so they are shared out among threads. A thread
   costs some 50 µs, and so many values take ten times as long. */
#define WORTH_A_THREAD (1 << 18)
#define MAX_THREADS 16

#if defined(_WIN32)
typedef int Thread;
static long processors(void) { return 1; }
static bool start_thread(Thread *thread, void *(*work)(void *), void *share) { return false; }
static void join_thread(Thread thread) {}
#else
typedef pthread_t Thread;

static long processors(void)
{
#if defined(__linux__)
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        return CPU_COUNT(&usable);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static bool start_thread(Thread *thread, void *(*work)(void *), void *share)
{
    return pthread_create(thread, NULL, work, share) == 0;
}

static void join_thread(Thread thread) { pthread_join(thread, NULL); }
#endif

/* Some of the rows of a call. */
typedef struct {
    const Kernel *kernel;
    char *at[MAX_IN + MAX_OUT];
    npy_intp rows, bars;
    const npy_intp *steps;
    int status;
} Share;

static void *run_share(void *given)
{
    Share *share = given;
    const Kernel *kernel = share->kernel;
    int count = kernel->n_in + kernel->n_out;
    Row row = {.kernel = kernel, .n = share->bars};
    const npy_intp *bar_step = share->steps + count;
    for (int k = 0; k < count; k++) {
        row.at[k] = share->at[k];
        row.stride[k] = kernel->is_series[k] ? *bar_step++ : 0;
    }
    for (npy_intp r = 0; r < share->rows && row.n > 0 && share->status == 0; r++) {
        share->status = run_row(&row);
        for (int k = 0; k < count; k++)
            row.at[k] += share->steps[k];
    }
    free(row.packed.start);
    free(row.mask.start);
    free(row.scratch.start);
    return NULL;
}

static long threads_asked; /* 0: as many as there are processors */

void read_threads(void)
{
    const char *asked = getenv("CHARTPACT_THREADS");
    threads_asked = asked ? strtol(asked, NULL, 10) : 0;
}

/* One for a call that is soon done. */
static int threads_for(npy_intp rows, npy_intp bars)
{
    if (rows < 2 || bars < 1 || rows < WORTH_A_THREAD / bars)
        return 1;
    long threads = threads_asked > 0 ? threads_asked : processors();
    if (threads > rows * bars / WORTH_A_THREAD)
        threads = (long)(rows * bars / WORTH_A_THREAD);
    return threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : (int)threads;
}

int run(const Kernel *kernel, char *const *operands, const npy_intp *dimensions,
        const npy_intp *steps)
{
    npy_intp rows = dimensions[0], bars = dimensions[1], begun = 0;
    int threads = threads_for(rows, bars), status = 0;
    Share shares[MAX_THREADS];
    Thread others[MAX_THREADS];
    for (int t = 0; t < threads; t++) {
        Share *share = &shares[t];
        *share = (Share){.kernel = kernel, .bars = bars, .steps = steps};
        share->rows = rows / threads + (t < rows % threads);
        for (int k = 0; k < kernel->n_in + kernel->n_out; k++)
            share->at[k] = operands[k] + begun * steps[k];
        begun += share->rows;
    }
    int started = 1; /* the first share is this thread's own */
    while (started < threads && start_thread(&others[started], run_share, &shares[started]))
        started++;
    run_share(&shares[0]);
    for (int t = started; t < threads; t++) /* of which the system had no threads left */
        run_share(&shares[t]);
    for (int t = 1; t < started; t++)
        join_thread(others[t]);
    for (int t = 0; t < threads; t++)
        status = shares[t].status ? shares[t].status : status;
    return status;
}

int run_slices(const Kernel *kernel, char *const *operands, const npy_intp *steps,
               const int64_t *first, int64_t n, int64_t longest)
{
    int status = 0;
    Row row = {.kernel = kernel};
    char *buffer = malloc((size_t)(kernel->n_out * longest) * sizeof(double) + 1);
    if (!buffer)
        return -1;
    for (int k = 0; k < kernel->n_in; k++)
        row.stride[k] = kernel->is_series[k] ? steps[k] : 0;
    for (int k = 0; k < kernel->n_out; k++) {
        row.stride[kernel->n_in + k] = steps[kernel->n_in + k];
        row.at[kernel->n_in + k] = buffer + (size_t)(k * longest) * sizeof(double);
    }
    for (int64_t i = 0; i < n && status == 0; i++) {
        row.n = i + 1 - first[i];
        for (int k = 0; k < kernel->n_in; k++)
            row.at[k] = operands[k] + (kernel->is_series[k] ? first[i] : i) * steps[k];
        status = run_row(&row);
        for (int k = kernel->n_in; k < kernel->n_in + kernel->n_out; k++)
            memcpy(operands[k] + i * steps[k], row.at[k] + (row.n - 1) * steps[k], (size_t)steps[k]);
    }
    free(row.packed.start);
    free(row.mask.start);
    free(row.scratch.start);
    free(buffer);
    return status;
}
