"""Each mode of differentiation applied to the other, and to itself, through the real engine.

On arrays of any kind, symbols or floats. Imports the runtime lazily, as `run` does. What is
differentiated with respect to are the leaves of a `Call`; what comes out is an array for each leaf
or output, None where there is no gradient or no tangent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...spec.model import OpSpec
from .run import Array, Call, Leaf

Arrays: TypeAlias = dict[Any, Array | None]


@dataclass(frozen=True, slots=True)
class Directions:
    """Cotangents and tangents of the modes beside the arguments of a call."""

    cotangents: dict[str, Array]
    """Cotangents of the outputs."""
    tangents: dict[Leaf, Array]
    """Tangents: of the arguments where the JVP comes first; of the gradients where the VJP does."""
    moves: dict[Leaf, Array]
    """Second tangents or weights of the arguments, for the next derivative."""
    moves_of_cotangents: Mapping[str, Array] = field(default_factory=dict)
    """The tangents that a JVP finds on the cotangents; those that are not here have none."""
    moves_of_tangents: Mapping[Leaf, Array] = field(default_factory=dict)
    """Those that it finds on the tangents."""


class Composition:
    """One call of an op, differentiated more than once."""

    def __init__(
        self, spec: OpSpec, values: dict[str, Any], leaves: list[Leaf], given: Directions
    ) -> None:
        self._call = Call(spec, values, leaves)
        self._leaves = dict(self._call.tensors)
        """The tensors that require grad; duals may stand in their places."""
        self._given = given

    def values(self) -> Arrays:
        """The outputs."""
        return {name: output.array for name, output in self._asked(self._call()).items()}

    def vjp(self) -> Arrays:
        """The gradients."""
        return self._named(self._gradients(self._call(), moving=False))

    def jvp(self) -> Arrays:
        """The tangents of the outputs."""
        from gradspec.autograd.forward_ad import dual_level

        with dual_level():
            self._give_tangents(self._given.tangents)
            return {name: _tangent(output) for name, output in self._asked(self._call()).items()}

    def vjp_of_vjp(self) -> Arrays:
        """The gradients of the gradients, these weighted with the tangents."""
        first = self._gradients(self._call(), moving=False)
        return self._named(self._again(first, self._given.tangents))

    def jvp_of_vjp(self) -> Arrays:
        """The tangents of the gradients."""
        from gradspec.autograd.forward_ad import dual_level

        with dual_level():
            self._give_tangents(self._given.moves)
            return self._moved(self._gradients(self._call(), moving=True))

    def vjp_of_jvp(self) -> tuple[Arrays, Arrays]:
        """The gradients of the weighted tangents of the outputs, and those by the tangents."""
        from gradspec.autograd import grad
        from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
        from gradspec.core.tensor import wrap

        tangents = {n: wrap(self._given.tangents[n]).requires_grad_() for n in self._leaves}
        with dual_level():
            for leaf, primal in self._leaves.items():
                self._call.replace(leaf, make_dual(primal, tangents[leaf]))
            outputs = self._asked(self._call())
            duals = [(name, unpack_dual(output).tangent) for name, output in outputs.items()]
        found = {n: t for n, t in duals if t is not None and t.requires_grad}
        if not found:
            return {}, {}
        gradients = grad(
            list(found.values()),
            [*self._leaves.values(), *tangents.values()],
            [wrap(self._given.cotangents[name]) for name in found],
            allow_unused=True,
        )
        count = len(self._leaves)
        return self._named(gradients[:count]), self._named(gradients[count:])

    def jvp_of_jvp(self) -> Arrays:
        """The tangents of the tangents of the outputs."""
        from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
        from gradspec.core.tensor import wrap

        given = self._given
        with dual_level():
            outer = {}
            for leaf, primal in self._leaves.items():
                tangent = wrap(given.tangents[leaf])
                if leaf in given.moves_of_tangents:
                    tangent = make_dual(tangent, wrap(given.moves_of_tangents[leaf]))
                outer[leaf] = make_dual(wrap(primal.array), wrap(given.moves[leaf])), tangent
            with dual_level():
                for leaf, pair in outer.items():
                    self._call.replace(leaf, make_dual(*pair))
                outputs = self._asked(self._call())
                tangents = {name: unpack_dual(output).tangent for name, output in outputs.items()}
            return {name: _tangent(tangent) for name, tangent in tangents.items()}

    def vjp_of_double_backward(self) -> Arrays:
        """The gradients of the double backward, its results weighted with the moves."""
        first = self._gradients(self._call(), moving=False)
        second = self._again(first, self._given.tangents, create_graph=True)
        return self._named(self._again(second, self._given.moves))

    def jvp_of_double_backward(self) -> Arrays:
        """The tangents of the double backward."""
        from gradspec.autograd.forward_ad import dual_level

        with dual_level():
            self._give_tangents(self._given.moves)
            first = self._gradients(self._call(), moving=False)
            return self._moved(self._again(first, self._given.tangents, create_graph=True))

    def _asked(self, outputs: dict[str, Any]) -> dict[str, Any]:
        return {name: outputs[name] for name in self._given.cotangents}

    def _give_tangents(self, tangents: Mapping[Leaf, Array]) -> None:
        from gradspec.autograd.forward_ad import make_dual
        from gradspec.core.tensor import wrap

        for leaf, primal in self._leaves.items():
            self._call.replace(leaf, make_dual(primal, wrap(tangents[leaf])))

    def _gradients(self, outputs: dict[str, Any], *, moving: bool) -> tuple[Any, ...]:
        from gradspec.autograd import grad
        from gradspec.autograd.forward_ad import make_dual
        from gradspec.core.tensor import wrap

        roots = {n: out for n, out in self._asked(outputs).items() if out.requires_grad}
        if not roots:
            return (None,) * len(self._leaves)
        moves = self._given.moves_of_cotangents if moving else {}
        cotangents = []
        for name in roots:
            cotangent = wrap(self._given.cotangents[name])
            has_tangent = name in moves
            cotangents.append(make_dual(cotangent, wrap(moves[name])) if has_tangent else cotangent)
        return grad(
            list(roots.values()),
            list(self._leaves.values()),
            cotangents,
            create_graph=True,
            allow_unused=True,
        )

    def _again(
        self, found: tuple[Any, ...], weights: Mapping[Leaf, Array], *, create_graph: bool = False
    ) -> tuple[Any, ...]:
        """Differentiate the sum of what was found, each weighted."""
        from gradspec.autograd import grad
        from gradspec.core.tensor import wrap

        pairs = [
            (gradient, wrap(weights[leaf]))
            for leaf, gradient in zip(self._leaves, found, strict=True)
            if gradient is not None and gradient.requires_grad
        ]
        if not pairs:
            return (None,) * len(self._leaves)
        return grad(
            [gradient for gradient, _ in pairs],
            list(self._leaves.values()),
            [weight for _, weight in pairs],
            create_graph=create_graph,
            allow_unused=True,
        )

    def _named(self, found: tuple[Any, ...]) -> Arrays:
        pairs = zip(self._leaves, found, strict=True)
        return {leaf: None if tensor is None else tensor.array for leaf, tensor in pairs}

    def _moved(self, found: tuple[Any, ...]) -> Arrays:
        return {leaf: _tangent(t) for leaf, t in zip(self._leaves, found, strict=True)}


def _tangent(tensor: Any) -> Array | None:
    """The array of the tangent of a tensor, at the innermost level."""
    from gradspec.autograd.forward_ad import unpack_dual

    if tensor is None:
        return None
    tangent = unpack_dual(tensor).tangent
    return None if tangent is None else tangent.array
