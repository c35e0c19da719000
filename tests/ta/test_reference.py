"""The kernel table and the reference speak of the same functions."""

import inspect

from chartpact.ta import reference
from chartpact.ta.kernels import KERNELS


def public_functions():
    members = inspect.getmembers(reference, inspect.isfunction)
    return {
        name: function
        for name, function in members
        if not name.startswith("_") and function.__module__ == reference.__name__
    }


def test_every_kernel_has_a_reference_and_every_reference_a_kernel():
    assert set(public_functions()) == set(KERNELS)


def test_a_reference_takes_what_its_kernel_takes_and_says_its_na_rule():
    for name, function in public_functions().items():
        signature, types = KERNELS[name]
        inputs = types.split("->")[0]
        assert len(inspect.signature(function).parameters) == len(inputs), name
        assert signature.split("->")[0].count("(") == len(inputs), name
        assert function.__doc__, name
