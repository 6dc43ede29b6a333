"""`specs/schema.json`: fresh, a schema, and one that the shipped table fits."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gradspec_codegen.cli import main
from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.spec.keys import ENTRY_KEYS
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.spec.schema import schema, schema_text

SPECS = Path(__file__).parents[3] / "specs"
FILES = [SPECS / "derivatives.yaml", *sorted((SPECS / "families").glob("*.yaml"))]
GOOD = sorted((Path(__file__).parent / "good_specs").glob("*.yaml"))


def mistakes(text: str) -> list[str]:
    """Return the schema's errors about a spec, as paths into it."""
    found = Draft202012Validator(schema()).iter_errors(yaml.safe_load(text))
    return [error.json_path for error in found]


def test_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_shipped_file_is_fresh() -> None:
    assert (SPECS / "schema.json").read_text(encoding="utf-8") == schema_text()


def test_describes_keys_in_sentences_without_links() -> None:
    described: dict[str, Any] = schema()["$defs"]["entry"]["properties"]
    assert described["kernel"]["description"] == (
        "Beside `forward`: the call of a kernel that computes it on arrays, proved equal to it."
    )
    assert [key for key, entry in described.items() if "](" in entry["description"]] == []
    assert described.keys() == set(ENTRY_KEYS)


@pytest.mark.parametrize("path", [*FILES, *GOOD], ids=lambda path: path.name)
def test_the_shipped_specs_fit(path: Path) -> None:
    assert mistakes(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_shipped_specs_name_it(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    prefix = "# yaml-language-server: $schema="
    assert first.startswith(prefix)
    assert (path.parent / first.removeprefix(prefix)).resolve() == SPECS / "schema.json"


GOOD_ENTRY = {
    "name": "f(Tensor self, Tensor? other=None, *, int[1] n=[2], str mode='a') -> Tensor",
    "doc": "Something of its own.",
    "forward": "self * 2",
    "self": "grad * 2",
    "other": "non_differentiable",
    "result": "auto_linear",
    "promotes": "self",
    "same_dtype": ["self"],
    "complex": True,
    "real_only": "RuntimeError",
    "requires": ["self.ndim == 1", {"mode == 'a'": "only this mode"}],
    "domain": {"self": "positive"},
    "kinks": {"self == 0": 0},
    "unproved": {"self == 1": "a convention"},
    "output_differentiability": [True],
    "examples": [{"self": [2], "n": 3}, {"self": {"float": [1.5]}, "mode": "a"}],
    "variants": "function, method",
    "inplace": True,
    "layout": "rows",
    "operators": ["__mul__"],
    "aliases": "g",
    "node": "FBackward0",
    "python_module": "linalg",
    "proof": {"certified": "for a reason"},
}
KERNEL = {"kernel": "kernels.flip(self, 0)"}
COMPOSITE = {"name": "f(Tensor self) -> Tensor", "composite": "self", "examples": [{"self": [2]}]}

BAD: dict[str, dict[str, Any]] = {
    "a misspelt key": {"foward": "self"},
    "a misspelt flag": {"in_place": True},
    "a key with a letter too many": {"examples": None, "exxamples": [{"self": [2]}]},
    "a key in the plural": {"domain": None, "domains": {"self": "positive"}},
    "two keys turned": {"promotes": None, "prmootes": "self"},
    "an empty doc": {"doc": " "},
    "a doc that is a list": {"doc": ["a"]},
    "an unknown domain": {"domain": {"self": "positiv"}},
    "a domain that is a call": {"domain": {"self": "abs(self) < 1"}},
    "a domain without its argument": {"domain": "positive"},
    "auto_elementwise": {"result": "auto_elementwise"},
    "auto_liner": {"result": "auto_liner"},
    "nondifferentiable": {"other": "nondifferentiable"},
    "not_implemented without a reason": {"result": "not_implemented"},
    "an empty reason": {"result": {"not_implemented": " "}},
    "a rule that is a list": {"self": ["grad"]},
    "a rule that is a flag": {"self": {"auto": True}},
    "an empty formula": {"forward": ""},
    "two definitions": {"composite": "self"},
    "no definition": {"forward": None},
    "a kernel that is no call": {"kernel": "softmax"},
    "an unknown type": {"name": "f(Tensro self) -> Tensor"},
    "a type in lower case": {"name": "f(tensor self) -> Tensor"},
    "no arrow": {"name": "f(Tensor self): Tensor"},
    "no output": {"name": "f(Tensor self) -> ()"},
    "no type of an argument": {"name": "f(self) -> Tensor"},
    "a default of another type": {"name": "f(Tensor self, int n=1.5) -> Tensor"},
    "a default without quotes": {"name": "f(Tensor self, str mode=mean) -> Tensor"},
    "an argument called grad": {"name": "f(Tensor self, Tensor grad) -> Tensor"},
    "a keyword of Python": {"name": "f(Tensor self, Tensor lambda) -> Tensor"},
    "an unknown variant": {"variants": "function methods"},
    "an unknown operator": {"operators": ["__foo__"]},
    "an unknown namespace": {"python_module": "numpy"},
    "an unknown exception": {"real_only": "ValueError"},
    "a flag that is a number": {"inplace": 1},
    "a flag that is a text": {"complex": "yes"},
    "a proof without a reason": {"proof": "numeric"},
    "a proof of another kind": {"proof": {"tested": "by hand"}},
    "no example": {"examples": []},
    "an example that is a list": {"examples": [[2]]},
    "data of an unknown kind": {"examples": [{"self": {"double": 1}}]},
    "data of another kind": {"examples": [{"self": {"int": [1.5]}}]},
    "a negative size": {"examples": [{"self": {"complex": [-1]}}]},
    "factors of a vector": {"examples": [{"self": {"svd": [2]}}]},
    "a kink that is no comparison": {"kinks": {"self": 0}},
    "a kink that is a list": {"kinks": [0]},
    "a factor that is a flag": {"kinks": {"self == 0": True}},
    "a reason of one word": {"output_differentiability": ["never"]},
    "a list in requires": {"requires": [["self.ndim == 1"]]},
    "no reason in requires": {"requires": {"self.ndim == 1": ""}},
    "no reason in unproved": {"unproved": {"self == 0": " "}},
    "words with an empty one": {"promotes": "self,,"},
    "an alias that is no name": {"aliases": "a-b"},
    "an alias that is a keyword": {"aliases": "while"},
    "two names as a key": {"self grad": "grad"},
    "a same_dtype of what is not promoted": {"promotes": None},
}
"""Change of the good entry, by the mistake that it makes; None leaves a key out."""

BAD_ITEMS = (
    "forward: self",
    "name: f(Tensor self) -> Tensor",
    "family: not-a-module",
    "family: while",
    "family: names",
    "{family: trig, forward: self}",
    "include: ../other.yaml",
    "include: [a.yaml]",
    "just a text",
)


def changed(change: dict[str, Any], entry: dict[str, Any] = GOOD_ENTRY) -> dict[str, Any]:
    return {key: value for key, value in (entry | change).items() if value is not None}


@cache
def base() -> Table:
    """The shipped table, which own specs build on."""
    return load_table(SPECS / "derivatives.yaml")


def codes(entry: Any) -> list[str]:
    """Return the codes of the loader's errors about a spec of one item."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ops.yaml"
        path.write_text(yaml.safe_dump([entry]), encoding="utf-8")
        try:
            load_table(path, base=base())
        except SpecError as error:
            return [each.code for each in error.diagnostics]
    return []


def schema_mistakes(entry: Any) -> list[str]:
    return mistakes(yaml.safe_dump([entry]))


@pytest.mark.parametrize("entry", [GOOD_ENTRY, GOOD_ENTRY | KERNEL, COMPOSITE])
def test_the_good_entries_are_good(entry: dict[str, Any]) -> None:
    assert schema_mistakes(entry) == []
    assert codes(entry) == []


@pytest.mark.parametrize("what", BAD)
def test_both_refuse(what: str) -> None:
    entry = changed(BAD[what])
    assert codes(entry)
    assert schema_mistakes(entry) == ["$[0]"]


@pytest.mark.parametrize(
    "change",
    [
        {"self": "grad"},
        {"kernel": "kernels.flip(self, 0)"},
        {"layout": "rows"},
        {"forward": "self"},
    ],
)
def test_both_refuse_beside_a_composite(change: dict[str, Any]) -> None:
    entry = changed(change, COMPOSITE)
    assert codes(entry)
    assert schema_mistakes(entry) == ["$[0]"]


@pytest.mark.parametrize("item", BAD_ITEMS)
def test_both_refuse_items(item: str) -> None:
    entry = yaml.safe_load(item)
    assert codes(entry)
    assert schema_mistakes(entry) == ["$[0]"]


SEEN_IN_ONE_ENTRY = {
    *("GS010", "GS011", "GS014", "GS020", "GS021", "GS023", "GS030", "GS040", "GS041", "GS051"),
    *("GS054", "GS059"),
}
"""Codes of mistakes that do not depend on other names."""

VALUES = st.one_of(
    *(st.none(), st.booleans(), st.sampled_from([1, -1, 0.5, "", " ", "a b", "a.b", "positive"])),
    st.sampled_from([[], [1], ["a"], [[2]], [True], {}, {"a": 1}, {"self": [2]}, {"self": "b c"}]),
    st.sampled_from([{"numeric": ""}, {"int": [0]}]),
)


NAMING_OTHERS = {"layout", "copy_doc"}
"""Keys whose words may be any argument, or any op, so that only the loader can tell."""


@settings(max_examples=150, deadline=None, derandomize=True)
@given(key=st.sampled_from(sorted({*ENTRY_KEYS} - NAMING_OTHERS)), value=VALUES)
def test_what_the_loader_sees_in_one_value_the_schema_sees(key: str, value: object) -> None:
    # No schema knows the grammar of Python: two names in a row are the loader's, too.
    assume(value != "a b" or "GS030" not in codes(GOOD_ENTRY | KERNEL | {key: value}))
    found = set(codes(GOOD_ENTRY | KERNEL | {key: value})) & SEEN_IN_ONE_ENTRY
    assert not found or schema_mistakes(GOOD_ENTRY | KERNEL | {key: value})


@settings(max_examples=150, deadline=None, derandomize=True)
@given(key=st.sampled_from(sorted(key for key in ENTRY_KEYS if len(key) > 4)), data=st.data())
def test_slips_of_the_pen_in_keys_are_seen(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))
    letter = data.draw(st.sampled_from("aeiost_"))
    slip = data.draw(st.sampled_from(["", letter, letter + key[place]]))
    wrong = key[:place] + slip + key[place + 1 :]
    if wrong not in ENTRY_KEYS:
        assert schema_mistakes(GOOD_ENTRY | {wrong: "grad"}) == ["$[0]"]


def test_command_writes_checks_and_prints(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    run = CliRunner()
    assert run.invoke(main, ["schema", str(path), "--check"]).exit_code == 1
    assert not path.exists()
    assert run.invoke(main, ["schema", str(path)]).exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8")) == schema()
    assert run.invoke(main, ["schema", str(path), "--check"]).exit_code == 0
    assert run.invoke(main, ["schema", "-"]).output == schema_text()
