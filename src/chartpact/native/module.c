/* The package's one extension module: the numeric kernels (later also the process hardening). */
#include <Python.h>

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "chartpact._native", NULL, -1};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&module); }
