"""Builds the one C extension and adds the documentation; the rest is in pyproject.toml."""

import os
from glob import glob
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy
from setuptools import Extension, setup
from setuptools.command.build_py import build_py

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


class BuildWithDocs(build_py):
    """Copies docs/ into the package, which reads it there; a checkout has its own."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "chartpact", "docs")
            copytree("docs", target, ignore=ignore_patterns("*.py", "*.toml", "__pycache__"),
                     dirs_exist_ok=True)  # fmt: skip


setup(
    cmdclass={"build_py": BuildWithDocs},
    ext_modules=[native],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
