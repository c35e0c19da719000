"""The C kernels are used where they can be, and their absence is announced."""

import os
import shutil
import subprocess
import sys

import numpy as np

from chartpact.ta import kernels

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
BLOCKED = "import sys; sys.modules['chartpact._native'] = None; "


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    told = ("CHARTPACT_NO_NATIVE", "PYTHONWARNINGS")
    clean = {name: value for name, value in os.environ.items() if name not in told}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_where_there_is_a_compiler_every_kernel_runs_in_c():
    if COMPILER and not kernels.FORBIDDEN:
        assert kernels.status() == "C"
        assert set(kernels.NATIVE) == set(kernels.KERNELS)


def test_without_the_extension_the_reference_runs_and_says_so_once():
    code = BLOCKED + "from chartpact import ta; ta.sma([1], 1); print(ta.kernels.BACKEND)"
    done = run(code)
    assert done.stdout == "reference\n"
    assert done.stderr.count("SlowKernelsWarning") == 1
    assert "install a C compiler and reinstall chartpact" in done.stderr


def test_the_c_kernels_can_be_forbidden():
    code = "from chartpact import ta; print(ta.kernels.BACKEND, ta.kernels.status())"
    done = run(code, CHARTPACT_NO_NATIVE="1")
    assert done.stdout.startswith("reference reference (slow): CHARTPACT_NO_NATIVE")
    assert done.stderr == ""


def test_doctor_tells_which_kernels_run():
    from chartpact.cli.doctor import findings

    assert dict(findings())["kernels"] == kernels.status()


def test_the_reference_gives_the_same_numbers():
    code = (
        "import chartpact as cp; b = cp.load('sample:es-5m');"
        "print(round(cp.ta.rsi(b.close, 14)[-1], 9), round(cp.ta.atr(b, 14)[-1], 9))"
    )
    assert run(code).stdout == run(code, CHARTPACT_NO_NATIVE="1").stdout


def test_the_reference_never_warns_and_takes_any_length():
    x = np.array([1.0, 2, np.inf, np.inf, 5, -np.inf, 7])
    with np.errstate(all="raise"):
        assert kernels.Batched("macd")(x, 1, 2, 2)[0][1] == 0.5
        assert kernels.Batched("dmi")(x, x, x, 1, 1)[0][1] == 100
        assert np.isnan(kernels.Batched("alma")(x, 2**31 - 1, 0.85, 6.0)).all()
        assert np.isnan(kernels.Batched("stdev")(np.array([-1e300, 1e300]), 2, True)).all()
