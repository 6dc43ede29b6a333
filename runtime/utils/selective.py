"""Selective checkpoints: a policy says of each op whether its result is kept or computed again.

The function of a checkpoint is called with `Watched` tensors, plain tensors that show the ops on
them. So the policy is asked about every op with an argument that comes from the function's
arguments; ops on other tensors alone are computed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Any, ClassVar, Final, NamedTuple

from ..batching.batched import mapped, mapped_values
from ..core.levels import Level
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..dispatch.dispatch import call, lift
from ..dispatch.registry import Op
from ..graph.saved_tensor_hooks import current_hooks, saved_tensors_hooks
from ..ops import OpOverload, OpOverloadPacket, overload_named
from ._pytree import tree_map

__all__ = [
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "Watching",
    "create_selective_checkpoint_contexts",
]


class CheckpointPolicy(Enum):
    """Policies for the result of an op: what is not saved is computed again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """Context of a call that a policy gets: its result. It is asked in the forward pass only."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


Policy = Callable[..., Any]


def _of_plain(name: str) -> Any:
    """An attribute that a watched tensor has in common with the plain one."""

    def get(watched: Watched) -> Any:
        return getattr(watched._plain, name)

    def set(watched: Watched, value: Any) -> None:
        setattr(watched._plain, name, value)

    return property(get, set)


class Watched(Tensor):
    """A plain tensor, the ops on which are handed to the context of a checkpoint."""

    __slots__ = ("_plain", "_watching")
    _is_internal = True  # no class of a user's that could override ops
    _plain: Tensor
    _watching: Watching
    level: ClassVar[Level] = Level()
    """Mode without a depth: transforms inside the function come first; their ops are watched."""

    array = _of_plain("array")
    grad_node = _of_plain("grad_node")
    alias = _of_plain("alias")
    _view_base = _of_plain("_view_base")
    _view_kind = _of_plain("_view_kind")
    _grad = _of_plain("_grad")

    def _call_op(self, op: Op, values: dict[str, Any]) -> Any:
        watching = self._watching
        plain = lift(op, mapped_values(without_watch, values))
        return watching.watched(watching.run(op, plain))

    def _as_operand(self) -> Tensor:
        """Return the plain tensor."""
        return self._plain


def without_watch(value: Any) -> Any:
    """The plain tensor in the place of a watched one."""
    return value._plain if type(value) is Watched else value


class Watching:
    """The context of one of the two calls of a function."""

    def __enter__(self) -> Watching:
        self.counts: defaultdict[str, int] = defaultdict(int)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function on watched tensors in the place of plain ones."""
        args, kwargs = tree_map(self._watch, args), tree_map(self._watch, kwargs)
        return tree_map(without_watch, function(*args, **kwargs))

    def watched(self, result: Any) -> Any:
        """The result of an op, whose tensors are watched in turn."""
        return mapped(self._watch, result)

    def _watch(self, value: Any) -> Any:
        if type(value) is not Tensor:
            return value
        watched = Tensor.__new__(Watched)
        watched._plain, watched._watching = value, self
        return watched

    def key(self, op: Op) -> tuple[str, int]:
        """The op, and how many calls of it there have been."""
        number = self.counts[op.name]
        self.counts[op.name] += 1
        return op.name, number

    def run(self, op: Op, values: dict[str, Any]) -> Any:
        """Answer a call of an op on plain tensors by name."""
        raise NotImplementedError


class Kept(NamedTuple):
    """The result of a call, and what its node saved, in the order in which it was packed."""

    result: Any
    requires_grad: tuple[bool, ...]
    versions: tuple[int, ...]
    packed: tuple[tuple[str, Any], ...]
    """For each saved value the argument that it was and its position, or the value itself."""


_RECOMPUTE: Final = object()
_CONSUMED: Final = object()

Storage = dict[tuple[str, int], Any]


