"""Any backend of joblib proves what the processes of this machine prove."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from joblib import register_parallel_backend
from joblib._parallel_backends import ThreadingBackend
from joblib.parallel import BACKENDS

from gradspec_codegen.diagnostics import Diagnostic, SpecError
from gradspec_codegen.emit.package import PackageBuilder
from gradspec_codegen.emit.write import staged
from gradspec_codegen.prove import backends
from gradspec_codegen.prove.report.verdict import Status
from gradspec_codegen.prove.workers import prove_ops
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from tests.codegen.proving import own_table

SPEC = """
- name: cube(Tensor self) -> Tensor
  doc: The third power.
  forward: self * self * self
  self: grad * (self * self * 3)
  result: auto_element_wise
  promotes: self

- name: wrong_cube(Tensor self) -> Tensor
  doc: A factor is missing.
  forward: self * self * self
  self: grad * (self * self)
  result: auto_element_wise
  promotes: self

- name: line(Tensor self) -> Tensor
  doc: Twice.
  forward: self * 2
  self: grad * 2
  result: auto_element_wise
  promotes: self
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("backends") / "ops.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return load_table(path, base=own_table())


@pytest.fixture(scope="module")
def package(table: Table) -> Iterator[Path]:
    with staged(PackageBuilder(table, "far_ops", own_table()).build().files) as staging:
        yield staging


WANTED = {"cube": Status.PROVED, "wrong_cube": Status.REFUTED, "line": Status.PROVED}


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_a_backend_proves_and_refutes(
    table: Table, package: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "FEWEST", 2)
    heard: list[str] = []
    found = prove_ops(
        table.ops,
        package,
        "far_ops",
        jobs=2,
        backend=backend,
        progress=lambda verdict: heard.append(verdict.name),
    )
    assert {verdict.name: verdict.status for verdict in found} == WANTED
    assert [verdict.name for verdict in found] == [op.name for op in table.ops]
    assert sorted(heard) == sorted(WANTED)


class Registered(ThreadingBackend):  # type: ignore[misc]
    """A third-party backend, which keeps its answers to the end."""

    supports_return_generator = False


@pytest.fixture
def registered() -> Iterator[str]:
    register_parallel_backend("registered", Registered)
    yield "registered"
    del BACKENDS["registered"]


def test_a_backend_that_was_registered_is_one(table: Table, package: Path, registered: str) -> None:
    backends.check_backend(registered)
    (found,) = prove_ops(table.ops[:1], package, "far_ops", jobs=1, backend=registered)
    assert found.status is Status.PROVED


def refusal(name: str) -> Diagnostic:
    with pytest.raises(SpecError) as caught:
        backends.check_backend(name)
    (found,) = caught.value.diagnostics
    return found


def test_a_backend_that_is_unknown_is_refused() -> None:
    found = refusal("loki")
    assert (found.code, found.message) == ("GS086", "joblib has no backend `loki`")
    assert "dask" in found.help
    assert "loky" in found.help


@pytest.mark.parametrize(
    ("name", "module", "install"),
    [
        ("dask", "distributed", "pip install 'dask[distributed]'"),
        ("ray", "ray", "pip install 'ray[default]'"),
        ("spark", "joblibspark", "pip install 'joblibspark'"),
    ],
)
def test_a_backend_that_is_not_installed_names_its_package(
    name: str, module: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(backends, "find_spec", lambda n: None if n == module else there(n))
    found = refusal(name)
    assert (
        found.message == f"the backend `{name}` needs the package {module}, which is not installed"
    )
    assert found.help == install


class Broken(ThreadingBackend):  # type: ignore[misc]
    """A backend whose cluster is gone."""

    def configure(self, *_: object, **__: object) -> int:
        raise ConnectionError("no scheduler at tcp://nowhere:8786\nand more about it")


def test_a_backend_that_fails_says_why(
    table: Table, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS, "broken", Broken)
    with pytest.raises(SpecError) as caught:
        prove_ops(table.ops, package, "far_ops", jobs=1, backend="broken")
    (found,) = caught.value.diagnostics
    wanted = "the backend `broken` has failed: no scheduler at tcp://nowhere:8786"
    assert (found.code, found.message) == ("GS086", wanted)


def test_a_worker_with_another_prover_is_not_asked(
    table: Table, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "prover_digest", lambda: "another")
    with pytest.raises(SpecError) as caught:
        prove_ops(table.ops, package, "far_ops", jobs=1, backend="threading")
    assert "another gradspec is installed on the machine" in caught.value.diagnostics[0].message
