/* Arithmetic as ufuncs, by Pine's rule for what has no value: a result that is infinite though
   no operand is becomes na. Nothing is reported as a floating-point error. */
#include <Python.h>
#include <fenv.h>
#include <float.h>

#include <numpy/arrayobject.h>
#include <numpy/dtype_api.h>

#include "kernels.h"

/* x - x is 0 for a finite x and NaN for any other. */
static inline double without_infinity(double result, double x, double y)
{
    return (fabs(result) > DBL_MAX) & ((x - x) + (y - y) == 0) ? NA : result;
}

/* Operands that lie in one piece, or are one number for all, have loops that the compiler can make
   wide; other strides are rare. */
#define EACH(sx, sy, so, expression)                                                               \
    for (npy_intp i = 0; i < n; i++) {                                                             \
        double x = *(const double *)(at_x + i * (sx)), y = *(const double *)(at_y + i * (sy));     \
        *(double *)(at_out + i * (so)) = without_infinity(expression, x, y);                       \
    }

#define ARITHMETIC(name, expression)                                                               \
    WIDE static void name##_values(const char *at_x, const char *at_y, char *at_out,               \
                                   const npy_intp *step, npy_intp n)                               \
    {                                                                                              \
        const npy_intp next = sizeof(double);                                                      \
        if (step[2] == next && step[0] == next && step[1] == next)                                 \
            EACH(next, next, next, expression)                                                     \
        else if (step[2] == next && step[0] == next && step[1] == 0)                               \
            EACH(next, 0, next, expression)                                                        \
        else if (step[2] == next && step[0] == 0 && step[1] == next)                               \
            EACH(0, next, next, expression)                                                        \
        else                                                                                       \
            EACH(step[0], step[1], step[2], expression)                                            \
    }

ARITHMETIC(add, x + y)
ARITHMETIC(sub, x - y)
ARITHMETIC(mul, x * y)
ARITHMETIC(div, x / y)
ARITHMETIC(sqrt, sqrt(x))

#define LOOP(name, first, second, result)                                                          \
    int values_##name(PyArrayMethod_Context *context, char *const *data,                           \
                      const npy_intp *dimensions, const npy_intp *strides, NpyAuxData *extra)      \
    {                                                                                              \
        const npy_intp step[] = {strides[first], strides[second], strides[result]};                \
        (void)context, (void)extra;                                                                \
        name##_values(data[first], data[second], data[result], step, dimensions[0]);               \
        feclearexcept(FE_ALL_EXCEPT);                                                              \
        return 0;                                                                                  \
    }

LOOP(add, 0, 1, 2)
LOOP(sub, 0, 1, 2)
LOOP(mul, 0, 1, 2)
LOOP(div, 0, 1, 2)
LOOP(sqrt, 0, 0, 1) /* the one operand is taken for both */
