"""Names of a spec collide with nothing: whatever an author calls things, the op is what it says."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec_codegen.ir.shorthands import SHORTHANDS
from gradspec_codegen.render.module_names import MODULE_NAMES
from gradspec_codegen.spec.keys import ENTRY_KEYS
from gradspec_codegen.spec.vocabulary import CONSTANTS, HELPERS
from tests.codegen.proving import ROOT, imported, own_table, prove_text

Mistakes = Callable[..., list[tuple[str, str]]]

WORDS_OF_THE_LANGUAGE = {
    *("grad", "grads", "np", "sp", "kernels", "self", "input", "other", "result"),
    *CONSTANTS,
    *ENTRY_KEYS,
}
"""These cannot be arguments, or are in the ops below."""


def names_of_generated_code() -> set[str]:
    """Every name that generated modules read, assign, import or define."""
    found: set[str] = set()
    for file in (ROOT / "generated").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.alias(name=name, asname=asname):
                    found |= {name.rpartition(".")[2], asname or name}
    return found


def candidates() -> list[str]:
    made = [
        *("x_array", "grad_x", "_grad_x", "x_shape", "x_dtype", "x_ndim", "y_array", "y_shape"),
        *("grad_y", "x_", "_", "match", "case", "type", "len_", "x_meta", "share_array"),
        *("mine", "array_mine", "mine_jvp", "MineBackward0", "MineResult", "node", "needs", "name"),
        *("primals", "tangents", "lifted", "is_cast", "error", "flags", "out", "args", "kwargs"),
    ]
    every_tenth = sorted(names_of_generated_code())[::10]
    known = {*every_tenth, *MODULE_NAMES, *dir(builtins)[::2], *made}
    return sorted(
        name
        for name in known
        if name.isidentifier()
        and name.isascii()
        and "__" not in name
        and not keyword.iskeyword(name)
        and not keyword.iskeyword(name.removesuffix("_"))
        and name not in WORDS_OF_THE_LANGUAGE
        and name.removesuffix("_") not in WORDS_OF_THE_LANGUAGE
    )


NAMES = candidates()

ENTRY = """
- name: {op}(Tensor {x}, Tensor {y}, *, Scalar {a}=2) -> Tensor
  doc: An op.
  forward: |
    {local} = sigmoid({x}) * {a}
    if len({x}.shape) > 5:
        return {x}
    return {local} * {y}
  {x}: grad * {y} * {local} * (1 - {local} / {a})
  {y}: grad * {local}
  result: "{x}_t * {y}_p * {local} * (1 - {local} / {a}) + {local} * {y}_t"
  promotes: {x}, {y}
  int_to_float: true
- name: {op}_two(Tensor self, Tensor {y}) -> (Tensor {x}, Tensor {local})
  doc: Two outputs.
  forward: (sin(self) * {y}, self * {y})
  self: grad_{x} * cos(self) * {y} + grad_{local} * {y}
  {y}: grad_{x} * sin(self) + grad_{local} * self
  {x}: self_t * cos(self_p) * {y}_p + sin(self_p) * {y}_t
  {local}: self_t * {y}_p + self_p * {y}_t
  output_differentiability: [true, true]
  examples: [{{self: [2], {y}: [2]}}]
