/* The kernels as NumPy generalized ufuncs. */
#include <Python.h>
#include <fenv.h>

#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
#include <numpy/dtype_api.h>

#include "module.h"
#include "rows.h"

#define DECLARE_LOOP(name, signature, types) PyArrayMethod_StridedLoop values_##name;
VALUE_TABLE(DECLARE_LOOP)
#undef DECLARE_LOOP

static int run_loop(const Kernel *kernel, char *const *args, const npy_intp *dimensions,
                    const npy_intp *steps)
{
    int status = run(kernel, args, dimensions, steps);
    /* Comparing with NaN raises the invalid flag, which NumPy would report to the user. */
    feclearexcept(FE_ALL_EXCEPT);
    if (status < 0) {
        PyGILState_STATE gil = PyGILState_Ensure();
        PyErr_NoMemory();
        PyGILState_Release(gil);
    }
    return status;
}

#define LOOP(name, signature, types, na)                                                           \
    static int loop_##name(PyArrayMethod_Context *context, char *const *args,                      \
                           const npy_intp *dimensions, const npy_intp *steps, NpyAuxData *data)    \
    {                                                                                              \
        (void)context, (void)data;                                                                 \
        return run_loop(&kernels[KERNEL_##name], args, dimensions, steps);                         \
    }
KERNEL_TABLE(LOOP)
#undef LOOP

static PyArrayMethod_StridedLoop *const loops[KERNELS] = {
#define ENTRY(name, signature, types, na) loop_##name,
    KERNEL_TABLE(ENTRY)
#undef ENTRY
};

/* Arithmetic and comparisons have no series, so NumPy walks them value by value. */
static Kernel value_kernels[] = {
#define ENTRY(name, signature, types) {#name, signature, types, SEES_NA, NULL, 0, 0, {0}, {false}},
    VALUE_TABLE(ENTRY)
#undef ENTRY
};

static PyArrayMethod_StridedLoop *const value_loops[] = {
#define ENTRY(name, signature, types) values_##name,
    VALUE_TABLE(ENTRY)
#undef ENTRY
};

enum { VALUE_KERNELS = sizeof value_kernels / sizeof *value_kernels };

static PyArray_DTypeMeta *dtype(char type)
{
    PyArray_Descr *descr =
        PyArray_DescrFromType(type == 'd' ? NPY_DOUBLE : type == 'q' ? NPY_INT64 : NPY_BOOL);
    PyArray_DTypeMeta *meta = NPY_DTYPE((PyObject *)descr);
    Py_DECREF((PyObject *)descr); /* the builtin types live as long as NumPy */
    return meta;
}

/* Whatever number types come in, the one loop of the ufunc is asked for; NumPy's casting rule then
   decides whether they may be converted to it. */
static int promote(PyObject *ufunc, PyArray_DTypeMeta *const given[],
                   PyArray_DTypeMeta *const signature[], PyArray_DTypeMeta *wanted[])
{
    (void)given, (void)signature;
    const char *name = ((PyUFuncObject *)ufunc)->name;
    for (int k = 0; k < KERNELS + VALUE_KERNELS; k++) {
        const Kernel *kernel = k < KERNELS ? &kernels[k] : &value_kernels[k - KERNELS];
        if (kernel->name != name)
            continue;
        for (int o = 0; o < kernel->n_in + kernel->n_out; o++)
            wanted[o] = NPY_DT_NewRef(dtype(kernel->type[o]));
        return 0;
    }
    return -1;
}

static int add_promoter(PyObject *ufunc, int operands)
{
    PyObject *any = PyTuple_New(operands);
    for (int o = 0; any && o < operands; o++)
        PyTuple_SetItem(any, o, Py_NewRef(Py_None));
    PyObject *promoter = PyCapsule_New((void *)promote, "numpy._ufunc_promoter", NULL);
    int status = any && promoter ? PyUFunc_AddPromoter(ufunc, any, promoter) : -1;
    Py_XDECREF(any);
    Py_XDECREF(promoter);
    return status;
}

static int add_kernel(PyObject *module, const Kernel *kernel, PyArrayMethod_StridedLoop *loop)
{
    PyObject *ufunc = PyUFunc_FromFuncAndDataAndSignature(
        NULL, NULL, NULL, 0, kernel->n_in, kernel->n_out, PyUFunc_None, kernel->name, NULL, 0,
        kernel->signature);
    if (!ufunc)
        return -1;

    PyArray_DTypeMeta *dtypes[MAX_IN + MAX_OUT];
    for (int o = 0; o < kernel->n_in + kernel->n_out; o++)
        dtypes[o] = dtype(kernel->type[o]);
    PyType_Slot slots[] = {{NPY_METH_strided_loop, (void *)loop}, {0, NULL}};
    PyArrayMethod_Spec spec = {
        .name = kernel->name,
        .nin = kernel->n_in,
        .nout = kernel->n_out,
        .casting = NPY_NO_CASTING,
        .flags = NPY_METH_NO_FLOATINGPOINT_ERRORS,
        .dtypes = dtypes,
        .slots = slots,
    };
    if (PyUFunc_AddLoopFromSpec(ufunc, &spec) < 0
        || add_promoter(ufunc, kernel->n_in + kernel->n_out) < 0
        || PyModule_AddObjectRef(module, kernel->name, ufunc) < 0) {
        Py_DECREF(ufunc);
        return -1;
    }
    Py_DECREF(ufunc);
    return 0;
}

int add_kernels(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0)
        return -1;
    read_signatures(kernels, KERNELS);
    read_signatures(value_kernels, VALUE_KERNELS);
    read_threads();
    for (int k = 0; k < KERNELS; k++)
        if (add_kernel(module, &kernels[k], loops[k]) < 0)
            return -1;
    for (int k = 0; k < VALUE_KERNELS; k++)
        if (add_kernel(module, &value_kernels[k], value_loops[k]) < 0)
            return -1;
    return 0;
}
