"""`specs/schema.json`: fresh, a schema, and one that the shipped table fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from gradspec_codegen.cli import main
from gradspec_codegen.spec.keys import ENTRY_KEYS
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


@pytest.mark.parametrize(
    "entry",
    [
        "forward: self",
        "name: f(Tensor self) -> Tensor",
        "{name: no signature, forward: self}",
        "{name: f(Tensor self) -> Tensor, forward: self, variants: function methods}",
        "{name: f(Tensor self) -> Tensor, forward: self, operators: [__foo__]}",
        "{name: f(Tensor self) -> Tensor, forward: self, inplace: 1}",
        "{name: f(Tensor self) -> Tensor, forward: self, proof: numeric}",
        "{name: f(Tensor self) -> Tensor, forward: self, examples: []}",
        "{name: f(Tensor self) -> Tensor, forward: self, examples: [{self: {double: 1}}]}",
        "{name: f(Tensor self) -> Tensor, forward: self, domain: positive}",
        "{name: f(Tensor self) -> Tensor, forward: self, kinks: [0]}",
        "{name: f(Tensor self) -> Tensor, forward: self, self: [grad]}",
        "{name: f(Tensor self) -> Tensor, forward: self, 'self grad': grad}",
        "family: not-a-module",
        "{family: trig, forward: self}",
    ],
)
def test_refuses(entry: str) -> None:
    assert mistakes(f"- {entry}") == ["$[0]"]


def test_command_writes_checks_and_prints(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    run = CliRunner()
    assert run.invoke(main, ["schema", str(path), "--check"]).exit_code == 1
    assert not path.exists()
    assert run.invoke(main, ["schema", str(path)]).exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8")) == schema()
    assert run.invoke(main, ["schema", str(path), "--check"]).exit_code == 0
    assert run.invoke(main, ["schema", "-"]).output == schema_text()
