/* The package's one extension module; every part of it adds its own names. */
#include "module.h"

static int (*const parts[])(PyObject *module) = {
    add_kernels,
    add_buffers,
    add_calls,
    add_slices,
    add_hardening,
    add_keys,
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "chartpact._native", .m_size = -1};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k](module) < 0) {
            Py_DECREF(module);
            return NULL;
        }
    return module;
}
