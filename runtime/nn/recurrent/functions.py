"""Recurrent networks of several layers and directions, as functions: `lstm`, `gru`, `rnn_tanh`, ...

A sequence is here always packed: the elements of all sequences at the first step, then those of
the ones that have a second step, and so on. Without packing all sequences are equally long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.registry import ops
from ..composed import dropout as dropped

State = tuple[Tensor, ...]
Cell = Callable[[Tensor, State, Sequence[Any]], State]


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return ops.linear(input, weight, bias)


def _tanh_cell(given: Tensor, state: State, weights: Sequence[Any]) -> State:
    return (ops.tanh(given + _linear(state[0], weights[1], weights[3])),)


def _relu_cell(given: Tensor, state: State, weights: Sequence[Any]) -> State:
    return (ops.relu(given + _linear(state[0], weights[1], weights[3])),)


def _lstm_cell(given: Tensor, state: State, weights: Sequence[Any]) -> State:
    gates = given + _linear(state[0], weights[1], weights[3])
    enter, keep, new, show = ops.split(gates, state[1].shape[1], 1)
    memory = ops.sigmoid(keep) * state[1] + ops.sigmoid(enter) * ops.tanh(new)
    hidden = ops.sigmoid(show) * ops.tanh(memory)
    return (hidden if weights[4] is None else _linear(hidden, weights[4], None)), memory


def _gru_cell(given: Tensor, state: State, weights: Sequence[Any]) -> State:
    (hidden,) = state
    size = hidden.shape[1]
    from_input = ops.split(given, size, 1)
    from_state = ops.split(_linear(hidden, weights[1], weights[3]), size, 1)
    forget = ops.sigmoid(from_input[0] + from_state[0])
    keep = ops.sigmoid(from_input[1] + from_state[1])
    new = ops.tanh(from_input[2] + forget * from_state[2])
    return ((hidden - new) * keep + new,)


def lstm(*args: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Run a long short-term memory; return its outputs and the last states and memories.

    Called as `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
    batch_first)` with `input` (time, batch, features), or as `lstm(data, batch_sizes, hx, params,
    has_biases, num_layers, dropout, train, bidirectional)` of a packed sequence. `hx` holds state
    and memory, (layers times directions, batch, size); `params` the weights in PyTorch's order.
    """
    output, (hidden, memory) = _run("lstm", _lstm_cell, args)
    return output, hidden, memory


def gru(*args: Any) -> tuple[Tensor, Tensor]:
    """Run gated recurrent units; return outputs and the last states. Called as `lstm`."""
    output, (hidden,) = _run("gru", _gru_cell, args)
    return output, hidden


def rnn_tanh(*args: Any) -> tuple[Tensor, Tensor]:
    """Run an Elman network with tanh; return outputs and the last states. Called as `lstm`."""
    output, (hidden,) = _run("rnn_tanh", _tanh_cell, args)
    return output, hidden


def rnn_relu(*args: Any) -> tuple[Tensor, Tensor]:
    """Run an Elman network with relu; return outputs and the last states. Called as `lstm`."""
    output, (hidden,) = _run("rnn_relu", _relu_cell, args)
    return output, hidden


def _run(name: str, cell: Cell, args: Sequence[Any]) -> tuple[Tensor, State]:
    if len(args) != 9:
        raise TypeError(f"{name}() takes 9 positional arguments, but {len(args)} were given")
    if isinstance(args[3], list | tuple):
        data, batch_sizes, hx, params, *rest = args
        return _layers(name, cell, data, _numbers(batch_sizes), _states(hx), params, *rest)
    input, hx, params, *flags, batch_first = args
    steps = input.transpose(0, 1) if batch_first else input
    length, batch = steps.shape[:2]
    if not length:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    data = steps.reshape(length * batch, steps.shape[2])
    output, state = _layers(name, cell, data, [batch] * length, _states(hx), params, *flags)
    output = output.reshape(length, batch, output.shape[1])
    return (output.transpose(0, 1) if batch_first else output), state


def _numbers(batch_sizes: Tensor) -> list[int]:
    sizes: list[int] = batch_sizes.tolist()
    return sizes


def _states(hx: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [hx] if isinstance(hx, Tensor) else list(hx)


def _layers(
    name: str,
    cell: Cell,
    data: Tensor,
    batch_sizes: list[int],
    hx: list[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, State]:
    directions = 2 if bidirectional else 1
    count = len(params) // (num_layers * directions)
    projects = count == (5 if has_biases else 3)
    if count * num_layers * directions != len(params) or count not in (2, 3, 4, 5):
        raise RuntimeError(f"{name}: {len(params)} weights do not make {num_layers} layers")
    last: list[State] = []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            given = params[number * count : (number + 1) * count]
            biases = given[2:4] if has_biases else (None, None)
            weights = (*given[:2], *biases, given[-1] if projects else None)
            start = tuple(ops.select(state, 0, number) for state in hx)
            output, end = _direction(cell, data, batch_sizes, start, weights, direction == 1)
            outputs.append(output)
            last.append(end)
        data = ops.cat(outputs, 1) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            data = dropped(data, dropout)
    return data, tuple(ops.stack(list(parts), 0) for parts in zip(*last, strict=True))


def _direction(
    cell: Cell,
    data: Tensor,
    batch_sizes: list[int],
    start: State,
    weights: Sequence[Any],
    reverse: bool,
) -> tuple[Tensor, State]:
    """Run one layer in one direction: the outputs of all steps, and the last state."""
    steps = ops.split_with_sizes(_linear(data, weights[0], weights[2]), batch_sizes, 0)
    outputs: list[Tensor] = []
    if reverse:
        state = _rows(start, 0, batch_sizes[-1])
        for step, size in zip(reversed(steps), reversed(batch_sizes), strict=True):
            if size > (before := state[0].shape[0]):  # sequences that end here begin
                state = _joined([state, _rows(start, before, size)])
            state = cell(step, state, weights)
            outputs.append(state[0])
        return ops.cat(outputs[::-1], 0), state
    state, ended = start, []
    for step, size in zip(steps, batch_sizes, strict=True):
        if size < (before := state[0].shape[0]):
            ended.append(_rows(state, size, before))
            state = _rows(state, 0, size)
        state = cell(step, state, weights)
        outputs.append(state[0])
    return ops.cat(outputs, 0), _joined([state, *ended[::-1]]) if ended else state


def _rows(state: State, first: int, end: int) -> State:
    return tuple(ops.narrow(part, 0, first, end - first) for part in state)


def _joined(states: list[State]) -> State:
    return tuple(ops.cat(list(parts), 0) for parts in zip(*states, strict=True))
