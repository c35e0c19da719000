/* What each part of the extension adds to the module. */
#ifndef CHARTPACT_MODULE_H
#define CHARTPACT_MODULE_H

#include <Python.h>

int add_kernels(PyObject *module);
int add_buffers(PyObject *module);
int add_calls(PyObject *module);
int add_slices(PyObject *module);
int add_hardening(PyObject *module);
int add_keys(PyObject *module);

#endif
