"""The lines of a function before anything is computed: what is refused, and promotion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..emit.environment import literal
from ..emit.requirements import shown
from ..ir.walk import names
from ..render.resolve import kinds_of_params
from ..spec.elementwise import is_elementwise_definition
from ..spec.model import Constant, OpSpec
from .renderer import BASE, EmittedModule, FrameworkRenderer


def checks(op: OpSpec, module: EmittedModule, spelling: Mapping[str, str]) -> Iterator[str]:
    """Lines that refuse what an op is not meant for, and bring arguments to one dtype and shape."""
    words = {param.name: spelling[param.name] for param in op.signature.params}
    yield from _conversions(op, module, words)
    yield from _others(op, module, words)
    yield from _requirements(op, module, words)
    yield from _complex(op, module, words)
    yield from _constants(op, module, words)
    yield from _promotion(op, module, words)


def _conversions(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    """Lines that make what the framework computes with of what it accepts."""
    convert = module.framework.convert
    for param in op.signature.params:
        if param.type.is_list and param.type.base != "Tensor":
            size = "" if param.type.size is None else f", {param.type.size}"
            yield f"{words[param.name]} = as_tuple({words[param.name]}{size})"
    for param in op.signature.tensor_params:
        if convert is None or param.name in op.promotes:
            continue
        name = words[param.name]
        if param.type.is_list:
            yield f"{name} = tuple({convert}(each) for each in {name})"
        elif param.type.is_optional:
            yield f"{name} = None if {name} is None else {convert}({name})"
        else:
            yield f"{name} = {convert}({name})"


def _others(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    """Lines that take numbers for what is promoted, and refuse what else is no tensor."""
    is_tensor = module.framework.is_tensor
    if is_tensor is None or module.name == BASE:
        return
    single = [p for p in op.signature.tensor_params if not p.type.is_list]
    promoted = [p for p in single if p.name in op.promotes]
    others = [p for p in single if p.name not in op.promotes]
    for params, numbers in ((promoted, True), (others, False)):
        tests = []
        for param in params:
            word = words[param.name]
            test = is_tensor.filled(frozenset({"self"}), lambda *_, word=word: word)
            tests.append(f"({word} is None or {test})" if param.type.is_optional else test)
        if not tests:
            continue
        name = literal(op.signature.name.lstrip("_"))
        yield f"if not ({' and '.join(tests)}):"
        if numbers:
            targets = ", ".join(words[p.name] for p in params) + "," * (len(params) == 1)
            pairs = ", ".join(f"{literal(p.public)}: {words[p.name]}" for p in params)
            yield f"    {targets} = as_tensors({name}, {{{pairs}}}{_how(op, module)})"
        else:
            given = ", ".join(f"{p.public}={words[p.name]}" for p in params)
            yield f"    raise no_tensor({name}, {given})"


def _requirements(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    params = {param.name: param for param in op.signature.params}
    for requirement in op.requires:
        kinds = kinds_of_params(op.signature)
        test = FrameworkRenderer(module, requirement.formula, kinds, words)
        read = {name.id for name in names(requirement.formula.block)}
        described = [f"{p.public}={words[p.name]}" for p in params.values() if p.name in read]
        told = [
            op.signature.name.lstrip("_"),
            requirement.reason or f"expected {shown(requirement)}",
        ]
        yield f"if not ({test.render(requirement.test)}):"
        yield f"    raise unmet_requirement({', '.join([*map(literal, told), *described])})"


def _complex(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    """Refuse complex numbers, for which the rules of an op have not been proved.

    That a gradient is zero was found for real numbers, too: `angle` has one of complex numbers.
    """
    if op.complex or op.composite is not None:
        return
    is_complex = module.framework.ops["is_complex"]
    tests = []
    for param in op.signature.tensor_params:
        if param.name not in (*op.recorded_params, *op.flat_params):
            continue
        name = "each" if param.type.is_list else words[param.name]
        test = is_complex.filled(frozenset({"self"}), lambda *_, name=name: name)
        if param.type.is_list:
            test = f"any({test} for each in {words[param.name]})"
        tests.append(f"({name} is not None and {test})" if param.type.is_optional else test)
    if not tests:
        return
    yield f"if {' or '.join(tests)}:"
    yield f"    raise complex_refused({literal(op.signature.name.lstrip('_'))})"


def _constants(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    """Refuse gradients of what is constant for an op."""
    test = module.framework.requires_grad
    for param in op.signature.tensor_params:
        rule = op.rule(param.name)
        if isinstance(rule, Constant) and test is not None:
            asked = test.filled(frozenset({"self"}), lambda *_, p=param: words[p.name])
            present = f"{words[param.name]} is not None and " if param.type.is_optional else ""
            text = f"{op.signature.name.lstrip('_')}: {param.public} is constant: {rule.reason}"
            yield f"if {present}{asked}:"
            yield f"    raise RuntimeError({literal(text)})"


def _promotion(op: OpSpec, module: EmittedModule, words: dict[str, str]) -> Iterator[str]:
    if not op.promotes:
        return
    promoted = [p for p in op.signature.params if p.name in op.promotes]
    given = [words[p.name] for p in promoted]
    targets = ", ".join(given)
    broadcasts = is_elementwise(op, module)
    comma = "," if len(promoted) == 1 else ""
    line = f"{targets}{comma} = promote({targets}{_how(op, module)})"
    is_tried = any(p.type.is_optional for p in promoted)
    test = None if is_tried else _unpromoted(given, op, module, broadcasts=broadcasts)
    if test is None:
        yield line
    elif test:
        yield f"if {test}:"
        yield f"    {line}"


def _how(op: OpSpec, module: EmittedModule) -> str:
    """The words that say how arguments are promoted."""
    to_float = ", to_float=True" * op.int_to_float
    return to_float + ", broadcast=False" * (not is_elementwise(op, module))


def is_elementwise(op: OpSpec, module: EmittedModule) -> bool:
    """Return whether arguments may be broadcast before an op: it treats each element by itself."""
    return is_elementwise_definition(op, module.resolver.table)


def reduced(op: OpSpec, module: EmittedModule) -> tuple[str, ...]:
    """The arguments whose gradients are summed to their shapes after the formulas."""
    return () if len(op.promotes) < 2 or is_elementwise(op, module) else op.promotes


def _unpromoted(
    given: list[str], op: OpSpec, module: EmittedModule, *, broadcasts: bool
) -> str | None:
    """The test whether there is anything to bring together; None where that is always tried."""
    is_float = module.framework.is_float
    if is_float is None:
        return None
    first, *others = given
    tests = []
    for other in others:
        tests.append(f"{first}.dtype != {other}.dtype")
        tests += [f"{first}.shape != {other}.shape"] * broadcasts
    if op.int_to_float:
        tests.append("not " + is_float.filled(frozenset({"self"}), lambda *_: first))
    return " or ".join(tests)
