"""Softmax over many classes, most of which are rare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...core.captured import is_any, is_captured
from ...core.tensor import Tensor, wrap
from ...dispatch.registry import ops
from ..containers import ModuleList, Sequential
from ..linear import Linear
from ..module import Module


class ASMoutput(NamedTuple):
    """Log-probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax with a head for frequent classes, and a smaller map for each cluster of others.

    Classes are numbered by frequency; `cutoffs` divide them, Grave et al. (2017). The map of
    cluster `i` goes through `in_features / div_value ** (i + 1)` features.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = list(cutoffs)
        if not given:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        is_valid = all(int(c) == c and 0 < c < n_classes for c in given)
        if not is_valid or any(a >= b for a, b in pairwise(given)):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for index, (low, high) in enumerate(pairwise(self.cutoffs)):
            hidden = int(in_features // div_value ** (index + 1))
            first = Linear(in_features, hidden, False, device, dtype)
            self.tail.append(Sequential(first, Linear(hidden, high - low, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> ASMoutput:
        """Compute the log-probabilities of targets (N,) or () given inputs (N, F) or (F,)."""
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
                f"inputs with size {input.shape}"
            )
        if target.ndim and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        rows: Any = input if target.ndim else input[None]
        classes = np.atleast_1d(target.array)
        if classes.size and is_any((classes < 0) | (classes >= self.n_classes)):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{classes.min()}, {classes.max()}] were found. "
            )
        cluster = np.searchsorted(self.cutoffs, classes, side="right")
        in_head = np.where(cluster == 0, classes, self.shortlist_size + cluster - 1)
        head: Any = ops.log_softmax(self.head(rows), 1)
        output = head.gather(1, wrap(in_head[:, None]))[:, 0]
        for index, (low, _) in enumerate(pairwise(self.cutoffs)):
            if is_captured(cluster):
                output = self._with_cluster(output, rows, index, cluster, classes - low)
                continue
            (members,) = np.nonzero(cluster == index + 1)
            if members.size:
                chosen = wrap(members)
                inside: Any = ops.log_softmax(self.tail[index](rows.index_select(0, chosen)), 1)
                relative = wrap((classes[members] - low)[:, None])
                output = output.index_add(0, chosen, inside.gather(1, relative)[:, 0])
        loss = (-output).mean()
        return ASMoutput(output if target.ndim else output[0], loss)

    def _with_cluster(
        self, output: Any, rows: Any, index: int, cluster: Any, relative: Any
    ) -> Tensor:
        """Add the share of a cluster, computed for all rows: a program cannot choose them."""
        inside: Any = ops.log_softmax(self.tail[index](rows), 1)
        last = self.cutoffs[index + 1] - self.cutoffs[index] - 1
        places = np.minimum(np.maximum(relative, 0), last)[:, None]
        share = inside.gather(1, wrap(places))[:, 0]
        chosen: Tensor = ops.where(wrap(cluster == index + 1), output + share, output)
        return chosen

    def log_prob(self, input: Tensor) -> Tensor:
        """Compute the log-probabilities of all classes, (N, n_classes)."""
        head: Any = ops.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for index in range(self.n_clusters):
            inside: Any = ops.log_softmax(self.tail[index](input), 1)
            parts.append(inside + head[:, self.shortlist_size + index, None])
        joined: Tensor = ops.cat(parts, 1)
        return joined

    def predict(self, input: Tensor) -> Tensor:
        """Return the class of the largest probability; clusters only where the head prefers one."""
        best: Any = self.head(input).argmax(1)
        if is_captured(best.array):
            of_all: Any = self.log_prob(input).argmax(1)
            return wrap(np.where(best.array >= self.shortlist_size, of_all.array, best.array))
        found = best.array.copy()
        (others,) = np.nonzero(found >= self.shortlist_size)
        if others.size:
            all_classes: Any = self.log_prob(input.index_select(0, wrap(others)))
            found[others] = all_classes.argmax(1).array
        return wrap(found)
