"""The parts of an entry that have no place in the code of a framework."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..diagnostics import Diagnostic
from ..ir.walk import calls
from ..spec.model import Constant, NotImplementedYet, OpSpec
from ..target import builtin_spec
from .frameworks import Framework


def refusals(op: OpSpec, framework: Framework) -> Iterable[Diagnostic]:
    """Say what of an op has no place in the code of a framework."""
    is_computed = op.target_kernel(framework.name) is not None
    if has_kernel(op) and not (is_computed or has_its_own(op, framework)):
        message = f"`{op.name}` is defined by a kernel on NumPy's arrays"
        help = "say in `forward` what it computes, and keep `kernel` for NumPy; or name a kernel "
        yield refusal(op, message, f"{help}for it: `{framework.name}: {{kernel: module.function}}`")
    if op.custom_op and framework.name == "torch":
        yield from _no_custom_op(op)
    lists = [p for p in op.signature.params if p.type.is_tensor_list]
    if len(lists) > 1 or any(p.type.has_optional_items for p in lists):
        message = f"`{op.name}` takes several lists of tensors, or lists with gaps"
        yield refusal(op, message, "take one list of tensors")
    if any(p.type.base == "Generator" for p in op.signature.params):
        yield refusal(op, f"`{op.name}` takes a generator of random numbers", "draw them before")
    for param in op.signature.tensor_params:
        rule = op.rule(param.name)
        if framework.requires_grad is None and isinstance(rule, Constant | NotImplementedYet):
            message = f"{framework.title} cannot tell who asks for the gradient by `{param.name}`"
            yield refusal(op, message, "give it a rule, or call it `non_differentiable`")


def _no_custom_op(op: OpSpec) -> Iterable[Diagnostic]:
    """Say why `torch.library` cannot be told of an op."""
    if has_kernel(op):
        message = f"`{op.name}` has no formula that tells PyTorch the shape of its result"
        yield refusal(
            op, message, "say in `forward` what it computes; a kernel may stand beside it"
        )
    if any(p.type.is_tensor_list for p in op.signature.params):
        message = f"`{op.name}` takes a list of tensors, which `custom_op` does not take"
        yield refusal(op, message, "leave out `custom_op`")
    if op.signature.outputs[0].type.is_list or op.signature.view_of is not None:
        message = f"`{op.name}` returns a list or a view, which `custom_op` does not take"
        yield refusal(op, message, "leave out `custom_op`")


def has_its_own(op: OpSpec, framework: Framework) -> bool:
    """Return whether a framework has a function that does what an op does, of all its arguments.

    Names mean the same only for ops of gradspec's own table, not for those of users.
    """
    if not Path(op.span.path).is_relative_to(builtin_spec().parent):
        return False
    given = frozenset(param.name for param in op.signature.params)
    return op.name in framework.kernels or framework.op(op, op.signature.name, given) is not None


def refusal(op: OpSpec, message: str, help: str) -> Diagnostic:
    return Diagnostic("GS087", op.span, message, help)


def has_kernel(op: OpSpec) -> bool:
    """Return whether the definition of an op is a kernel on arrays, and no formula."""
    return op.forward is not None and any(
        call.function.startswith("kernels.") for call in calls(op.forward.block)
    )
