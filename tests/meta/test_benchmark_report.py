"""Figures as tables, verdicts and regressions."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from benchmarks import __main__ as command
from benchmarks import baseline, bounds, cases
from benchmarks.fresh import import_times, memory_peaks
from benchmarks.libraries import BY_HAND, GRADSPEC, LIBRARIES
from benchmarks.plot import write_plot
from benchmarks.race import Effort
from benchmarks.report import (
    OF_COMPILED,
    Row,
    columns,
    compared,
    duration,
    markdown,
    write_json,
)
from benchmarks.tables import print_figures, print_ratios
from benchmarks.workloads import SIZES, WORKLOADS

CHAIN = Row(
    "chain-4", "chain of 4", "91 ops", "s", {"gradspec": 2e-4, "torch-2": 4e-4, "numpy": 5e-5}
)
MEMORY = Row("memory-lenet-32", "memory", "memory peak", "B", {"gradspec": 3e6, "torch-2": 6e6})
ALONE = Row("codegen-cold", "codegen, cold", "codegen", "s", {"gradspec": 31.0})
ROWS = [CHAIN, MEMORY, ALONE]
MACHINE = {"cpu": "a CPU", "cores": "2", "date": "2026-01-02", "numpy": "2.4", "python": "3.11"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8.04e-6, "8.0 µs"),
        (9.99e-5, "99.9 µs"),
        (1.634e-4, "163 µs"),
        (9.994e-4, "999 µs"),
        (9.996e-4, "1.00 ms"),
        (0.01234, "12.3 ms"),
        (0.6, "600 ms"),
        (2.306, "2.31 s"),
        (125.4, "125 s"),
    ],
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_ratios_are_gradspecs_figure_divided_by_the_others() -> None:
    assert CHAIN.ratios() == {"torch-2": pytest.approx(0.5), "numpy": pytest.approx(4.0)}
    assert ALONE.ratios() == {}


COMPILED = Row(
    *("chain-4", "chain of 4", "91 ops", "s"),
    {"gradspec": 2e-4, "compiled": 2e-6, "torch-2": 4e-4, "jax": 8e-6, "numpy": 5e-5},
)


def test_compiled_programs_are_compared_by_themselves() -> None:
    eager, compiled = compared([COMPILED, ALONE])
    assert eager.ratios().keys() == {"torch-2", "jax", "numpy"}
    assert (compiled.name, compiled.title) == ("chain-4-compiled", "chain of 4, compiled")
    assert compiled.ratios() == {
        "gradspec": pytest.approx(0.01),
        "torch-2": pytest.approx(0.005),
        "jax": pytest.approx(0.25),
        "numpy": pytest.approx(0.04),
    }
    assert baseline.ratios([COMPILED]).keys() == {"chain-4", "chain-4-compiled"}
    assert baseline.ratios([COMPILED])["chain-4-compiled"].keys() == {"gradspec", "jax", "numpy"}


def test_a_row_of_compiled_programs_alone() -> None:
    row = Row("empty-call", "empty call", "a call", "s", {"compiled": 1e-6, "jax": 4e-6})
    assert row.ratios() == {}
    assert [each.ratios() for each in compared([row])] == [{"jax": pytest.approx(0.25)}]
    console = Console(width=150, file=StringIO(), record=True)
    print_ratios([row], {"empty-call-compiled": {"jax": 0.2}}, console)
    assert "0.25 > 0.2" in console.export_text()


def test_columns_are_the_libraries_that_took_part() -> None:
    assert columns([MEMORY, CHAIN]) == ["gradspec", "torch-2", "numpy"]


def test_markdown() -> None:
    assert markdown(ROWS, MACHINE).splitlines() == [
        "a CPU, 2 cores, 2026-01-02; numpy 2.4, python 3.11:",
        "",
        "| forward and backward | gradspec | PyTorch, 2 threads | NumPy by hand |",
        "|---|---:|---:|---:|",
        "| 91 ops | 200 µs | 400 µs | 50.0 µs |",
        "| memory peak | 3.0 MB | 6.0 MB | – |",
        "| codegen | 31.0 s | – | – |",
    ]


def test_json_has_figures_and_ratios(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_json(ROWS, MACHINE, "quick", path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["machine"] == MACHINE
    assert content["effort"] == "quick"
    assert content["rows"][1] == {
        "name": "memory-lenet-32",
        "title": "memory",
        "doc": "memory peak",
        "unit": "B",
        "figures": {"gradspec": 3e6, "torch-2": 6e6},
        "ratios": {"torch-2": 0.5},
    }


@pytest.mark.parametrize("rows", [ROWS, [ALONE]], ids=["several", "one without a ratio"])
def test_the_plot_is_a_picture(rows: list[Row], tmp_path: Path) -> None:
    path = tmp_path / "results.png"
    write_plot(rows, MACHINE, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_tables_show_whether_bounds_are_met() -> None:
    console = Console(width=150, file=StringIO(), record=True)
    print_figures(ROWS, console)
    print_ratios(ROWS, {"chain-4": {"torch-2": 0.45}, "memory-lenet-32": {"torch-2": 1}}, console)
    lines = [line for line in console.export_text().splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert cells == [
        ["chain of 4", "200 µs", "400 µs", "50.0 µs"],
        ["memory", "3.0 MB", "6.0 MB", "–"],
        ["codegen, cold", "31.0 s", "–", "–"],
        ["chain of 4", "0.50 > 0.45", "4.00", "not met"],
        ["memory", "0.50 ≤ 1", "–", "met"],
    ]


def test_bounds_of_every_workload_are_added_to_its_own(tmp_path: Path) -> None:
    path = tmp_path / "bounds.yaml"
    path.write_text("every workload: {mygrad: 1.0}\na: {torch-2: 0.5}\nimport: {numpy: 1.5}\n")
    assert bounds.load(["a", "b"], path) == {
        "a": {"torch-2": 0.5, "mygrad": 1.0},
        "b": {"mygrad": 1.0},
        "import": {"numpy": 1.5},
    }


def test_committed_bounds_name_cases_and_libraries() -> None:
    for case, libraries in bounds.load(WORKLOADS).items():
        assert case.removesuffix(OF_COMPILED) in cases.CASES
        assert libraries.keys() <= LIBRARIES.keys()


def test_a_ratio_beyond_the_margin_is_a_regression() -> None:
    committed = {"chain-4": {"torch-2": 0.41, "numpy": 3.1}}
    measured = {"chain-4": {"torch-2": 0.5, "numpy": 4.0}, "new": {"numpy": 9.0}}
    assert [str(found) for found in baseline.regressions(measured, committed)] == [
        "chain-4: 4.00 times numpy, baseline 3.10 (at most 3.88)"
    ]
    assert baseline.count_known(measured, committed) == 2
    assert baseline.not_in(measured, committed) == ["new"]


def test_only_ratios_to_the_references_count() -> None:
    row = Row("a", "a", "a", "s", {"gradspec": 1.0, "jax": 2.0, "torch-2": 4.0})
    assert baseline.ratios([row, ALONE]) == {"a": {"torch-2": 0.25}}


def test_a_baseline_keeps_the_rows_that_were_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    baseline.save({"a": {"numpy": 1.23456}, "b": {"numpy": 2.0}}, MACHINE, path)
    baseline.save({"b": {"torch-2": 3.0}}, MACHINE, path)
    assert baseline.load("a CPU", path) == {"a": {"numpy": 1.235}, "b": {"torch-2": 3.0}}


def test_a_baseline_is_that_of_a_kind_of_processor(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    baseline.save({"a": {"numpy": 1.0}}, MACHINE, path)
    baseline.save({"a": {"numpy": 2.0}}, MACHINE | {"cpu": "another"}, path)
    assert baseline.load("a CPU", path) == {"a": {"numpy": 1.0}}
    assert baseline.load("another", path) == {"a": {"numpy": 2.0}}
    assert baseline.load("a third", path) == {}
    assert baseline.processors(path) == ["a CPU", "another"]


@pytest.mark.parametrize("cpu", baseline.processors(baseline.FILE))
def test_the_committed_baseline_names_rows_and_references(cpu: str) -> None:
    committed = baseline.load(cpu, baseline.FILE)
    assert committed
    names = {name.removesuffix(OF_COMPILED) for name in committed}
    assert names <= cases.CASES.keys() | {"import-cold"}
    for name, values in committed.items():
        assert values
        is_compiled = name.endswith(OF_COMPILED)
        references = baseline.REFERENCES_OF_COMPILED if is_compiled else baseline.REFERENCES
        assert values.keys() <= set(references)


def test_check_without_a_baseline_says_how_to_make_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(baseline, "FILE", tmp_path / "baseline.json")
    answer = CliRunner().invoke(command.main, ["--check"])
    assert answer.exit_code == 2
    assert "--save-baseline makes it" in " ".join(answer.output.split())


def test_check_on_another_processor_says_of_which_there_are_ratios(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "baseline.json"
    baseline.save({"chain-4": {"numpy": 1.0}}, MACHINE, path)
    monkeypatch.setattr(baseline, "FILE", path)
    answer = CliRunner().invoke(command.main, ["--check"])
    assert answer.exit_code == 2
    assert "it has those of a CPU. --save-baseline adds" in " ".join(answer.output.split())


def checked(committed: baseline.Ratios, *later: list[Row]) -> tuple[int, str]:
    """The exit status and what is said, where measuring again gives these rows, or the same."""
    console = Console(width=150, file=StringIO(), record=True)
    coming = iter(later)
    status = command.compare(ROWS, committed, console, lambda _: next(coming, ROWS))
    return status, console.export_text()


def test_check_fails_and_names_what_is_slower() -> None:
    status, text = checked({"chain-4": {"torch-2": 0.3, "numpy": 4.0}})
    assert status == 1
    assert text == (
        "memory-lenet-32 is not in the baseline yet.\n"
        "Measured again, because it seems slower: chain-4\n"
        "Measured again, because it seems slower: chain-4\n"
        "slower: chain-4: 0.50 times torch-2, baseline 0.30 (at most 0.38)\n"
    )


def test_what_is_slower_once_may_be_chance() -> None:
    quicker = [Row("chain-4", "a", "a", "s", {"gradspec": 1.0, "torch-2": 4.0, "numpy": 0.1})]
    status, text = checked({"chain-4": {"torch-2": 0.3, "numpy": 20.0}}, ROWS, quicker)
    assert status == 0
    assert text.count("Measured again") == 2
    assert text.endswith("2 ratios are within 25% of the baseline, or better.\n")


def test_rows_belong_to_cases() -> None:
    assert command.case_of("import-cold").name == "import"
    assert command.case_of("chain-1000-float32").name == "chain-1000-float32"
    assert command.case_of("chain-4-compiled").name == "chain-4"


def test_check_passes_within_the_margin() -> None:
    committed = {"chain-4": {"torch-2": 0.41, "numpy": 5.0}, "memory-lenet-32": {"torch-2": 0.5}}
    status, text = checked(committed)
    assert (status, text) == (0, "3 ratios are within 25% of the baseline, or better.\n")


def test_check_fails_where_nothing_can_be_compared() -> None:
    status, text = checked({"other": {"numpy": 1.0}})
    assert status == 1
    assert text.endswith("Nothing was measured that the baseline has.\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--case", "nothing"], "'nothing' is not one of 'chain-4'"),
        (["--library", "gradspec"], "'gradspec' is not one of 'compiled'"),
        (["--check", "--save-baseline"], "--check compares with the baseline"),
        (["--readme", "--quick"], "--readme is for a thorough run"),
    ],
)
def test_usage(arguments: list[str], complaint: str) -> None:
    answer = CliRunner().invoke(command.main, arguments)
    assert answer.exit_code == 2
    assert complaint in " ".join(answer.output.split())


def test_what_is_measured() -> None:
    everything = list(cases.CASES.values())
    quick = [case.name for case in everything if not case.slow]
    assert command.chosen([], quick=False, check=False) == everything
    assert [case.name for case in command.chosen([], quick=True, check=False)] == quick
    assert {"nodes-1000000", "codegen"}.isdisjoint(quick)
    assert "codegen" not in [case.name for case in command.chosen([], quick=False, check=True)]
    assert command.chosen(["codegen"], quick=True, check=True) == [cases.CASES["codegen"]]


def test_cost_against_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sizes = {each.name: each for each in SIZES.values() if each.elements < 100}
    monkeypatch.setattr(command, "SIZES", sizes)
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    effort = Effort("test", 2, fewest_rounds=1, turn_seconds=0.01, seconds=0.1, processes=1)
    monkeypatch.setattr(command, "QUICK", effort)
    answer = CliRunner().invoke(command.main, ["--sizes", "--quick", "--library", "numpy"])
    assert answer.exit_code == 0, answer.output
    seconds = json.loads((tmp_path / "sizes.json").read_text(encoding="utf-8"))["seconds"]
    assert seconds.keys() == {"1", "10"}
    assert all(times.keys() == {"gradspec", "numpy"} for times in seconds.values())
    picture = (tmp_path / "sizes.svg").read_text(encoding="utf-8")
    assert "<svg" in picture
    assert all(LIBRARIES[name].color in picture for name in ("gradspec", "numpy"))


def test_sizes_go_from_one_element_to_ten_million() -> None:
    assert [each.elements for each in SIZES.values()] == [10**power for power in range(8)]


def test_import_times_and_memory_of_fresh_processes() -> None:
    times = import_times([GRADSPEC, BY_HAND], processes=1)
    assert times.keys() == {"gradspec", "numpy"}
    assert all(0.005 < seconds < 30 for seconds in times.values())
    # 30 products of 8 MB are kept for the backward pass.
    (peak,) = memory_peaks("chain-1000000", [BY_HAND], processes=1).values()
    assert 240e6 < peak < 400e6


def test_a_table_is_put_between_the_marks(tmp_path: Path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"above\n{command.BEGIN}\nold\n{command.END}\nbelow\n", encoding="utf-8")
    command.put_into(document, "new\n")
    text = document.read_text(encoding="utf-8")
    assert text == f"above\n{command.BEGIN}\nnew\n{command.END}\nbelow\n"
