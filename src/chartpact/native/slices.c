/* A kernel over windows of changing length: each bar has the last value of the kernel over the bars
   from a first one on. */
#include <Python.h>
#include <string.h>

#include <numpy/arrayobject.h>

#include "module.h"
#include "rows.h"

static int type_number(char type)
{
    return type == 'd' ? NPY_DOUBLE : type == 'q' ? NPY_INT64 : NPY_BOOL;
}

/* An array of this type, in one piece, of n values; of a number also one for all bars. */
static bool fits(PyObject *value, char type, npy_intp n, bool or_one)
{
    if (!PyArray_CheckExact(value))
        return false;
    PyArrayObject *array = (PyArrayObject *)value;
    npy_intp size = PyArray_SIZE(array);
    return PyArray_TYPE(array) == type_number(type) && PyArray_ISCARRAY_RO(array)
           && (size == n || (or_one && size == 1));
}

/* The longest slice, or -1 where a first bar is not one of those up to its own bar. */
static npy_intp longest_slice(const int64_t *first, npy_intp n)
{
    npy_intp longest = 0;
    for (npy_intp i = 0; i < n; i++) {
        if (first[i] < 0 || first[i] > i)
            return -1;
        longest = i + 1 - first[i] > longest ? i + 1 - first[i] : longest;
    }
    return longest;
}

static PyObject *last_values(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
    (void)module;
    const char *name = count ? PyUnicode_AsUTF8AndSize(given[0], NULL) : NULL;
    if (count && !name)
        return NULL;
    const Kernel *kernel = NULL;
    for (int k = 0; name && k < KERNELS; k++)
        if (!strcmp(kernels[k].name, name))
            kernel = &kernels[k];
    if (!kernel || count != kernel->n_in + 2 || !PyArray_CheckExact(given[1]))
        return PyErr_Format(PyExc_ValueError, "no such kernel, or not its inputs");
    npy_intp n = PyArray_SIZE((PyArrayObject *)given[1]);
    bool fit = fits(given[1], 'q', n, false);
    char *operands[MAX_IN + MAX_OUT];
    npy_intp steps[MAX_IN + MAX_OUT];
    for (int k = 0; fit && k < kernel->n_in; k++) {
        PyObject *value = given[k + 2];
        fit = fits(value, kernel->type[k], n, !kernel->is_series[k]);
        if (!fit)
            break;
        PyArrayObject *array = (PyArrayObject *)value;
        operands[k] = PyArray_BYTES(array);
        steps[k] = PyArray_SIZE(array) == n ? PyArray_ITEMSIZE(array) : 0;
    }
    const int64_t *first = fit ? PyArray_DATA((PyArrayObject *)given[1]) : NULL;
    npy_intp longest = fit ? longest_slice(first, n) : -1;
    if (longest < 0)
        return PyErr_Format(PyExc_ValueError, "%s: operands of other types or sizes", name);

    PyObject *results = PyTuple_New(kernel->n_out);
    for (int k = 0; results && k < kernel->n_out; k++) {
        int o = kernel->n_in + k;
        PyObject *result = PyArray_SimpleNew(1, &n, type_number(kernel->type[o]));
        if (!result) {
            Py_DECREF(results);
            return NULL;
        }
        operands[o] = PyArray_BYTES((PyArrayObject *)result);
        steps[o] = PyArray_ITEMSIZE((PyArrayObject *)result);
        PyTuple_SetItem(results, k, result);
    }
    if (!results)
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    int status = run_slices(kernel, operands, steps, first, n, longest);
    PyEval_RestoreThread(thread);
    if (status < 0) {
        Py_DECREF(results);
        return PyErr_NoMemory();
    }
    return results;
}

static PyMethodDef methods[] = {
    {"last_values", (PyCFunction)(void (*)(void))last_values, METH_FASTCALL,
     "last_values(kernel, first, *inputs): for each bar, the last results of the kernel over the "
     "bars from first[bar] on; a number is one for all bars or one for each."},
    {NULL, NULL, 0, NULL},
};

int add_slices(PyObject *module)
{
    return PyArray_ImportNumPyAPI() < 0 ? -1 : PyModule_AddFunctions(module, methods);
}
