"""Check the arguments that are plain numbers, by their types in the signature.

An argument of the type that it nearly always has passes by a test of a few nanoseconds; any other
is turned into Python's number, or refused, by the runtime (`dispatch/numbers_given.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..render.context import ModuleContext
from ..spec.model import OpSpec, Param, spelled


def plain_numbers(op: OpSpec, context: ModuleContext) -> Iterator[str]:
    """Lines that check the numbers a function is given.

    Where an op has overloads, the choice of one does that. Private ops are called by formulas and
    by the library, with whole numbers and flags that were checked, or are their own.
    """
    if len(context.resolver.table.overloads(op.signature.name)) > 1:
        return
    for param in op.signature.params:
        is_checked_before = op.is_private and param.type.base in ("int", "bool")
        test = None if is_checked_before else _unusual(param)
        if test is not None:
            is_absent = f"{spelled(param.name)} is not None and "
            yield f"if {is_absent if param.type.is_optional else ''}{test}:"
            yield f"    {_checked(op, param)}"


def _unusual(param: Param) -> str | None:
    """The test of a value that is not of the usual type; None for parameters of no numbers."""
    name = spelled(param.name)
    match param.type.base:
        case "bool" if not param.type.is_optional:  # PyTorch asks others for their truth alone
            return f"{name} is not True and {name} is not False"
        case "int" if param.type.has_optional_items:
            return f"type({name}) is not int"
        case "int" if param.type.is_list:
            test = f"type({name}) is not tuple or not {name} or type({name}[0]) is not int"
            takes_one = param.type.size is not None
            if takes_one or param.type.is_optional:
                test = f"({test})"
            return f"type({name}) is not int and {test}" if takes_one else test
        case "int":
            return f"type({name}) is not int"
        case "Scalar" | "float" if not param.type.is_list:
            is_whole = param.type.base == "Scalar" and isinstance(param.default, int)
            return f"type({name}) is not {'int' if is_whole else 'float'}"
    return None


def _checked(op: OpSpec, param: Param) -> str:
    """The line for a value of another type."""
    name = spelled(param.name)
    words = f'"{op.signature.name.lstrip("_")}", "{param.public}", {name}'
    match param.type.base:
        case "bool":
            return f"raise flag_refused({words})"
        case "int" if param.type.is_list:
            words += ", takes_one=True" if param.type.size is not None else ""
            words += ", some_absent=True" if param.type.has_optional_items else ""
            words += ", none_is_empty=True" if param.default == () else ""
            return f"{name} = whole_numbers_given({words})"
        case "int":
            return f"{name} = whole_number({words})"
        case "float":
            return f"{name} = real_given({words})"
    return f"{name} = number_given({words})"
