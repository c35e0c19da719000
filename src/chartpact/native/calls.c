/* Kernels called as plain functions, past the machinery of a ufunc.

   A ufunc call finds a loop by the types of its operands, plans casts and broadcasts, and takes a
   microsecond for it: as long as most kernels take for 500 bars. Here the operands must be as the
   kernel takes them. Where they are not, the answer is None, and the caller takes the longer way. */
#include <Python.h>
#include <string.h>

#include <numpy/arrayobject.h>

#include "module.h"
#include "rows.h"

PyObject *new_result(int axes, npy_intp *shape, int type); /* buffers.c; NULL where memory lacks */

#define LONG_RUN 8192 /* bars from which on other threads may run meanwhile */

typedef struct {
    const Kernel *kernel;
    double least[MAX_IN], most[MAX_IN]; /* of numbers */
} Call;

typedef union {
    int64_t integer;
    double real;
    bool truth;
} Number;

static int type_number(char type) { return type == 'd' ? NPY_DOUBLE : NPY_BOOL; }

/* An array of the kernel's type, shaped like the first one. Strides are followed along a single
   series; a batch lies in one piece. */
static bool is_ready(PyObject *value, char type, PyArrayObject *first)
{
    if (!PyArray_CheckExact(value))
        return false;
    PyArrayObject *array = (PyArrayObject *)value;
    int axes = PyArray_NDIM(array);
    return PyArray_TYPE(array) == type_number(type) && axes >= 1 && PyArray_ISBEHAVED_RO(array)
           && (axes == 1 || PyArray_IS_C_CONTIGUOUS(array))
           && (!first
               || (PyArray_NDIM(first) == axes
                   && !memcmp(PyArray_DIMS(first), PyArray_DIMS(array),
                              (size_t)axes * sizeof(npy_intp))));
}

/* A number within its bounds, of the very type that is asked for; an int may stand for a float. */
static bool read_number(PyObject *value, char type, double least, double most, Number *number)
{
    if (type == '?') {
        number->truth = value == Py_True;
        return value == Py_True || value == Py_False;
    }
    double real;
    if (PyLong_CheckExact(value)) {
        int overflow;
        long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        real = (double)integer;
        if (overflow)
            return false;
        number->integer = integer;
    } else if (type == 'd' && PyFloat_CheckExact(value)) {
        real = PyFloat_AsDouble(value);
    } else {
        return false;
    }
    if (type == 'd')
        number->real = real;
    return least <= real && real <= most;
}

static PyObject *compute(const Call *call, char **operands, npy_intp *steps, PyArrayObject *like)
{
    const Kernel *kernel = call->kernel;
    int axes = PyArray_NDIM(like);
    npy_intp *shape = PyArray_DIMS(like), dimensions[2] = {1, shape[axes - 1]};
    for (int axis = 0; axis < axes - 1; axis++)
        dimensions[0] *= shape[axis];

    PyObject *results[MAX_OUT] = {NULL};
    int count = kernel->n_in + kernel->n_out, status = 0;
    for (int k = kernel->n_in; k < count && status == 0; k++) {
        PyObject *result = new_result(axes, shape, type_number(kernel->type[k]));
        results[k - kernel->n_in] = result;
        operands[k] = result ? PyArray_BYTES((PyArrayObject *)result) : NULL;
        status = result ? 0 : -1;
    }
    npy_intp *bar_step = steps + count;
    for (int k = 0; k < count; k++) {
        if (!kernel->is_series[k])
            continue;
        npy_intp item = kernel->type[k] == 'd' ? sizeof(double) : sizeof(bool);
        *bar_step++ = k < kernel->n_in && axes == 1 ? steps[k] : item;
        steps[k] = item * dimensions[1];
    }
    if (status == 0 && dimensions[0] * dimensions[1] < LONG_RUN) {
        status = run(kernel, operands, dimensions, steps);
    } else if (status == 0) {
        PyThreadState *thread = PyEval_SaveThread();
        status = run(kernel, operands, dimensions, steps);
        PyEval_RestoreThread(thread);
    }
    if (status == 0 && kernel->n_out == 1)
        return results[0];
    PyObject *together = status == 0 ? PyTuple_New(kernel->n_out) : PyErr_NoMemory();
    for (int k = 0; k < kernel->n_out; k++)
        if (together)
            PyTuple_SetItem(together, k, results[k]);
        else
            Py_XDECREF(results[k]);
    return together;
}

static PyObject *call_kernel(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Call *call = PyCapsule_GetPointer(self, NULL);
    const Kernel *kernel = call->kernel;
    Number numbers[MAX_IN];
    char *operands[MAX_IN + MAX_OUT];
    npy_intp steps[2 * (MAX_IN + MAX_OUT)] = {0};
    PyArrayObject *first = NULL;
    if (count != kernel->n_in)
        Py_RETURN_NONE;
    for (int k = 0; k < kernel->n_in; k++) {
        if (kernel->is_series[k]) {
            if (!is_ready(given[k], kernel->type[k], first))
                Py_RETURN_NONE;
            PyArrayObject *array = (PyArrayObject *)given[k];
            first = first ? first : array;
            operands[k] = PyArray_BYTES(array);
            steps[k] = PyArray_STRIDES(array)[0];
        } else {
            if (!read_number(given[k], kernel->type[k], call->least[k], call->most[k], &numbers[k]))
                Py_RETURN_NONE;
            operands[k] = (char *)&numbers[k];
        }
    }
    return compute(call, operands, steps, first);
}

static PyMethodDef kernel_call = {"kernel", (PyCFunction)(void (*)(void))call_kernel, METH_FASTCALL,
                                  "The kernel's result, or None where an argument must be "
                                  "converted first."};

static void forget(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, NULL)); }

static PyObject *direct_call(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name;
    PyObject *least, *most;
    if (!PyArg_ParseTuple(args, "sO!O!", &name, &PyTuple_Type, &least, &PyTuple_Type, &most))
        return NULL;
    const Kernel *kernel = NULL;
    for (int k = 0; k < KERNELS; k++)
        if (!strcmp(kernels[k].name, name))
            kernel = &kernels[k];
    if (!kernel || PyTuple_Size(least) != kernel->n_in || PyTuple_Size(most) != kernel->n_in)
        return PyErr_Format(PyExc_ValueError, "no kernel %s with %zd inputs", name,
                            PyTuple_Size(least));
    Call *call = PyMem_Malloc(sizeof *call);
    if (!call)
        return PyErr_NoMemory();
    call->kernel = kernel;
    for (int k = 0; k < kernel->n_in; k++) {
        call->least[k] = PyFloat_AsDouble(PyTuple_GetItem(least, k));
        call->most[k] = PyFloat_AsDouble(PyTuple_GetItem(most, k));
    }
    PyObject *self = PyErr_Occurred() ? NULL : PyCapsule_New(call, NULL, forget);
    if (!self) {
        PyMem_Free(call);
        return NULL;
    }
    PyObject *function = PyCFunction_NewEx(&kernel_call, self, NULL);
    Py_DECREF(self);
    return function;
}

static PyMethodDef methods[] = {
    {"direct_call", direct_call, METH_VARARGS,
     "direct_call(kernel, least, most): the kernel as a plain function of ready arguments, whose "
     "numbers lie within these bounds."},
    {NULL, NULL, 0, NULL},
};

int add_calls(PyObject *module)
{
    return PyArray_ImportNumPyAPI() < 0 ? -1 : PyModule_AddFunctions(module, methods);
}
