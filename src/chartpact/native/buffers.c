/* Memory of large results.

   The system zeroes the pages that it hands out, and takes them back when an array is let go. For a
   batch of series that costs as much as many a kernel. So the memory of the last large results is kept
   for the next ones, up to KEPT_BYTES. NumPy asks for memory and lets go of it while it holds the
   interpreter's lock. */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#endif

#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include <numpy/arrayobject.h>

#include "module.h"

#define LARGE ((size_t)4 << 20)
#define PAGE ((size_t)2 << 20) /* a huge page; sizes are rounded up to whole ones */
#define KEPT_BYTES ((size_t)64 << 20)
#define KEPT_BUFFERS 8

/* In front of the memory that is handed out, which begins with a line of the cache. */
typedef struct {
    size_t bytes; /* with this */
    char padding[64 - sizeof(size_t)];
} Header;

static Header *kept[KEPT_BUFFERS]; /* oldest first */
static int kept_count;
static size_t kept_bytes;

static Header *remove_kept(int at)
{
    Header *buffer = kept[at];
    kept_bytes -= buffer->bytes;
    kept_count--;
    memmove(kept + at, kept + at + 1, (size_t)(kept_count - at) * sizeof *kept);
    return buffer;
}

static void *take(void *context, size_t asked)
{
    (void)context;
    if (asked > SIZE_MAX / 2)
        return NULL;
    size_t bytes = (asked + sizeof(Header) + PAGE - 1) / PAGE * PAGE;
    for (int k = kept_count - 1; k >= 0; k--)
        if (kept[k]->bytes == bytes)
            return remove_kept(k) + 1;
    Header *buffer = aligned_alloc(PAGE, bytes);
    if (!buffer)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(buffer, bytes, MADV_HUGEPAGE);
#endif
    buffer->bytes = bytes;
    return buffer + 1;
}

static void give_back(void *context, void *start, size_t asked)
{
    (void)context, (void)asked;
    if (!start)
        return;
    Header *buffer = (Header *)start - 1;
    if (buffer->bytes > KEPT_BYTES) {
        free(buffer);
        return;
    }
    while (kept_count == KEPT_BUFFERS || kept_bytes + buffer->bytes > KEPT_BYTES)
        free(remove_kept(0));
    kept[kept_count++] = buffer;
    kept_bytes += buffer->bytes;
}

static void *take_zeros(void *context, size_t count, size_t size)
{
    void *start = size && count > SIZE_MAX / size ? NULL : take(context, count * size);
    return start ? memset(start, 0, count * size) : NULL;
}

static void *resize(void *context, void *start, size_t asked)
{
    void *moved = take(context, asked);
    if (moved && start) {
        size_t had = ((Header *)start - 1)->bytes - sizeof(Header);
        memcpy(moved, start, had < asked ? had : asked);
        give_back(context, start, 0);
    }
    return moved;
}

static PyDataMem_Handler handler = {
    "chartpact_results",
    1,
    {NULL, take, take_zeros, resize, give_back},
};

static PyObject *capsule;

PyObject *new_result(int axes, npy_intp *shape, int type)
{
    size_t bytes = type == NPY_DOUBLE ? sizeof(double) : sizeof(npy_bool);
    for (int axis = 0; axis < axes; axis++)
        bytes *= (size_t)shape[axis];
    if (bytes < LARGE)
        return PyArray_SimpleNew(axes, shape, type);
    PyObject *before = PyDataMem_SetHandler(capsule);
    PyObject *result = before ? PyArray_SimpleNew(axes, shape, type) : NULL;
    if (!result)
        PyErr_Clear(); /* the caller tells of it */
    PyObject *ours = before ? PyDataMem_SetHandler(before) : NULL;
    Py_XDECREF(before);
    Py_XDECREF(ours);
    return result;
}

int add_buffers(PyObject *module)
{
    (void)module;
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    return capsule ? 0 : -1;
}
