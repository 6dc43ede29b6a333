"""Calls of ops with arrays and lists in other libraries: their outputs and gradients."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from gradspec_codegen.audit.libraries import Library, library
from gradspec_codegen.audit.questions import Array
from gradspec_codegen.audit.text import filled, is_given, literal
from gradspec_codegen.lint.computed import Quantity
from gradspec_codegen.prove.identities.run import Leaf
from gradspec_codegen.spec.model import OpSpec
from gradspec_codegen.targets.frameworks import Spelling

SPELLINGS = Path(__file__).with_name("spellings.yaml")


@functools.cache
def spelled(module: str) -> Library:
    """The functions of a library that the audit knows, and those of `spellings.yaml`."""
    known = library(module)
    more = yaml.safe_load(SPELLINGS.read_text(encoding="utf-8")).get(module, {})
    ops = {name: Spelling(text) for name, text in more.get("ops", {}).items()}
    named = {name.partition(".")[0] for name in ops}
    return dataclasses.replace(
        known,
        prelude=(*known.prelude, more.get("prelude", "")),
        ops={**known.ops, **ops},
        absent=known.absent - ops.keys() - named,
    )


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
    """Given a function, arguments and weights: the outputs, and the gradients if it has any."""

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
        except Exception:  # no such function, or another signature
            return
        yield ("forward", ()), outputs
        for (name, place), gradient in zip(call.leaves, gradients, strict=False):
            shown = f"{name}[{place}]" if isinstance(call.values[name], list) else name
            yield ("VJP", (shown,)), [gradient]

    def _function(self, op: OpSpec, call: Call) -> Callable[..., Any]:
        """The library's function of the arrays that are differentiated by."""
        known = spelled(self.module)
        names: dict[str, Any] = {}
        exec("\n".join(known.prelude), names)  # the text of our own tables
        words: dict[str, str] = {}
        for param in op.signature.params:
            if is_given(call.values, param.name, param.default):
                words[param.name] = _word(param.name, call, names, known)
        body = filled(op, known, words)
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


def _word(name: str, call: Call, names: dict[str, Any], known: Library) -> str:
    """An argument in the text of a call: a name for an array, a literal for what is none."""
    value = call.values[name]
    is_list = isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value)
    words = []
    for place, item in enumerate(value if is_list else [value]):
        if (name, place) in call.leaves:
            words.append(f"leaf_{name}_{place}")
        elif isinstance(item, np.ndarray):
            names[f"given_{name}_{place}"] = eval(
                known.array.format(data="data"), names | {"data": item}
            )
            words.append(f"given_{name}_{place}")
        else:
            words.append(literal(item, known))
    return f"[{', '.join(words)}]" if is_list else words[0]


def _at(values: Mapping[str, Any], leaf: Leaf) -> Array:
    value = values[leaf[0]]
    return np.asarray(value[leaf[1]] if isinstance(value, list) else value)


def _torch(function: Any, arrays: Sequence[Array], weights: Sequence[Array]) -> Any:
    import torch

    # What it makes itself has this dtype; some gradients refuse single precision beside another.
    torch.set_default_dtype(torch.float32)
    leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    outputs = function(*leaves)
    cotangents = [torch.from_numpy(w.copy()) for w in weights]
    found = [o.resolve_conj().numpy(force=True) for o in outputs]
    try:
        gradients = torch.autograd.grad(outputs, leaves, cotangents, materialize_grads=True)
    except (RuntimeError, ValueError):  # no derivative, or nothing to differentiate by
        return found, []
    return found, [g.resolve_conj().numpy(force=True) for g in gradients]


def _jax(function: Any, arrays: Sequence[Array], weights: Sequence[Array]) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    leaves = [*map(jax.numpy.asarray, arrays)]
    outputs = [*map(np.asarray, function(*leaves))]
    try:
        # Of complex numbers its gradients are the conjugates of PyTorch's.
        _, pull = jax.vjp(function, *leaves)
        gradients = pull(tuple(jax.numpy.asarray(np.conj(w)) for w in weights))
    except (NotImplementedError, TypeError, ValueError):  # no derivative
        return outputs, []
    return outputs, [np.conj(gradient) for gradient in gradients]


CALLED = (Called("PyTorch", "torch", _torch), Called("JAX", "jax", _jax))
