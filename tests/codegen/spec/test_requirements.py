"""`requires`: what is read, what is refused, and for which arguments it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.spec.structure import ShapeDtype, holds, shape_only, unmet

Load = Callable[..., Table]
Mistakes = Callable[..., list[tuple[str, str]]]

ENTRY = """\
- name: >-
    f(Tensor self, Tensor? weight, Tensor[] others, int[] sizes, int dim=0, float a=1.5,
    int[1] axes=1,
    str mode='sum', bool flag=False, float? b=None, ScalarType? dtype=None) -> Tensor
  composite: self * a
  requires: REQUIRES
  examples: [{self: [2, 3], weight: [3], others: [[2], [4]], sizes: [5, 6]}]
"""

SHAPES: dict[str, Any] = {
    "self": ShapeDtype((2, 3)),
    "weight": ShapeDtype((3,)),
    "others": [ShapeDtype((2,)), ShapeDtype((4,))],
    "sizes": [5, 6],
    "dim": 0,
    "axes": 1,
    "a": 1.5,
    "mode": "sum",
    "flag": False,
    "b": None,
    "dtype": None,
}


def entry(load: Load, requires: str) -> OpSpec:
    """The op with these requirements, whatever its example is."""
    text = ENTRY.replace("REQUIRES", requires)
    (op,) = load(text).ops
    return op


HOLD = [
    "self.ndim == 2",
    "len(self.shape) == 2",
    "self.shape == (2, 3)",
    "self.shape[:-1] == (2,)",
    "self.shape[-1] == weight.shape[0]",
    "tuple(sizes) == (5, 6)",
    "tuple(sizes[1:]) == (6,) and len(sizes[:1]) == 1",
    "(*sizes, *sizes[1:]) == (5, 6, 6)",
    "(self.shape[0], *weight.shape) == self.shape",
    "self.shape[dim] == 2",
    "len(others) == self.shape[0] and others[1].shape[0] == 4",
    "others[1].dtype == 'float64'",
    "self.dtype in ('float32', 'float64')",
    "not is_complex(self)",
    "numel(self) > 0",
    "sizes[0] < sizes[1]",
    "a > 1 or flag",
    "not flag",
    "mode in ('sum', 'mean')",
    "weight is not None",
    "b is None or b > 0",
    "a < inf and a * 2 < pi",
    "sizes[1] % self.shape[1] == 0 and sizes[0] // 2 == 2",
    "(sizes[0] if flag else sizes[1]) == 6",
    "dtype != 'float16'",
]

FAIL = [
    "self.ndim == 3",
    "self.shape == (3, 2)",
    "self.shape[2] == self.shape[2] + sizes[0] - 5",
    "others[2].ndim == 1",
    "others[1].dtype != self.dtype",
    "is_complex(self)",
    "b > 0",
    "b <= 0",
    "mode == 'mean'",
    "a > 1 and flag",
    "weight is None",
    "sizes[0] % dim == 0",
]


@pytest.mark.parametrize("condition", HOLD)
def test_holds(load: Load, condition: str) -> None:
    (requirement,) = entry(load, f'"{condition}"').requires
    assert holds(requirement, SHAPES)


@pytest.mark.parametrize("condition", FAIL)
def test_does_not_hold(load: Load, mistakes: Mistakes, condition: str) -> None:
    """The example is refused, as it has the shapes above."""
    assert mistakes(ENTRY.replace("REQUIRES", f'"{condition}"')) == [("GS061", "{")]


def test_an_example_has_the_shapes_of_its_tensors(load: Load) -> None:
    op = entry(load, "self.ndim == 2")
    assert shape_only(op, op.examples[0]) == SHAPES


def test_data_of_examples_has_shapes_and_dtypes(load: Load) -> None:
    text = """\
- name: f(Tensor self, Tensor other, Tensor third) -> Tensor
  composite: self
  requires: self.ndim > 0
  examples:
    - {self: {int: [[0, 2]]}, other: {bool: []}, third: {float: [1.5, 2]}}
    - {self: {complex: [2, 3]}, other: {svd: [3, 2]}, third: {cholesky: [2, 2]}}
