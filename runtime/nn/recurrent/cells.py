"""Modules of one step of a layers network."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...generated import layers
from .. import init
from ..module import Module
from ..parameter import empty_parameter


class _Cell(Module):
    """Base of cells: stacked weights and biases of `gates` gates, for the input and the state."""

    gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = empty_parameter((rows, input_size), dtype, device)
        self.weight_hh = empty_parameter((rows, hidden_size), dtype, device)
        self.register_parameter(
            "bias_ih", empty_parameter((rows,), dtype, device) if bias else None
        )
        self.register_parameter(
            "bias_hh", empty_parameter((rows,), dtype, device) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly within `1/sqrt(hidden_size)`, as PyTorch does."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _batched(self, input: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
        """Give input and state a batch dimension; an absent state is zeros."""
        for name, given in (("input", input), ("hidden", state)):
            if given is not None and given.ndim not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {given.ndim}D "
                    "instead"
                )
        rows = input if input.ndim == 2 else input.unsqueeze(0)
        if rows.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.shape[1]} expected {self.input_size}"
            )
        expected = (rows.shape[0], self.hidden_size)
        if state is None:
            return rows, wrap(np.zeros(expected, input.array.dtype))
        states = state if state.ndim == 2 else state.unsqueeze(0)
        if states.shape[0] != expected[0]:
            raise RuntimeError(
                f"Input batch size {expected[0]} doesn't match hidden batch size {states.shape[0]}"
            )
        if states.shape[1] != expected[1]:
            raise RuntimeError(
                f"hidden has inconsistent hidden_size: got {states.shape[1]}, expected "
                f"{expected[1]}"
            )
        return rows, states

    def extra_repr(self) -> str:
        """Show the sizes."""
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """Elman cell: the next state is `tanh`, or `relu`, of a sum of two linear maps."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the state (batch, hidden_size) after `input` (batch, input_size)."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = layers.rnn_tanh_cell if self.nonlinearity == "tanh" else layers.rnn_relu_cell
        state = cell(*self._batched(input, hx), *self._weights())
        return state if input.ndim == 2 else state.squeeze(0)

    def extra_repr(self) -> str:
        """Show the sizes."""
        unusual = f", nonlinearity={self.nonlinearity}" if self.nonlinearity != "tanh" else ""
        return super().extra_repr() + unusual


class LSTMCell(_Cell):
    """Cell of a long short-term memory: Hochreiter & Schmidhuber (1997)."""

    gates = 4

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the state and the memory, each (batch, hidden_size), after `input`."""
        rows, state = self._batched(input, None if hx is None else hx[0])
        _, memory = self._batched(input, None if hx is None else hx[1])
        state, memory = layers.lstm_cell(rows, (state, memory), *self._weights())
        return (state, memory) if input.ndim == 2 else (state.squeeze(0), memory.squeeze(0))


class GRUCell(_Cell):
    """Gated layers unit: Cho et al. (2014)."""

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the state (batch, hidden_size) after `input` (batch, input_size)."""
        state = layers.gru_cell(*self._batched(input, hx), *self._weights())
        return state if input.ndim == 2 else state.squeeze(0)