"""


def clashes(*names: str) -> bool:
    """Return whether names mean one thing in the language: `x` and `x_`, `x` and `x_t`."""
    plain = [name.removesuffix("_") or name for name in names]
    tangents = {f"{name}_{of}" for name in names for of in "pt"}
    gradients = {f"grad_{name}" for name in names}
    unsayable = any("__" in name for name in (*tangents, *gradients))
    return unsayable or len(set(plain)) < len(names) or bool({*tangents, *gradients} & set(names))


def entries() -> Iterator[tuple[str, dict[str, str]]]:
    """Ops whose names are all names that the generated code uses, each in every place."""
    usual = {"x": "x", "y": "y", "a": "a", "local": "share"}
    for number in range(0, len(NAMES) - 4, 4):
        names = dict(zip(usual, NAMES[number : number + 4], strict=True))
        if not clashes(*names.values()):
            yield f"all{number}", names
    for place, other in itertools.permutations(usual, 2):
        for number, form in enumerate(("{}_array", "grad_{}", "_grad_{}", "{}_shape", "{}_ndim")):
            names = usual | {place: form.format(usual[other])}
            if not clashes(*names.values()):
                yield f"form{place}{other}{number}", names


ENTRIES = dict(entries())
SIZE = 150


X, Y, A = np.array([0.3, -1.2]), np.array([0.7, 2.0]), 3.0
SIGMOID = 1 / (1 + np.exp(-X))
VALUE = SIGMOID * A * Y
BY_X, BY_Y = A * SIGMOID * (1 - SIGMOID) * Y, SIGMOID * A


def pushed(op: Callable[..., Any], along_x: Any, along_y: Any) -> list[gs.Tensor]:
    """The tangents of the outputs in forward mode."""
    with dual_level():
        x, y = (
            make_dual(gs.tensor(at), gs.tensor(along, dtype=gs.float64))
            for at, along in ((X, along_x), (Y, along_y))
        )
        return [unpack_dual(out).tangent for out in op(x, y)]


def check_one(op: Callable[..., gs.Tensor], names: dict[str, str]) -> None:
    """Values, both paths of the VJP and the JVP of the first op, by position and by name."""
    public = {place: name.removesuffix("_") or name for place, name in names.items()}
    x, y = (gs.tensor(v, requires_grad=True) for v in (X, Y))
    out = op(**{public["x"]: x, public["y"]: y, public["a"]: A})
    np.testing.assert_allclose(out.detach().numpy(), VALUE)
    found = gs.autograd.grad(out.sum(), (x, y))
    np.testing.assert_allclose(found[0].numpy(), BY_X)
    np.testing.assert_allclose(found[1].numpy(), BY_Y)
    found = gs.autograd.grad(op(x, y, **{public["a"]: A}).sum(), (x, y), create_graph=True)
    np.testing.assert_allclose(found[0].detach().numpy(), BY_X)
    np.testing.assert_allclose(found[1].detach().numpy(), BY_Y)
    (mixed,) = gs.autograd.grad(found[1].sum(), (x,))
    np.testing.assert_allclose(mixed.numpy(), BY_X / Y)
    (tangent,) = pushed(lambda x, y: (op(x, y, **{public["a"]: A}),), [1.0, 2.0], [3.0, 4.0])
    np.testing.assert_allclose(tangent.numpy(), BY_X * [1, 2] + BY_Y * [3, 4])
    (alone,) = gs.autograd.grad(op(x.detach(), y, **{public["a"]: A}).sum(), (y,))
    np.testing.assert_allclose(alone.numpy(), BY_Y)


def check_two(op: Callable[..., tuple[gs.Tensor, gs.Tensor]], names: dict[str, str]) -> None:
    """The same of the second op, and the names of its outputs."""
    x, y = (gs.tensor(v, requires_grad=True) for v in (X, Y))
    for create_graph in (False, True):
        out = op(x, y)
        np.testing.assert_allclose(out[0].detach().numpy(), np.sin(X) * Y)
        assert getattr(out, names["local"]) is out[1]
        found = gs.autograd.grad(out[0].sum() + 2 * out[1].sum(), (x, y), create_graph=create_graph)
        np.testing.assert_allclose(found[0].detach().numpy(), np.cos(X) * Y + 2 * Y)
        np.testing.assert_allclose(found[1].detach().numpy(), np.sin(X) + 2 * X)
    tangents = pushed(op, Y, X)
    np.testing.assert_allclose(tangents[0].numpy(), Y * np.cos(X) * Y + np.sin(X) * X)
    np.testing.assert_allclose(tangents[1].numpy(), Y * Y + X * X)


@pytest.mark.parametrize("start", range(0, len(ENTRIES), SIZE))
def test_arguments_locals_and_outputs_may_have_any_name(start: int, tmp_path: Path) -> None:
    chosen = dict(list(ENTRIES.items())[start : start + SIZE])
    text = "".join(ENTRY.format(op=op, **names) for op, names in chosen.items())
    package = imported(text, tmp_path, f"named_args_{start}")
    for op, names in chosen.items():
        check_one(getattr(package, op), names)
        check_two(getattr(package, f"{op}_two"), names)


OF_PACKAGES = ("annotations", "extend", "namesake", "TYPE_CHECKING")
"""Names that the `__init__` of a package imports, and a family: tried alone, as the ops of all
packages of a process have different names."""

TAKEN = {name for op in own_table().ops for name in (op.signature.name, *op.aliases)}


def of_their_own() -> Iterator[str]:
    """Names that give ops different nodes: that of `a_b` is that of `aB`, which is refused."""
    seen: set[str] = set()
    for name in NAMES:
        stem = name.replace("_", "").lower()
        if (
            name not in {*TAKEN, *HELPERS, *SHORTHANDS, *OF_PACKAGES}
            and name[0] != "_"
            and stem not in seen | TAKEN_STEMS
        ):
            seen.add(stem)
            yield name


TAKEN_STEMS = {name.replace("_", "").lower() for name in TAKEN}
OP_NAMES = list(of_their_own())


@pytest.mark.usefixtures("no_other_package")
@pytest.mark.parametrize("start", range(0, len(OP_NAMES), SIZE))
def test_an_op_may_have_any_name(start: int, tmp_path: Path) -> None:
    names = {"x": "x", "y": "y", "a": "a", "local": "share"}
    chosen = OP_NAMES[start : start + SIZE]
    text = "".join(ENTRY.format(op=op, **names).partition(f"- name: {op}_two")[0] for op in chosen)
    package = imported(text, tmp_path, f"named_ops_{start}")
    for op in chosen:
        check_one(getattr(package, op), names)


TAKEN_NAMES = [
    ("h(Tensor self, Tensor input) -> Tensor", "input"),
    ("h(Tensor x, Tensor x_) -> Tensor", "x_"),
    ("h(Tensor self, Tensor self_t) -> Tensor", "self_t"),
    ("h(Tensor self_p, Tensor self) -> Tensor", "self"),
    ("h(Tensor grad) -> Tensor", "grad"),
    ("h(Tensor np) -> Tensor", "np"),
    ("h(Tensor kernels) -> Tensor", "kernels"),
    ("h(Tensor x, Tensor grad_a) -> (Tensor a, Tensor b)", "Tensor a"),
    ("h(Tensor self) -> (Tensor self_t, Tensor b)", "Tensor self_t"),
    ("h(Tensor result) -> Tensor", "result"),
    ("h(Tensor a) -> (Tensor a, Tensor b)", "Tensor a"),
    ("h(Tensor x, Tensor result) -> (Tensor a, Tensor b)", "result"),
    ("h(Tensor x_, Tensor x_t) -> Tensor", "x_t"),
    ("len(Tensor self) -> Tensor", "len"),
]


@pytest.mark.parametrize(("signature", "place"), TAKEN_NAMES)
def test_what_has_a_meaning_in_formulas_is_refused(
    signature: str, place: str, mistakes: Mistakes
) -> None:
    text = f"- name: {signature}\n  doc: An op.\n  forward: 1\n"
    assert ("GS024", place) in mistakes(text)


def test_an_op_may_be_called_like_its_package_or_what_that_imports(tmp_path: Path) -> None:
    names = {"x": "x", "y": "y", "a": "a", "local": "share"}
    text = "".join(
        ENTRY.format(op=op, **names).partition(f"- name: {op}_two")[0] for op in OF_PACKAGES
    )
    package = imported(text, tmp_path, "package_of_namesakes", "namesake")
    for _ in range(2):  # as it is when the family has been imported, too
        for op in OF_PACKAGES:
            check_one(getattr(package, op), names)
    (tmp_path / "namesakes").mkdir()
    other = text.replace("name: ", "name: my_").replace("name: my_namesake", "name: other_namesake")
    package = imported(other, tmp_path / "namesakes", "other_namesakes", "other_namesake")
    check_one(package.my_extend, names)  # imports the family
    check_one(package.other_namesake, names)


LAID = """
- name: laid_{x}(Tensor {x}, Tensor {y}) -> Tensor
  doc: The second, in the order of the first.
  forward: "{y} * 1"
  {x}: non_differentiable
  {y}: grad
  result: "{y}_t * 1"
  layout: {x}
  examples: [{{{x}: [2, 2], {y}: [2, 2]}}]
