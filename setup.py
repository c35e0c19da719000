"""Builds the one C extension; everything else is declared in pyproject.toml."""

import os
from glob import glob

import numpy
from setuptools import Extension, setup

ABI = 0x030B0000  # CPython 3.11 and later share one binary

native = Extension(
    "chartpact._native",
    sources=sorted(glob("src/chartpact/native/*.c")),
    depends=sorted(glob("src/chartpact/native/*.h")),
    include_dirs=[numpy.get_include()],
    define_macros=[
        ("Py_LIMITED_API", str(ABI)),
        ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
        ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
    ],
    extra_compile_args=[
        "-O3",
        "-std=c11",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-Wextra",
    ],
    py_limited_api=True,
    # Without a compiler the package still installs and says that it runs on the reference.
    optional="CHARTPACT_REQUIRE_NATIVE" not in os.environ,
)

setup(ext_modules=[native], options={"bdist_wheel": {"py_limited_api": "cp311"}})
