"""The short way into a program: all that has to hold for a call, as one function of Python.

It is written for the last program that was called, and for calls whose arguments are tensors and
constants by position. Where anything is not as it was, the long way finds out what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from ..core import levels, modes
from ..core.apply_modes import apply_modes
from ..core.tensor import Tensor, new_tensor
from ..dispatch import entered_modes
from ..dtypes import promotion
from ..inplace.ops import mark_written
from .capture import thread
from .executable import Executable
from .joint import Detached, Given, Result
from .kept.texts import rendered
from .sources import Guard

FastCall: TypeAlias = Callable[..., Any]

MISSED: Final = object()
"""Answer of the function where the program does not fit the call."""
_ENDS: Final[dict[type, tuple[str, str]]] = {
    list: ("[", "]"),
    tuple: ("(", ",)"),
    dict: ("{", "}"),
}
"""First and last characters of an expression of a structure."""
FREES_FROM: Final = 1 << 16
"""Elements of new gradients from which those before are let go of first, which takes a moment."""
_CONSTANTS: Final = (bool, int, str, type(None))


def fast_call(
    args: Sequence[Any],
    guards: Sequence[Guard],
    outside: Sequence[Tensor],
    with_grad: Sequence[tuple[int, bool]],
    executable: Executable,
    finish: Callable[..., Any],
    record: Callable[..., Any],
) -> FastCall | None:
    """Return the function for calls like this one; None for arguments that it does not know.

    `finish(tensors, args)` runs the program where it returns objects of other types, and
    `record(tensors, results, arrays, args)` makes results outputs of a node.
    """
    known = [arg for arg in args if isinstance(arg, Tensor)]
    constants = [arg for arg in args if not isinstance(arg, Tensor)]
    if not all(type(arg) in _CONSTANTS for arg in constants):
        return None
    if len({id(tensor) for tensor in known}) < len(known):
        return None
    writer = _Writer()
    writer.objects |= {"finish": finish, "record": record}
    for nr, arg in enumerate(args):
        writer.add_argument(nr, arg, known)
    for nr, tensor in enumerate(outside):
        writer.add_tensor(f"t{nr}", tensor)
        writer.objects[f"t{nr}"] = tensor
    for guard in guards:
        writer.add_guard(guard)
    tensors = [f"a{nr}" for nr, arg in enumerate(args) if isinstance(arg, Tensor)]
    tensors += [f"t{nr}" for nr in range(len(outside))]
    for number, there in with_grad:
        test = "is None" if there else "is not None"
        writer.tests.append(f"getattr({tensors[number]}, '_grad', None) {test}")
    return writer.function(len(args), tensors, executable)


class _Writer:
    """Collects what is tested, and the objects that the tests name."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.layouts: list[str] = []
        """Checks of arrays, which a C program does itself."""
        self.guards: list[tuple[str, str, str]] = []
        """Expressions that are read, what is wrong with them, and the test of a value."""
        self.objects: dict[str, Any] = {
            "function_modes": entered_modes.modes,
            "levels": levels._levels,
            "thread": thread,
            "mode": modes.mode,
            "this_thread": modes.this_thread,
            "default": promotion._default,
            "new_tensor": new_tensor,
            "apply_modes": apply_modes,
            "mark_written": mark_written,
            "MISSED": MISSED,
        }

    def name(self, value: Any) -> str:
        """Return a name for an object."""
        name = f"k{len(self.objects)}"
        self.objects[name] = value
        return name

    def add_argument(self, nr: int, arg: Any, tensors: Sequence[Tensor]) -> None:
        """Test one argument."""
        self.tests.append(f"type(a{nr}) is not {self.name(type(arg))}")
        if not isinstance(arg, Tensor):
            self.tests.append(f"a{nr} != {self.name(arg)}")
            return
        before = [other for other in range(nr) if other < nr]
        self.tests += [f"a{nr} is a{other}" for other in before]
        self.add_tensor(f"a{nr}", arg)

    def add_tensor(self, name: str, tensor: Tensor) -> None:
        """Test whether a tensor requires grad as it did, and its layout."""
        is_none = "is None" if tensor.grad_node is not None else "is not None"
        self.tests.append(f"{name}.grad_node {is_none}")
        array = tensor.array
        self.layouts.append(f"{name}.array.dtype is not {self.name(array.dtype)}")
        self.layouts.append(f"{name}.array.shape != {array.shape}")
        self.layouts.append(f"{name}.array.strides != {array.strides}")

    def add_guard(self, guard: Guard) -> None:
        """Test something outside of the function."""
        text = {
            "item": "{}[{}]",
            "cell": "{}.cell_contents",
            "length": "len({})",
            "attribute": "getattr({}, {})",
            "array": "{}.tobytes()",
        }.get(guard.place.how)
        if text is None:  # an object is always itself
            return
        read = text.format(self.name(guard.place.holder), self.name(guard.place.key))
        expected = self.name(guard.expected)
        test = f"{read} is not {expected}"
        if guard.by_value:
            kind = self.name(type(guard.expected))
            test = (
                f"((v := {read}) is not {expected} and (type(v) is not {kind} or v != {expected}))"
            )
        self.tests.append(test)

    def expression(self, structure: Any, tensors: Sequence[str]) -> str | None:
        """Return what a function returns, of tensors `r0`, `r1`, ...; None if that takes more."""
        if type(structure) is Result:
            return f"r{structure.number}"
        if type(structure) is Given:
            return tensors[structure.number]
        if type(structure) is Detached:
            return f"{tensors[structure.number]}.detach()"
        ends = _ENDS.get(type(structure))
        if ends is not None:
            is_dict = type(structure) is dict
            items = structure.values() if is_dict else structure
            texts = [self.expression(item, tensors) for item in items]
            if any(text is None for text in texts):
                return None
            if is_dict:
                texts = [
                    f"{self.name(key)}: {text}" for key, text in zip(structure, texts, strict=True)
                ]
            begin, end = ends
            return f"{begin}{', '.join(map(str, texts))}{end}" if texts else begin + end[-1]
        return self.name(structure) if type(structure) in _CONSTANTS else None

    def function(self, count: int, tensors: list[str], executable: Executable) -> FastCall:
        """Return the function of all tests."""
        trace = executable.trace
        count_results = trace.result_count
        is_effectless = not (trace.new_grads or trace.cleared_grads or executable.written)
        expression = self.expression(trace.structure, tensors)
        is_empty = not executable.outline.has_steps and not count_results and is_effectless
        attempt = None
        freed = [tensors[nr] for nr in executable.freed_grads]
        values = trace.program.outputs
        if sum(values[at].size for _, at in trace.new_grads) < FREES_FROM:
            freed = []
        if expression is not None and not is_empty and not freed:
            attempt = getattr(executable.run, "attempt", None)
        if attempt is None:
            self.tests += self.layouts
        now = modes.this_thread.blocks.modes()
        usual = not now.are_unusual()
        self.objects["run"] = attempt or executable.run
        self.objects["dtype"] = promotion.get_default_dtype()
        new_grads = [(tensors[nr], at) for nr, at in trace.new_grads]
        template_values: dict[str, Any] = {
            "arguments": [f"a{nr}" for nr in range(count)],
            "tests": self.tests,
            "tensors": tensors,
            "arrays": [f"{name}.array" for name in tensors]
            + [f"{tensors[nr]}._grad.array" for nr in trace.read_grads],
            "expression": expression,
            "is_empty": is_empty,
            "results": range(count_results),
            "new_grads": [given for given in new_grads if given[1] >= count_results],
            "returned_grads": [given for given in new_grads if given[1] < count_results],
            "cleared": [tensors[nr] for nr in trace.cleared_grads],
            "freed": freed,
            "written": [tensors[nr] for nr in executable.written if nr < len(tensors)],
            "is_differentiable": bool(trace.differentiable),
            "is_attempt": attempt is not None,
            "usual": usual,
            "records": now.records,
            "inference": now.inference,
        }
        source = rendered("fast_call.py.j2", template_values)
        exec(compile(source, "<gradspec call>", "exec"), self.objects)
        found: FastCall = self.objects["call"]
        return found
