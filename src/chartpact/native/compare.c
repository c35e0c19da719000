/* Pine's comparisons as ufuncs: values within EPSILON are equal, and with na every one is false.

   A difference of infinities of one sign is NaN, so that <= >= == ask for plain order as well. */
#include <Python.h>
#include <fenv.h>

#include <numpy/arrayobject.h>
#include <numpy/dtype_api.h>

#include "kernels.h"

/* One side may be a single number; any other layout is walked by its strides. */
#define COMPARISON(name, result)                                                                   \
    WIDE static void name##_series(const double *a, const double *b, bool *out, npy_intp n)        \
    {                                                                                              \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            double x = a[i], y = b[i];                                                             \
            out[i] = result;                                                                       \
        }                                                                                          \
    }                                                                                              \
    WIDE static void name##_number(const double *a, double y, bool *out, npy_intp n)               \
    {                                                                                              \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            double x = a[i];                                                                       \
            out[i] = result;                                                                       \
        }                                                                                          \
    }                                                                                              \
    int values_##name(PyArrayMethod_Context *context, char *const *data,                           \
                      const npy_intp *dimensions, const npy_intp *strides, NpyAuxData *extra)      \
    {                                                                                              \
        (void)context, (void)extra;                                                                \
        const char *a = data[0], *b = data[1];                                                     \
        char *out = data[2];                                                                       \
        npy_intp n = dimensions[0];                                                                \
        bool packed = strides[0] == sizeof(double) && strides[2] == sizeof(bool);                  \
        if (packed && strides[1] == sizeof(double))                                                \
            name##_series((const double *)a, (const double *)b, (bool *)out, n);                   \
        else if (packed && strides[1] == 0)                                                        \
            name##_number((const double *)a, *(const double *)b, (bool *)out, n);                  \
        else                                                                                       \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                double x = *(const double *)(a + i * strides[0]);                                  \
                double y = *(const double *)(b + i * strides[1]);                                  \
                *(bool *)(out + i * strides[2]) = result;                                          \
            }                                                                                      \
        feclearexcept(FE_ALL_EXCEPT);                                                              \
        return 0;                                                                                  \
    }

COMPARISON(lt, y - x > EPSILON)
COMPARISON(gt, x - y > EPSILON)
COMPARISON(le, (x <= y) | (x - y <= EPSILON))
COMPARISON(ge, (x >= y) | (y - x <= EPSILON))
COMPARISON(eq, (x == y) | (fabs(x - y) <= EPSILON))
COMPARISON(ne, fabs(x - y) > EPSILON)