"""


@pytest.mark.parametrize("name", ["flags", "out", "array", "y_array"])
def test_an_argument_in_whose_order_results_lie_may_have_any_name(
    name: str, tmp_path: Path
) -> None:
    package = imported(LAID.format(x=name, y="y"), tmp_path, f"laid_as_{name}")
    x, y = gs.tensor(np.ones((2, 3))).t(), gs.tensor(np.arange(6.0).reshape(3, 2))
    out = getattr(package, f"laid_{name}")(x, y)
    assert out.stride() == (1, 3)
    assert out.tolist() == y.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (2, 3)])
@pytest.mark.parametrize("op", ["addmm", "addbmm", "masked_fill", "masked_scatter"])
def test_gradients_of_what_is_promoted_alone_are_summed(op: str, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")

    def gradient(lib: Any) -> Any:
        x = lib.ones(shape, dtype=lib.float64, requires_grad=True)
        wide = lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=lib.float64)
        others = {
            "addmm": (wide[:, :2], wide),
            "addbmm": (wide[None, :, :2], wide[None]),
            "masked_fill": (wide > 3, 0.0),
            "masked_scatter": (wide > 3, wide),
        }
        (found,) = lib.autograd.grad((getattr(lib, op)(x, *others[op]) * wide).sum(), x)
        return found.tolist()

    assert gradient(gs) == gradient(torch)


def test_an_argument_may_be_called_as_functions_spell_self(tmp_path: Path) -> None:
    text = """
- family: squares

- name: scaled(Tensor input, Tensor target) -> Tensor
  doc: The square of the first, times the second.
  forward: input * input * target
  input: 2 * grad * input * target
  target: grad * input * input
  result: 2 * input_t * input_p * target_p + input_p * input_p * target_t
  promotes: input, target
  examples:
    - {input: [2], target: [2]}
"""
    ((_, verdict),) = prove_text(text, tmp_path, "scaled_ops").values()
    assert verdict.holds, verdict.notes
