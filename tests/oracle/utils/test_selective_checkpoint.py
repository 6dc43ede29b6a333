"""Selective checkpoints: policies see the ops, what they save is not computed again."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.modes import observe
from gradspec.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def tools(library: Any) -> Any:
    return import_module(f"{library.__name__}.utils.checkpoint")


def leaves(library: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return tuple(library.tensor(rng.normal(size=(3, 3)), requires_grad=True) for _ in range(2))


def products(library: Any, x: Any, y: Any) -> Any:
    return library.sigmoid(library.mm(library.mm(x, y), y)) * y


def run(library: Any, what: Any, function: Any = products, **options: Any) -> list[Any]:
    """The result and the gradients of a function under a policy."""
    module = tools(library)
    contexts = partial(module.create_selective_checkpoint_contexts, what, **options)
    x, y = leaves(library)
    result = module.checkpoint(
        partial(function, library), x, y, use_reentrant=False, context_fn=contexts
    )
    result.sum().backward()
    return [result.detach(), x.grad, y.grad]


@pytest.mark.parametrize("policy", ["MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", True, False])
def test_values_and_what_policies_see(torch: Any, policy: Any) -> None:
    def behaviour(library: Any) -> Any:
        seen: list[Any] = []

        def choose(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
            shapes = [tuple(arg.shape) for arg in args]
            seen.append([str(op), op.name(), shapes, kwargs, context.is_recompute])
            seen.append(tuple(context.op_output.shape))
            if isinstance(policy, bool):
                return policy
            return getattr(tools(library).CheckpointPolicy, policy)

        return run(library, choose), seen

    assert_same(behaviour, torch)


def test_lists_of_ops(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        aten = library.ops.aten
        return [
            run(library, [aten.mm.default]),
            run(library, [aten.mul.Tensor, aten.sigmoid.default]),
            attempt(lambda: run(library, [aten.mm])),
            attempt(lambda: run(library, [library.mm])),
            attempt(lambda: run(library, "mm")),
            attempt(lambda: aten.mm.of_no_kind),
            attempt(lambda: aten.of_no_name),
            [str(aten.mm), repr(aten.mm.default), aten.mm.default.__name__],
            aten.mm.default is aten.mm.default.overloadpacket.default,
            aten.add.Tensor(library.ones(2), library.ones(2), alpha=3),
            aten.add(library.ones(2), 2.0),
        ]

    assert_same(behaviour, torch)


def test_a_second_pass_and_writes_to_what_is_kept(torch: Any) -> None:
    def writes(library: Any, x: Any, y: Any) -> Any:
        product = library.mm(x, y)
        product.mul_(2)
        return product * y

    def behaviour(library: Any) -> Any:
        module, aten = tools(library), library.ops.aten
        contexts = partial(module.create_selective_checkpoint_contexts, [aten.mm.default])
        x, y = leaves(library)
        result = module.checkpoint(
            partial(products, library), x, y, use_reentrant=False, context_fn=contexts
        )
        result.sum().backward(retain_graph=True)
        return [
            x.grad,
            attempt(lambda: result.sum().backward()),
            attempt(lambda: run(library, [aten.mm.default], writes)),
            run(library, [aten.mm.default], writes, allow_cache_entry_mutation=True),
            run(library, [aten.mul.Tensor], writes),
        ]

    assert_same(behaviour, torch)


def test_programs(torch: Any) -> None:
    """Views, indices, reductions, modules, tuples and dicts go through a checkpoint."""

    def attention(library: Any, x: Any, y: Any) -> Any:
        scores = (x[:, None] * y.view(1, 3, 3)).sum(-1) / 3**0.5
        weights = library.softmax(scores, -1)
        top, places = weights.max(dim=1, keepdim=True)
        values = library.stack([weights @ y, library.where(weights > 0.3, x, -y)])
        chosen = values[0, 1:] + library.cat([top, places.to(x.dtype)], 1)[:2].mean()
        part = library.cat([chosen[:1].tanh(), values[1][1:]])
        return part.reshape(-1)[library.tensor([0, 4, 4])].logsumexp(0) + x.norm()

    def behaviour(library: Any) -> Any:
        return [
            run(library, lambda *_, **__: True, attention),
            run(library, lambda *_, **__: False, attention),
            run(library, lambda context, op, *_, **__: "m" in op.name(), attention),
        ]

    assert_same(behaviour, torch)


def test_modules_in_trees(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        layer = library.nn.Linear(3, 3, dtype=library.float64)
        with library.no_grad():
            for number, param in enumerate(layer.parameters()):
                param.copy_(library.ones_like(param) * (number + 0.5))
        x, y = leaves(library)
        names: list[str] = []

        def choose(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
            names.append(str(op))
            return op is library.ops.aten.addmm.default

        def function(pair: Any, also: Any) -> Any:
            return {"out": library.relu(layer(pair[0] * also["y"]))}, pair[1]

        module = tools(library)
        made, number = module.checkpoint(
            function,
            (x, 3),
            also={"y": y},
            use_reentrant=False,
            context_fn=partial(module.create_selective_checkpoint_contexts, choose),
        )
        made["out"].pow(2).sum().backward()
        facts = [x.grad, y.grad, [param.grad for param in layer.parameters()], number]
        return facts, [name for name in names if name != "aten.t.default"]

    assert_same(behaviour, torch)


def test_what_is_kept_is_not_computed_again() -> None:
    made: list[Any] = []
    x, y = leaves(gs)
    contexts = partial(create_selective_checkpoint_contexts, [gs.ops.aten.mm.default])
    result = checkpoint(partial(products, gs), x, y, use_reentrant=False, context_fn=contexts)
    with observe(lambda results: made.append(results[0].grad_fn)):
        result.sum().backward()
    names = [node.name() for node in made if node is not None]
    assert "MmBackward0" not in names
    assert "SigmoidBackward0" in names
