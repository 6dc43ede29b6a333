"""A method of a tensor means what the function of its name means."""

from __future__ import annotations

from gradspec_codegen.ir.members import fault_of_method
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.target import builtin_spec


def test_what_takes_the_tensor_in_another_place_is_no_method() -> None:
    ops = [op.signature for op in load_table(builtin_spec()).ops]
    elsewhere = {
        signature.name
        for signature in ops
        if "self" in [param.name for param in signature.params[1:]]
    }
    assert "where" in elsewhere
    assert {name for name in elsewhere if fault_of_method(name) is None} == set()
