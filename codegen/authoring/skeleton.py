"""The skeleton of an entry: everything an author may want to say, with a word on each."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic, Span, SpecError
from ..spec.model import REQUIRED, Param, Signature
from ..spec.signature import SignatureError, parse_signature

TO_DO = "TODO"
"""Stands where the author has to write; no formula may call anything so, and the loader says it."""

TEXT = "SIGNATURE"
"""The file that mistakes in the signature are said to be in."""

_EXAMPLE_VALUES = {"int": "0", "bool": "false", "float": "0.5", "Scalar": "2", "str": TO_DO}


def read_signature(text: str) -> Signature:
    """A signature, or a bare name for an op of one tensor. Raises SpecError."""
    try:
        return parse_signature(text if "(" in text else f"{text}(Tensor self) -> Tensor")
    except SignatureError as error:
        width = max(1, error.span.end - error.span.start)
        span = Span(TEXT, 1, error.span.start + 1, width)
        raise SpecError([Diagnostic(error.code, span, error.message, error.help)]) from None


def skeleton(signature: Signature, spelled: str, *, composite: bool = False) -> str:
    """An entry to fill in; `spelled` is the signature as it shall stand there."""
    return "".join(f"{line}\n" for line in _lines(signature, spelled, composite))


def _lines(signature: Signature, spelled: str, composite: bool) -> Iterator[str]:
    yield f"- name: {spelled}"
    yield f"  doc: {TO_DO}, one line for its users."
    if composite:
        yield "  # What it computes, by calls of other ops; its gradient follows from theirs."
        yield f"  composite: {TO_DO}"
        yield from _examples(signature)
        return
    elementwise = _is_elementwise(signature)
    yield "  # What it computes, on arrays: operators, ops of the table, np.*, sp.*, kernels.*."
    yield f"  forward: {TO_DO}"
    yield from _rules(signature, elementwise)
    if elementwise:
        yield "  # Brought to one dtype; they broadcast, and their gradients are summed back."
        yield f"  promotes: {', '.join(p.name for p in signature.tensor_params)}"
        yield "  # Where it is defined and smooth, if not everywhere:"
        yield f"  # domain: {{{signature.params[0].name}: positive}}"
        yield "  # The factor of `grad` where pieces meet, if it has any:"
        yield f'  # kinks: {{"{signature.params[0].name} == 0": 0}}'
    elif tensors := [p.name for p in signature.tensor_params if not p.type.is_list]:
        yield "  # Which calls are meant, if not all: others are refused, and not proved."
        yield f"  # requires: {tensors[0]}.ndim == 2"
    yield "  # Also a method of tensors:"
    yield "  # variants: function, method"
    yield from _examples(signature)


def _rules(signature: Signature, elementwise: bool) -> Iterator[str]:
    outputs = signature.outputs
    several = len(outputs) > 1 or outputs[0].type.is_list
    grads = ", ".join(f"`grad_{output.name}`" for output in outputs) if several else "`grad`"
    yield f"  # The VJP of each tensor, linear in {grads}; or non_differentiable."
    if elementwise:
        yield "  # `auto` is what sympy derives, `gradspec explain` shows it."
    for param in signature.tensor_params:
        yield f"  {param.name}: {'auto' if elementwise else TO_DO}"
    if elementwise:
        yield "  # The JVP: the VJP, with the tangents for `grad`."
        yield f"  {outputs[0].name}: auto_element_wise"
        return
    tangents = ", ".join(f"`{p.name}_t`" for p in signature.tensor_params)
    yield f"  # The JVP of each output, of the tangents {tangents}; or auto_linear."
    for output in outputs:
        yield f"  {output.name}: {TO_DO}"


def _examples(signature: Signature) -> Iterator[str]:
    yield "  # Calls to prove, test and document it with: shapes, or data such as {int: [0, 2]}."
    yield "  examples:"
    given = [param for param in signature.params if param.default is REQUIRED]
    yield f"    - {{{', '.join(f'{p.name}: {_example(p)}' for p in given)}}}"


def _example(param: Param) -> str:
    if param.type.is_tensor_list:
        return "[[2, 3], [2, 3]]"
    if param.type.base == "Tensor":
        return "[2, 3]"
    value = _EXAMPLE_VALUES.get(param.type.base, TO_DO)
    return f"[{value}]" if param.type.is_list else value


def _is_elementwise(signature: Signature) -> bool:
    """A guess: one tensor out of tensors and numbers."""
    return (
        len(signature.outputs) == 1
        and signature.outputs[0].type.is_tensor
        and all(p.type.is_tensor or p.type.base in ("Scalar", "float") for p in signature.params)
    )
