"""Outcomes of a derivation: rules that are words, and the error where none can be derived."""

from __future__ import annotations

from ..diagnostics import Diagnostic, SpecError
from ..spec.model import Auto, OpSpec

NO_GRADIENT = "non_differentiable"
ELEMENTWISE = "auto_element_wise"
"""Rules that are words, as an author would write them."""

KERNEL = "kernel"
"""The key of the definition with names for the values that derived VJPs share with it."""


def refused(op: OpSpec, of: str, rule: Auto, reason: str) -> SpecError:
    """The mistake of a rule that cannot be derived."""
    message = f"no derivative of `{op.name}` by `{of}` can be derived: {reason}"
    if of in {output.name for output in op.signature.outputs}:
        message = f"no JVP of `{of}` of `{op.name}` can be derived: {reason}"
    help = "write the formula" if rule.is_given else f"add `{of}: <formula>`"
    return SpecError([Diagnostic("GS072", rule.span, message, help)])