class _Saving(Watching):
    """The first call: what the policy wants is kept."""

    def __init__(self, policy: Policy, storage: Storage) -> None:
        self.policy = policy
        self.storage = storage

    def run(self, op: Op, values: dict[str, Any]) -> Any:
        packed: list[Tensor] = []
        hooks = current_hooks()
        if hooks is None:
            result = call(op, values)
        else:
            pack, unpack = hooks

            def note(tensor: Tensor) -> Any:
                packed.append(tensor)
                return pack(tensor)

            with saved_tensors_hooks(note, unpack):
                result = call(op, values)
        key = self.key(op)
        policy = self._ask(op, values, result)
        is_kept = policy in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[key] = _kept(values, result, packed) if is_kept else _RECOMPUTE
        return result

    def _ask(self, op: Op, values: dict[str, Any], result: Any) -> Any:
        args = [values[param.name] for param in op.params if not param.keyword_only]
        kwargs = {p.name: values[p.name] for p in op.params if p.keyword_only}
        given = {name: value for name, value in kwargs.items() if value is not None}
        with no_grad():
            context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
            policy = self.policy(context, overload_named(op.name), *args, **given)
        if isinstance(policy, bool):
            return CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        return policy


class _Answering(Watching):
    """The second call: what was kept is not computed."""

    def __init__(self, storage: Storage, allows_mutation: bool) -> None:
        self.storage = storage
        self.allows_mutation = allows_mutation

    def run(self, op: Op, values: dict[str, Any]) -> Any:
        key = self.key(op)
        kept = self.storage.get(key)
        if kept is None:
            raise RuntimeError(
                f"{overload_named(op.name)} invocation index {key[1]} encountered during backward "
                "but not found in storage: the function has called other ops than in the forward "
                "pass"
            )
        if kept is _RECOMPUTE:
            return call(op, values)
        if kept is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint."
            )
        self.storage[key] = _CONSUMED
        return self._answer(kept, values)

    def _answer(self, kept: Kept, values: dict[str, Any]) -> Any:
        """The result that was kept, after its node has saved again what it saved before."""
        if not self.allows_mutation and _versions(kept.result) != kept.versions:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        hooks = current_hooks()
        for name, place in kept.packed:
            if hooks is not None:
                value = place if not name else values[name]
                hooks[0](value[place] if isinstance(value, list | tuple) else value)
        flags = iter(kept.requires_grad)

        def recorded(tensor: Tensor) -> Tensor:
            # A copy where it may be written to, so that what was kept stays as it is.
            leaf = tensor.detach().requires_grad_(next(flags))
            return leaf.clone() if self.allows_mutation else leaf

        return mapped(recorded, kept.result)


def _kept(values: dict[str, Any], result: Any, packed: list[Tensor]) -> Kept:
    tensors = _tensors(result)
    return Kept(
        mapped(Tensor.detach, result),
        tuple(tensor.requires_grad for tensor in tensors),
        _versions(result),
        tuple(_source(tensor, values) for tensor in packed),
    )


def _source(packed: Tensor, values: dict[str, Any]) -> tuple[str, Any]:
    """The argument that a saved value is, which is there again; else the value without history."""
    for name, value in values.items():
        for place, item in enumerate(value if isinstance(value, list | tuple) else (value,)):
            if isinstance(item, Tensor) and item.array is packed.array:
                return name, place
    return "", packed.detach()


def _tensors(result: Any) -> list[Tensor]:
    items = result if isinstance(result, list | tuple) else (result,)
    return [item for item in items if isinstance(item, Tensor)]


def _versions(result: Any) -> tuple[int, ...]:
    return tuple(tensor._version for tensor in _tensors(result))


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[Watching, Watching]:
    """Return the contexts of a checkpoint whose results are kept as a policy says.

    A policy takes a `SelectiveCheckpointContext`, the op (`gs.ops.aten.mm.default`) and its
    arguments, and returns a `CheckpointPolicy` or whether to save. A list names the ops to save.
    """
    storage: Storage = {}
    policy = _policy_of(policy_fn_or_list)
    return _Saving(policy, storage), _Answering(storage, allow_cache_entry_mutation)


def _policy_of(policy_fn_or_list: Policy | list[OpOverload]) -> Policy:
    if not isinstance(policy_fn_or_list, list):
        if callable(policy_fn_or_list):
            return policy_fn_or_list
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    for op in policy_fn_or_list:
        if not isinstance(op, OpOverload):
            advice = (
                f" update the OpOverloadPacket to a specific OpOverload, such as {op}.default"
                if isinstance(op, OpOverloadPacket)
                else ""
            )
            raise ValueError(
                f"Expected op in `op_list` to be an OpOverload but got: {op} of type "
                f"{type(op)}.{advice}"
            )
    saved = frozenset(policy_fn_or_list)
    return lambda context, op, *args, **kwargs: op in saved