"""
    (op,) = load(text).ops
    assert [list(shape_only(op, example).values()) for example in op.examples] == [
        [ShapeDtype((1, 2), "int64"), ShapeDtype((0,), "bool"), ShapeDtype((2,))],
        [ShapeDtype((2, 3), "complex128"), ShapeDtype((3, 2)), ShapeDtype((2, 2))],
    ]


def test_arrays_will_do_where_shapes_do(load: Load) -> None:
    op = entry(load, "[self.ndim == 2, \"self.dtype == 'float32'\"]".replace("float32", "float64"))
    arrays = SHAPES | {"self": np.zeros((2, 3))}
    assert unmet(op, arrays) is None
    assert unmet(op, arrays | {"self": np.zeros(3)}) is op.requires[0]
    assert unmet(op, arrays | {"self": np.zeros((2, 3), np.float32)}) is op.requires[1]


def test_symbols_of_a_proof_stand_for_every_dtype(load: Load) -> None:
    op = entry(load, "[self.ndim == 2, \"self.dtype == 'float64'\", not is_complex(self)]")
    symbols = np.zeros((2, 3), object)
    assert unmet(op, SHAPES | {"self": symbols}) is None
    assert unmet(op, SHAPES | {"self": symbols[0]}) is op.requires[0]


def test_one_condition_or_several_each_perhaps_with_a_reason(load: Load) -> None:
    assert [
        [(each.formula.text, each.reason) for each in entry(load, requires).requires]
        for requires in (
            "self.ndim == 2",
            "{self.ndim == 2: a matrix}",
            "[self.ndim == 2, a > 0: positive]",
            "\n    - self.ndim == 2\n    - a > 0: >-\n        it is\n        positive",
        )
    ] == [
        [("self.ndim == 2", "")],
        [("self.ndim == 2", "a matrix")],
        [("self.ndim == 2", ""), ("a > 0", "positive")],
        [("self.ndim == 2", ""), ("a > 0", "it is positive")],
    ]


@pytest.mark.parametrize(
    ("requires", "code", "place"),
    [
        ("self > 0", "GS060", "self"),
        ("'self[0] == 1'", "GS060", "self"),
        ("sum(self) == 1", "GS060", "self"),
        ("a * weight == 1", "GS060", "weight"),
        ("others.shape == ()", "GS060", "others.shape"),
        ("len(self) == 2", "GS060", "self"),
        ("self.strides == (8,)", "GS060", "self.strides"),
        ("self.meta == 2", "GS060", "self.meta"),
        ("a.shape == ()", "GS060", "a.shape"),
        ("is_complex(a)", "GS060", "a"),
        ("len(axes) == 1", "GS060", "len(axes)"),
        ("tuple(axes) == self.shape", "GS060", "tuple(axes)"),
        ("'axes[0] == 1'", "GS060", "axes[0]"),
        ("axes == 1", "GS060", "axes"),
        ("sizes == self.shape", "GS060", "sizes"),
        ("'sizes[1:] == self.shape'", "GS060", "sizes[1:]"),
        ("'self.shape + sizes == (1,)'", "GS060", "sizes"),
        ("a ** 2 == 1", "GS060", "a ** 2"),
        ("'True'", "GS060", "True"),
        ("'1 < 2'", "GS060", "1 < 2"),
        ("self.ndim == 2 and pi > 3", "GS060", "pi > 3"),
        ("self.ndim == self.ndim", "GS060", "self.ndim == self.ndim"),
        ("self is not None", "GS060", "self is not None"),
        ("self.ndim", "GS060", "self.ndim"),
        ("a", "GS060", "a"),
        ("not len(sizes)", "GS060", "len(sizes)"),
        ("result.ndim == 2", "GS034", "result"),
        ("grad.ndim == 2", "GS034", "grad"),
        ("slef.ndim == 2", "GS034", "slef"),
        ("exp(a) < 1", "GS035", "exp(a)"),
        ("np.sin(a) < 1", "GS035", "np.sin(a)"),
        ("len(sizes, others) == 2", "GS036", "len(sizes, others)"),
        ("self.dtype == 'float'", "GS051", "'float'"),
        ("\"self.dtype in ('float32', 'double')\"", "GS051", "'double'"),
        ("0 < a < 1", "GS031", "0 < a < 1"),
        ("self.ndim ==", "GS030", ""),
        ("|\n    n = self.ndim\n    return n == 2", "GS060", "|"),
        ("[[self.ndim == 2]]", "GS010", "["),
        ("{self.ndim == 2: [a, b]}", "GS010", "["),
        ('""', "GS010", '""'),
    ],
)
def test_a_condition_that_is_none_is_told_where_it_stands(
    mistakes: Mistakes, requires: str, code: str, place: str
) -> None:
    assert mistakes(ENTRY.replace("REQUIRES", requires)) == [(code, place)]


def test_a_condition_on_elements_points_to_the_domain(load: Load) -> None:
    with pytest.raises(SpecError) as caught:
        entry(load, "self > 0")
    (found,) = caught.value.diagnostics
    assert found.message == "a condition on the elements of `self`"
    assert found.help.startswith("say in `domain` where elements may lie")
    assert "`domain: {self: positive}`" in found.help


@pytest.mark.usefixtures("has_an_end")
@pytest.mark.parametrize(
    "condition",
    [
        "tuple(sizes) * 999999999999 == self.shape",
        "'x' * sizes[0] * 9999999 * 9999999 == mode",
        "'%9999999999d' % sizes[0] == mode",
    ],
)
def test_a_condition_that_would_fill_the_memory_does_not_hold(
    mistakes: Mistakes, condition: str
) -> None:
    assert mistakes(ENTRY.replace("REQUIRES", f'"{condition}"')) == [("GS061", "{")]


@pytest.mark.parametrize(
    "spelled",
    [
        "(1,) * sizes[0] * 9999999 * 9999999",
        "(1,) * (9999999 * 9999999)",
        "(1,) * 10 ** 9",
    ],
)
def test_a_list_that_is_spelled_with_too_many_items_is_refused(
    mistakes: Mistakes, spelled: str
) -> None:
    (found,) = mistakes(ENTRY.replace("REQUIRES", f'"{spelled} == self.shape"'))
    assert found[0] == "GS033"
    assert spelled.startswith(found[1])


def test_a_name_that_is_a_gradient_too_is_refused(load: Load) -> None:
    """`grad_x` would be the second output, or the cotangent of the first."""
    with pytest.raises(SpecError) as caught:
        load("""
- name: two(Tensor self) -> (Tensor x, Tensor grad_x)
  forward: (sin(self), cos(self))
  self: grad_x * cos(self) - grad_grad_x * sin(self)
""")
    told = {found.code: found.message for found in caught.value.diagnostics}
    assert "`grad_x` is a name of the signature" in told["GS037"]
