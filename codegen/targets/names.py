"""Names of an op's arguments and locals in emitted code, and its signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..emit.names import default
from ..ir.walk import assigned_names
from ..spec.model import REQUIRED, Formula, OpSpec, Param, Type
from .frameworks import Framework
from .naming import MARK
from .renderer import EmittedModule

_ANNOTATIONS = {"float": "float", "int": "int", "bool": "bool", "str": "str"}


def formulas_of(op: OpSpec) -> Iterator[Formula]:
    """Every formula of an op that is emitted."""
    rules: Iterable[object] = (*(rule for _, rule in op.vjps), *(rule for _, rule in op.jvps))
    yield from (f for f in (op.forward, op.composite, *rules) if isinstance(f, Formula))


def spelling_of(op: OpSpec, module: EmittedModule) -> dict[str, str]:
    """The names in the code of an op, by those that its formulas use.

    Arguments go by the names that users know.
    """
    found: dict[str, str] = {}

    def choose(name: str, plain: str) -> None:
        found[name] = module.naming.inside(plain, found.values())

    for param in op.signature.params:
        choose(param.name, param.public)
        if param.type.base != "Tensor":
            choose(f"no tangent of {param.name}", f"_{param.public}")
    for output in op.signature.outputs:
        choose(output.name, output.name)
    for param in op.signature.tensor_params:
        choose(f"{param.name}_t", f"{param.public}_t")
        choose(f"grad by {param.name}", f"grad_{param.public}")
        for attribute in ("shape", "ndim", "dtype", "meta"):
            choose(f"{param.name}_{attribute}", f"{param.public}_{attribute}")
    choose("grad", "grad")
    choose("grads", "grads")
    for output in op.signature.outputs:
        choose(f"grad_{output.name}", f"grad_{output.name}")
        choose(f"{output.name}_t", f"{output.name}_t")
    for formula in formulas_of(op):
        for name in sorted(assigned_names(formula.block)):
            if name not in found:
                choose(name, name)
    return found


def is_renamed(op: OpSpec, spelling: Mapping[str, str]) -> bool:
    """Return whether an argument has another name in code than users know."""
    return any(spelling[param.name] != param.public for param in op.signature.params)


def public(param: Param, module: EmittedModule) -> str:
    """The name of an argument that users know."""
    return param.public + MARK if module.naming.marks_all else param.public


def signature(op: OpSpec, module: EmittedModule) -> str:
    """The parameters of the function, with types and defaults, as its users know them."""
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        type_ = annotation(param.type, op, module.framework)
        if param.name in op.promotes and module.framework.is_tensor is not None:
            type_ = type_.replace("Tensor", f"Tensor | {'complex' if op.complex else 'float'}")
        text = f"{public(param, module)}: {type_}"
        is_given = param.default is REQUIRED
        words.append(text if is_given else f"{text} = {default(param.default)}")
    return ", ".join(words)


def annotation(type_: Type, op: OpSpec, framework: Framework) -> str:
    """The type of a parameter in emitted code."""
    special: Mapping[str, str] = {
        "Tensor": framework.array,
        "Scalar": "complex" if op.complex else "float",
        "ScalarType": framework.dtype_type,
    }
    base = special.get(type_.base) or _ANNOTATIONS.get(type_.base, "object")
    if type_.is_list:
        item = f"{base} | None" if type_.has_optional_items else base
        text = f"Sequence[{item}]"
        base = f"{base} | {text}" if type_.size is not None else text
    return f"{base} | None" if type_.is_optional else base


def returns(op: OpSpec, framework: Framework) -> str:
    """The type of what the function returns."""
    one = framework.result
    outputs = op.signature.outputs
    if outputs[0].type.is_list:
        return f"tuple[{one}, ...]"
    return f"tuple[{', '.join([one] * len(outputs))}]" if len(outputs) > 1 else one
