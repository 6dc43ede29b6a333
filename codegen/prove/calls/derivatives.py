"""The VJP and the JVP of a call with numbers, as the engine computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ...spec.model import NotImplementedYet
from ..identities.identity import Mismatch
from ..identities.run import Call, Leaf
from .call import CallWithNumbers, Lines, NoCall, float_leaves

Array = np.ndarray[Any, Any]


class CallWithDerivatives(CallWithNumbers):
    """A call of which derivatives are asked for, whose arrays have to fit."""

    may_be_cast = False
    """True if dtypes are not compared: of two dtypes, where an op does not promote."""

    def _vjp(
        self, leaves: list[Leaf], weights: dict[str, Array], *, recorded: bool = False
    ) -> Lines:
        from gradspec.autograd import grad
        from gradspec.autograd.graph import get_gradient_edge
        from gradspec.core.tensor import wrap

        try:
            call = Call(self.spec, self._fresh(), leaves)
            outputs = call()
            names = [n for n in weights if outputs[n].requires_grad]
            found: tuple[Any, ...] = (None,) * len(leaves)
            if names:
                # At edges gradients are seen as the rules give them: those of tensors are cast.
                found = grad(
                    [outputs[n] for n in names],
                    [get_gradient_edge(tensor) for tensor in call.tensors.values()],
                    [wrap(weights[n]) for n in names],
                    create_graph=recorded,
                    allow_unused=True,
                )
        except Exception as error:
            self._refuse(error, leaves[0][0], "VJP of")
        gradients: Lines = {}
        for leaf, gradient in zip(leaves, found, strict=True):
            at = self.at(leaf)
            if gradient is None:
                gradients[leaf] = np.zeros_like(at)
                continue
            array = gradient.array
            if at.dtype.kind == "f" and (self._is_mixed or _is_any_complex(weights)):
                array = array.real  # as the engine takes it
            self._fits(array, at, f"VJP of {leaf[0]}", leaf[0])
            gradients[leaf] = array
        return gradients

    def _jvp(self, direction: Lines) -> dict[str, Array] | None:
        from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
        from gradspec.core.tensor import wrap

        if any(isinstance(rule, NotImplementedYet) for _, rule in self.spec.jvps):
            return None
        try:
            with dual_level():
                call = Call(self.spec, self._fresh(), [])
                for leaf, line in direction.items():
                    call.replace(leaf, make_dual(wrap(self.at(leaf)), wrap(line)))
                duals = {n: unpack_dual(t) for n, t in call().items() if n in self.names}
        except Exception as error:
            self._refuse(error, self.names[0].partition("[")[0], "JVP of")
        found = {}
        for n, dual in duals.items():
            if dual.tangent is None:
                found[n] = np.zeros_like(dual.primal.array)
            else:
                label, key = f"JVP of {n}", n.partition("[")[0]
                self._fits(dual.tangent.array, dual.primal.array, label, key)
                found[n] = dual.tangent.array
        return found

    def _refuse(self, error: Exception, key: str, what: str) -> NoReturn:
        """Raise Mismatch for a rule that raises where the forward did not.

        A derivative may say that it is not implemented, or refuse indices that count from the end,
        which NumPy takes and PyTorch's ops do not. Formulas make their own calls only.
        """
        if isinstance(error, Mismatch):
            raise error
        text = f"raises {type(error).__name__}: {error}"
        if self._is_mixed and "dtype" in text:
            raise NoCall(text) from None  # products of matrices take tensors of one dtype
        is_outside = "out of bounds" in text or "out of range" in text
        is_index = is_outside and self._has_negative_indices()
        if "not implemented" in text or is_index or self.spec.is_called_by_formulas:
            raise NoCall(text) from None
        raise Mismatch(f"{what} {key}", key, text) from None

    @property
    def _is_mixed(self) -> bool:
        """Return whether a number is complex, or one tensor beside real ones."""
        kinds = {self.at(leaf).dtype.kind for leaf in float_leaves(self.spec, self.values)}
        has_complex_number = any(isinstance(value, complex) for value in self.values.values())
        return has_complex_number or {"c", "f"} <= kinds

    def _has_negative_indices(self) -> bool:
        arrays = (value for value in self.values.values() if isinstance(value, np.ndarray))
        return any(array.dtype.kind == "i" and (array < 0).any() for array in arrays)

    def _fits(self, found: Array, of: Array, label: str, key: str) -> None:
        if found.shape == of.shape and (found.dtype == of.dtype or self.may_be_cast):
            return
        if self.spec.is_called_by_formulas:
            raise NoCall("formulas make no such call")
        kinds = f"is {found.dtype}{list(found.shape)} for {of.dtype}{list(of.shape)}"
        raise Mismatch(label, key, kinds)


def _is_any_complex(arrays: Mapping[str, Array]) -> bool:
    return any(array.dtype.kind == "c" for array in arrays.values())
