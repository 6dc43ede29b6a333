"""Calls of ops with arrays and lists in other libraries: their outputs and gradients."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradspec_codegen.audit.libraries import library
from gradspec_codegen.audit.questions import Array
from gradspec_codegen.audit.text import filled, is_given, literal
from gradspec_codegen.lint.computed import Quantity
from gradspec_codegen.prove.identities.run import Leaf
from gradspec_codegen.spec.model import OpSpec


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call, what it is differentiated by, and the weights of its outputs."""

    values: Mapping[str, Any]
    leaves: tuple[Leaf, ...]
    weights: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Called:
    """A library, and how it differentiates a function of arrays."""

    name: str
    module: str
    differentiate: Callable[[Callable[..., Any], Sequence[Array], Sequence[Array]], Any]
    """Given a function, arguments and weights: the outputs, and the gradients."""

    @property
    def is_installed(self) -> bool:
        """Return whether its module can be found; nothing is imported."""
        return importlib.util.find_spec(self.module) is not None

    def __call__(self, op: OpSpec, call: Call, _: Any) -> Iterator[tuple[Quantity, list[Any]]]:
        """The outputs and gradients of a call; nothing if the library has no such function."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = self._function(op, call)
                arrays = [_at(call.values, leaf) for leaf in call.leaves]
                outputs, gradients = self.differentiate(function, arrays, [*call.weights.values()])
        except Exception:  # no such function, another signature, or no derivative
            return
        yield ("forward", ()), outputs
        for (name, place), gradient in zip(call.leaves, gradients, strict=True):
            shown = f"{name}[{place}]" if isinstance(call.values[name], list) else name
            yield ("VJP", (shown,)), [gradient]

    def _function(self, op: OpSpec, call: Call) -> Callable[..., Any]:
        """The library's function of the arrays that are differentiated by."""
        spelled = library(self.module)
        names: dict[str, Any] = {}
        exec("\n".join(spelled.prelude), names)  # the text of our own tables
        words: dict[str, str] = {}
        for param in op.signature.params:
            if is_given(call.values, param.name, param.default):
                words[param.name] = _word(param.name, call, names, spelled)
        body = filled(op, spelled, words)
        leaves = ", ".join(f"leaf_{name}_{place}" for name, place in call.leaves)
        function = eval(f"lambda {leaves}: {body}", names)
        is_one = len(op.signature.outputs) == 1
        ends = [output.name for output in op.signature.outputs]

        def outputs(*arrays: Any) -> tuple[Any, ...]:
            found = function(*arrays)
            if is_one and not any("[" in name for name in call.weights):
                return (found,)
            places = [
                int(n.partition("[")[2][:-1]) if "[" in n else ends.index(n) for n in call.weights
            ]
            return tuple(found[place] for place in places)

        return outputs


def _word(name: str, call: Call, names: dict[str, Any], spelled: Any) -> str:
    """An argument in the text of a call: a name for an array, a literal for what is none."""
    value = call.values[name]
    is_list = isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value)
    words = []
    for place, item in enumerate(value if is_list else [value]):
        if (name, place) in call.leaves:
            words.append(f"leaf_{name}_{place}")
        elif isinstance(item, np.ndarray):
            names[f"given_{name}_{place}"] = eval(
                spelled.array.format(data="data"), names | {"data": item}
            )
            words.append(f"given_{name}_{place}")
        else:
            words.append(literal(item, spelled))
    return f"[{', '.join(words)}]" if is_list else words[0]


def _at(values: Mapping[str, Any], leaf: Leaf) -> Array:
    value = values[leaf[0]]
    found: Array = value[leaf[1]] if isinstance(value, list) else value
    return found


def _torch(function: Any, arrays: Sequence[Array], weights: Sequence[Array]) -> Any:
    import torch

    # What it makes itself has this dtype; some gradients refuse single precision beside another.
    torch.set_default_dtype(torch.float32)
    leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    outputs = function(*leaves)
    gradients = torch.autograd.grad(
        outputs, leaves, [torch.from_numpy(w.copy()) for w in weights], materialize_grads=True
    )
    return [o.numpy(force=True) for o in outputs], [g.numpy(force=True) for g in gradients]


def _jax(function: Any, arrays: Sequence[Array], weights: Sequence[Array]) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    outputs, pull = jax.vjp(function, *map(jax.numpy.asarray, arrays))
    gradients = pull(tuple(map(jax.numpy.asarray, weights)))
    return [*map(np.asarray, outputs)], [*map(np.asarray, gradients)]


CALLED = (Called("PyTorch", "torch", _torch), Called("JAX", "jax", _jax))
