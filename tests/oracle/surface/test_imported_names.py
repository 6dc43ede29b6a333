"""Names that programs import beside ops: modules by file, trees, closeness, wrappers."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict, deque, namedtuple
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

Pair = namedtuple("Pair", "first second")


def submodule(library: Any, name: str) -> Any:
    return import_module(f"{library.__name__}.{name}")


def test_trees(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        trees = submodule(library, "utils._pytree")
        tree = {
            "a": [1, (2.0, None)],
            "b": Pair(library.ones(2), "text"),
            "c": OrderedDict(x=4),
            "d": defaultdict(list, y=5),
        }
        leaves, spec = trees.tree_flatten(tree)
        again = trees.tree_unflatten(leaves, spec)
        return [
            leaves,
            [type(value).__name__ for value in again.values()],
            again["d"]["new"],
            spec == trees.tree_structure(tree),
            [spec.num_leaves, spec.is_leaf(), len(trees.tree_leaves([]))],
            trees.tree_map(lambda x, y: (x, y), [1, {"k": 2}], [3, {"k": [4]}]),
            trees.tree_map_only(int, lambda x: -x, [1, "x", (2,)]),
            trees.tree_leaves([1, (2, 3)], is_leaf=lambda x: isinstance(x, tuple)),
            trees.tree_all(lambda x: x > 0, [1, 2]),
            trees.tree_any(lambda x: x > 1, [1, 1]),
            attempt(lambda: trees.tree_unflatten([1], spec)),
            attempt(lambda: trees.tree_map(max, [1, 2], [1])),
            attempt(lambda: trees.tree_map(max, [1, 2], (1, 2))),
            attempt(lambda: trees.tree_unflatten([1], "no structure")),
        ]

    assert_same(behaviour, torch)


def test_structures_as_text(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        trees = submodule(library, "utils._pytree")
        given = [1, (0, [0, 0, [0]]), {"a": Pair(1, 2), "b": ()}, Pair([1], 2)]
        return [repr(trees.tree_structure(tree)) for tree in given]

    assert_same(behaviour, torch)


def test_paths_in_trees(torch: Any) -> None:
    Other = namedtuple("Other", "first second")

    def behaviour(library: Any) -> Any:
        trees = submodule(library, "utils._pytree")

        class Box:
            pass

        class Keyed:
            pass

        trees.register_pytree_node(Box, lambda box: ([1], None), lambda items, _: Box())
        trees.register_pytree_node(
            Keyed,
            lambda box: ([7], None),
            lambda items, _: Keyed(),
            flatten_with_keys_fn=lambda box: ([(trees.GetAttrKey("seven"), 7)], None),
        )
        tree = {"a": [1, (2,)], "b": Pair(3, 4), "c": OrderedDict(x=5), "d": Keyed()}
        leaves, spec = trees.tree_flatten_with_path(tree)
        path = (trees.MappingKey("b"), trees.GetAttrKey("second"))
        return [
            [(trees.keystr(path), leaf) for path, leaf in leaves],
            spec == trees.tree_structure(tree),
            trees.tree_map_with_path(
                lambda path, *both: (trees.keystr(path), *both), [1, {"k": 2}], [3, {"k": [4]}]
            ),
            trees.key_get(tree, path),
            trees.SequenceKey(1) == trees.SequenceKey(1),
            trees.tree_leaves_with_path([1, 2], is_leaf=lambda x: True),
            [trees.tree_is_leaf(value) for value in (1, [], None, Pair(1, 2))],
            attempt(lambda: trees.tree_leaves_with_path([Box()])),
            attempt(lambda: trees.tree_map(max, Pair(1, 2), Other(3, 4))),
            trees.tree_all_only(int, lambda x: x > 0, [1, "x", -1.0]),
            trees.tree_any_only((int, float), lambda x: x < 0, [1, "x", -1.0]),
            trees.tree_map_only_(int, lambda x: 5, [1]),
        ]

    assert_same(behaviour, torch)


def test_a_container_of_ones_own(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        trees = submodule(library, "utils._pytree")

        class Box:
            def __init__(self, items: list[Any], label: str) -> None:
                self.items, self.label = items, label

        def register() -> None:
            trees.register_pytree_node(
                Box, lambda box: (box.items, box.label), lambda items, label: Box([*items], label)
            )

        register()
        doubled = trees.tree_map(lambda x: 2 * x, [Box([1, 2], "label")])
        return [doubled[0].items, doubled[0].label, attempt(register)]

    assert_same(behaviour, torch)


def test_transforms_take_containers_of_ones_own(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        trees, func = submodule(library, "utils._pytree"), library.func

        class Both:
            def __init__(self, one: Any, two: Any) -> None:
                self.one, self.two = one, two

        trees.register_pytree_node(
            Both, lambda p: ([p.one, p.two], None), lambda items, _: Both(*items)
        )
        x = library.tensor([[1.0, 2.0], [3.0, 4.0]])
        gradient = func.grad(lambda p: (p.one * p.two["a"]).sum())(Both(x, {"a": x + 1}))
        made = func.vmap(lambda p: Both(p.one + p.two, p.two.sum()))(Both(x, x))
        split = func.vmap(lambda p: p.one * p.two, in_dims=(Both(0, None),))(Both(x, x[0]))
        queue = func.grad(lambda q: (q[0] * q[1]).sum())(deque([x, x + 1]))
        table = func.grad(lambda d: (d["a"] ** 2).sum())(defaultdict(list, a=x))
        tangent = func.jvp(lambda p: p.one * p.two, (Both(x, x),), (Both(x, x),))[1]
        jacobian = func.jacrev(lambda p: p.one.sum(0))(Both(x, x))
        return [
            [gradient.one, gradient.two["a"], made.one, made.two, split, tangent],
            [type(queue).__name__, list(queue), type(table).__name__, table["a"], jacobian.one],
        ]

    assert_same(behaviour, torch)


def test_closeness(torch: Any) -> None:
    def message(library: Any, *values: Any, **options: Any) -> str:
        try:
            library.testing.assert_close(*values, **options)
        except (AssertionError, TypeError, ValueError) as error:
            named = re.sub(r"torch\.|gradspec\.core\.tensor\.|gradspec\.(?=Size)", "", str(error))
            return f"{type(error).__name__}: {named}"
        return "close"

    def behaviour(library: Any) -> Any:
        submodule(library, "testing")

        def t(*values: Any) -> Any:
            return library.tensor(list(values))

        def given(*values: Any, **options: Any) -> str:
            return message(library, *values, **options)

        return [
            given(t(1.0, 2.0, 3.0), t(1.0, 2.0, 4.0)),
            given(t(1.0), t(1.0 + 1e-6)),
            given(t(1.0).double(), t(1.0 + 1e-6).double()),
            given(t(1.0), t(1.0).double()),
            given(t(1.0), t(1.0).double(), check_dtype=False),
            given(t(1.0), t(1.0, 2.0)),
            given(library.tensor(1.0), library.tensor(2.0)),
            given(1.0, 2.0),
            given(1, 1.0),
            given([1.0, t(2.0)], [1.0, t(3.0)]),
            given({"a": 1, "b": t(1)}, {"a": 1, "b": t(2)}),
            given({"a": 1}, {"b": 2}),
            given([1], [1, 2]),
            given(t(True), t(False)),
            given(t(float("nan")), t(float("nan"))),
            given(t(float("nan")), t(float("nan")), equal_nan=True),
            given(t(1.0, 9.0), t(1.0, 2.0), rtol=0, atol=1),
            given(t(1.0), t(2.0), rtol=0.1),
            given(t(1.0), t(2.0), msg="mine"),
            given(t(1.0), t(2.0), msg=lambda text: text[:10]),
            given(t(1.0), 1.0),
            given(np.ones(2), np.ones(2)),
            given(None, None),
            given("a", "a"),
            given(None, True),
            given(False, True),
            given(np.float32(2), 2.0),
            given(t(1, 200).to(library.uint8), t(2, 100).to(library.uint8)),
            given(np.ones((2, 3)).T, np.ones((3, 2)), check_stride=True),
            given([[1], 2], [[], 3]),
            given([1, "a"], [2, "a"], msg="mine"),
        ]

    assert_same(behaviour, torch)


def test_modules_by_file(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        conv = submodule(library, "nn.modules.conv")
        sizes = submodule(library, "nn.modules.utils")
        clones = submodule(library, "nn.modules.transformer")._get_clones
        attention = submodule(library, "nn.attention")
        nn = library.nn
        layer = nn.Conv2d(1, 2, 3, padding=(1, 2), padding_mode="circular")
        x = library.arange(30.0).reshape(1, 1, 5, 6)
        weight = library.arange(18.0).reshape(2, 1, 3, 3)
        transposed = nn.ConvTranspose2d(1, 1, 2, stride=3)
        with attention.sdpa_kernel([attention.SDPBackend.MATH]):
            attended = nn.functional.scaled_dot_product_attention(x, x, x)
        scheduler = submodule(library, "optim.lr_scheduler")
        return [
            [isinstance(each, conv._ConvNd) for each in (layer, transposed, nn.ReLU())],
            [sizes._pair(3), sizes._triple((1, 2, 3)), sizes._reverse_repeat_tuple((1, 2), 2)],
            layer._conv_forward(x, weight, None),
            list(layer._reversed_padding_repeated_twice),
            list(transposed._output_padding(x, [16, 19], [3, 3], [0, 0], [2, 2], 2, [1, 1])),
            [layer.transposed, layer.output_padding, transposed.transposed],
            [len(clones(nn.ReLU(), 3)), attended],
            issubclass(scheduler.StepLR, scheduler._LRScheduler),
            submodule(library, "utils.hooks").RemovableHandle.__name__,
            submodule(library, "utils.dlpack").from_dlpack(np.arange(3.0)),
        ]

    assert_same(behaviour, torch)


def test_wrappers_that_change_nothing(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        @library.jit.script
        def scaled(x):
            return x * 2.0

        @library.jit.ignore
        def ignored(x: Any) -> Any:
            return x + 1

        layer = library.nn.Linear(2, 2)
        parallel = library.nn.DataParallel(layer)
        x = library.ones(1, 2)
        return [
            scaled(x),
            ignored(x),
            library.jit.is_scripting(),
            bool((parallel(x) == layer(x)).all()),
            list(parallel.state_dict()),
            parallel.module is layer,
            submodule(library, "distributed").is_initialized(),
        ]

    assert_same(behaviour, torch)
