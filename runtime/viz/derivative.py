"""`derivative`: the gradient of a small program as formulas, and as a picture of them."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Final

from ..autograd.backward import grad
from ..core.tensor import Tensor
from ..functions.creation import tensor as make_tensor
from .recorded import recording
from .svg import svg_source
from .terms import Term, Terms, written
from .trace import Link, Trace, Vertex

MOST_TERMS: Final = 400
_SHORT: Final = 34
"""A formula that is longer is not written into a picture."""

_NAMED_FROM: Final = 12
"""A part that is used several times has a name of its own if its text is as long as that."""


class Derivative:
    """The gradient of a program as formulas: `formulas`, `str()` of it, `svg`, `render`.

    Shown as a picture in notebooks.
    """

    def __init__(self, value: Term, gradients: Mapping[str, Term]) -> None:
        self._value = value
        self._gradients = dict(gradients)
        every = list(_below((value, *gradients.values())))
        if len(every) > MOST_TERMS:
            raise ValueError(
                f"derivative: the gradient has {len(every)} terms, and a picture shows "
                f"{MOST_TERMS} at most: draw a smaller program, or make_dot(y)"
            )
        self._names = _names(every)

    @property
    def formulas(self) -> dict[str, str]:
        """Return the text of each part with a name, of the value `y`, and of each gradient."""
        found = {name: self._text(term) for term, name in self._names.items()}
        found["y"] = written(self._value, self._names)[0]
        return found | {
            f"∂y/∂{name}": written(term, self._names)[0] for name, term in self._gradients.items()
        }

    def _text(self, term: Term) -> str:
        return written(term, self._names, top=True)[0]

    def __str__(self) -> str:
        return "\n".join(f"{name} = {text}" for name, text in self.formulas.items())

    @property
    def svg(self) -> str:
        """Return the picture of the gradients as SVG text: values flow downwards."""
        meanings = {"leaf": "input", "op": "op", "stop": "constant", "output": "gradient"}
        title = "; ".join(f"∂y/∂{n} = {self.formulas[f'∂y/∂{n}']}" for n in self._gradients)
        return svg_source(self._trace(), title=title, meanings={**meanings, "flow": "value"})

    def render(self, path: str | PathLike[str]) -> Path:
        """Write the picture as an SVG file and return its path."""
        target = Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def _trace(self) -> Trace:
        vertices: list[Vertex] = []
        links: list[Link] = []
        keys: dict[Term, str] = {}
        for term in _below(self._gradients.values()):
            keys[term] = key = f"t{len(keys)}"
            vertices.append(self._vertex(key, term))
            for of in dict.fromkeys(term.of):
                links.append(Link(keys[of], key, tooltip=written(of, {})[0][:200]))
        for name, term in self._gradients.items():
            text = written(term, self._names)[0]
            lines = (f"∂y/∂{name}", text) if len(text) <= _SHORT else (f"∂y/∂{name}",)
            vertices.append(Vertex(f"g_{name}", "output", lines, f"∂y/∂{name} = {text}"))
            links.append(Link(keys[term], f"g_{name}", tooltip=text))
        return Trace(tuple(vertices), tuple(links))

    def _vertex(self, key: str, term: Term) -> Vertex:
        text = self._text(term)
        if term.kind == "input":
            return Vertex(key, "leaf", (term.text,), f"the input {term.text}")
        if term.kind != "op":
            return Vertex(key, "stop", (term.text,), "a constant")
        name = self._names.get(term, "")
        said = f"{name} = {text}" if name else text
        lines = (term.text, said) if len(said) <= _SHORT else (term.text,)
        return Vertex(key, "op", lines, said)


def derivative(fn: Callable[..., Any], *args: Any) -> Derivative:
    """Trace a small program and return its gradient as formulas.

    `fn` is called with `args`, tensors of floats or numbers, and returns one tensor; of one that is
    not a scalar the sum is differentiated. The formulas hold for the branches that this call takes.
    Constant arrays are shown by their shape, or as a number if all elements are the same.

    Raises TypeError if `fn` is no function, is given nothing or returns no tensor, RuntimeError if
    its result needs no gradient, and ValueError if there are more terms than a picture can show.
    """
    if not callable(fn) or not args:
        raise TypeError("derivative: give a function, and the tensors that it is called with")
    names = _parameter_names(fn, len(args))
    leaves = {name: _leaf(value) for name, value in zip(names, args, strict=True)}
    terms = Terms(leaves)
    with recording() as steps:
        result = fn(*leaves.values())
        if not isinstance(result, Tensor):
            raise TypeError(f"derivative: fn returned {type(result).__name__}, not a tensor")
        gradients = grad(
            result.sum() if result.dim() else result,
            list(leaves.values()),
            create_graph=True,
            materialize_grads=True,
        )
    terms.follow(steps)
    return Derivative(
        terms.term(result),
        {n: terms.term(g) for n, g in zip(names, gradients, strict=True) if g is not None},
    )


def _leaf(value: Any) -> Tensor:
    made = value.detach() if isinstance(value, Tensor) else make_tensor(value)
    if made.dtype.kind not in "fc":
        made = made.double()
    return made.clone().requires_grad_()


def _parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of the arguments, as the program says them; x0, x1, … if it does not."""
    try:
        words = [
            p.name
            for p in inspect.signature(fn).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        words = []
    return words[:count] if len(words) >= count else [f"x{n}" for n in range(count)]


def _below(terms: Iterable[Term]) -> dict[Term, None]:
    """All terms of some, parts before what is made of them."""
    found: dict[Term, None] = {}
    pending = [(term, False) for term in reversed(list(terms))]
    while pending:
        term, is_open = pending.pop()
        if is_open:
            found.setdefault(term)
        elif term not in found:
            pending.append((term, True))
            pending += [(of, False) for of in reversed(term.of)]
    return found


def _names(terms: Iterable[Term]) -> dict[Term, str]:
    """Names for the parts that are used several times, parts of parts first."""
    every = list(terms)
    uses = Counter(of for term in every for of in term.of)
    names: dict[Term, str] = {}
    for term in every:
        is_shared = term.kind == "op" and uses[term] > 1
        if is_shared and len(written(term, names)[0]) >= _NAMED_FROM:
            names[term] = f"t{len(names) + 1}"
    return names
