"""Recurrent networks of several layers as modules: `RNN`, `LSTM`, `GRU`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn_once
from .. import init
from ..module import Module
from ..parameter import empty_parameter
from ..utils.rnn import PackedSequence
from .functions import gru, lstm, rnn_relu, rnn_tanh

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """Base of recurrent networks: the weights of all layers and directions, in PyTorch's order."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_sizes(mode, input_size, hidden_size, num_layers, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._flat_weights_names: list[str] = []
        rows, shown = _GATES[mode] * hidden_size, proj_size or hidden_size
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:directions]:
                width = input_size if layer == 0 else shown * directions
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, width),
                    "weight_hh": (rows, shown),
                }
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    full = f"{name}_l{layer}{suffix}"
                    self.register_parameter(full, empty_parameter(shape, dtype, device))
                    self._flat_weights_names.append(full)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within `1/sqrt(hidden_size)`, as PyTorch does."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: there is no faster layout of the weights on the CPU."""

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        count = len(self._flat_weights_names) // (self.num_layers * self._directions)
        weights = self._flat_weights
        return [weights[first : first + count] for first in range(0, len(weights), count)]

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run the network on (time, batch, input_size), (time, input_size), or a packed sequence.

        Returns the outputs of the last layer, and the last states of all layers, (layers times
        directions, batch, size): for `LSTM` a pair with the memories. `hx` holds the first ones,
        zeros by default. The batch comes first if `batch_first`, in the input and the output.
        """
        if isinstance(input, PackedSequence):
            return self._run_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        is_batched = input.ndim == 3
        dim = 0 if self.batch_first else 1
        given = input if is_batched else input.unsqueeze(dim)
        self._check_width(given)
        if hx is not None:
            self._check_state_ndim(hx, is_batched)
            hx = hx if is_batched else _each(hx, lambda part: part.unsqueeze(1))
        state = self._state(hx, given, given.shape[dim])
        output, last = self._run(given, state, self.batch_first)
        if is_batched:
            return output, last
        return output.squeeze(dim), _each(last, lambda part: part.squeeze(1))

    def _run_packed(self, input: PackedSequence, hx: Any) -> Any:
        data, sizes, order, back = input
        self._check_width(data, ndim=2)
        if hx is not None and order is not None:
            hx = _each(hx, lambda part: part.index_select(1, order))
        state = self._state(hx, data, int(sizes[0]))
        output, last = self._run(data, state, sizes)
        if back is not None:
            last = _each(last, lambda part: part.index_select(1, back))
        return PackedSequence(output, sizes, order, back), last

    def _run(self, input: Tensor, state: Any, order: Any) -> Any:
        """Call the function; `order` is `batch_first`, or the sizes of the steps of packed data."""
        names = {"RNN_TANH": rnn_tanh, "RNN_RELU": rnn_relu, "LSTM": lstm, "GRU": gru}
        flags = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        function, weights = names[self.mode], self._flat_weights
        if isinstance(order, bool):
            output, *last = function(input, state, weights, *flags, order)
        else:
            output, *last = function(input, order, state, weights, *flags)
        return output, (tuple(last) if self.mode == "LSTM" else last[0])

    def _state(self, hx: Any, input: Tensor, batch: int) -> Any:
        layers = self.num_layers * self._directions
        shapes = [(layers, batch, self.proj_size or self.hidden_size)]
        if self.mode == "LSTM":
            shapes.append((layers, batch, self.hidden_size))
        if hx is None:
            zeros = tuple(wrap(np.zeros(shape, input.array.dtype)) for shape in shapes)
            return zeros if self.mode == "LSTM" else zeros[0]
        for name, shape, part in zip(("hidden[0]", "hidden[1]"), shapes, _parts(hx), strict=False):
            if tuple(part.shape) != shape:
                what = name if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {what} size {shape}, got {list(part.shape)}")
        return hx

    def _check_width(self, input: Tensor, ndim: int = 3) -> None:
        dtype = self.weight_ih_l0.dtype
        if input.dtype != dtype:
            raise ValueError(
                f"{self.mode.partition('_')[0]} input dtype ({input.dtype}) does not match weight "
                f"dtype ({dtype}). Convert input: input.to(gs.{dtype}), or convert model: "
                f"model.to(gs.{input.dtype})"
            )
        if input.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )

    def _check_state_ndim(self, hx: Any, is_batched: bool) -> None:
        wanted = 3 if is_batched else 2
        for part in _parts(hx):
            if part.ndim != wanted:
                kind = "batched 3-D" if is_batched else "unbatched 2-D"
                raise RuntimeError(
                    f"For {kind} input, hx should also be {wanted}-D but got {part.ndim}-D tensor"
                )

    def extra_repr(self) -> str:
        """Show the sizes, and what differs from the defaults."""
        words = [f"{self.input_size}, {self.hidden_size}"]
        if self.proj_size:
            words.append(f"proj_size={self.proj_size}")
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        for name, value in (usual | {"bidirectional": False}).items():
            if getattr(self, name) != value:
                words.append(f"{name}={getattr(self, name)}")
        return ", ".join(words)


class RNN(RNNBase):
    """Elman network: each state is tanh, or relu, of two linear maps, of input and last state."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self_nonlinearity: Any = args[3]
            args = args[:3] + args[4:]
        else:
            self_nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self_nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{self_nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{self_nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = self_nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: Hochreiter & Schmidhuber (1997); projected with `proj_size`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: Cho et al. (2014)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


def _check_sizes(
    mode: str, input_size: int, hidden_size: int, num_layers: int, dropout: float, proj_size: int
) -> None:
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warn_once(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}"
        )
    if mode not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {mode}")
    sizes = {"input_size": input_size, "hidden_size": hidden_size, "num_layers": num_layers}
    for name, size in sizes.items():
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if not 0 <= proj_size < hidden_size:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections, and has to be "
            "smaller than hidden_size"
        )


def _parts(hx: Any) -> Iterator[Tensor]:
    yield from (hx,) if isinstance(hx, Tensor) else hx


def _each(hx: Any, function: Any) -> Any:
    return function(hx) if isinstance(hx, Tensor) else tuple(function(part) for part in hx)
