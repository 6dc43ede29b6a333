"""The examples run, and do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradspec as gs

from .source_tree import ROOT


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        cwd=folder,
        env=os.environ | {"TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_digits_learns_and_draws(tmp_path: Path) -> None:
    text = run("digits.py", tmp_path)
    found = re.search(r"([\d.]+)% of the held-out digits", text)
    assert found is not None
    assert float(found[1]) >= 97
    output = tmp_path / "demo-output"
    assert (output / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert "LogSoftmaxBackward0" in (output / "graph.svg").read_text(encoding="utf-8")
    assert '"0.weight' in (output / "graph.dot").read_text(encoding="utf-8")


def test_softsign_is_added_to_a_copy_and_used(tmp_path: Path) -> None:
    text = run("add_an_op.py", tmp_path)
    assert "class SoftsignBackward0(Node):" in text
    gradients = re.findall(r"(?:gradient|\*\*2): +tensor\((\[.*\])\)", text)
    # 1/9, 4/9, 1 and 1/4: the derivative at -2, -1/2, 0 and 1.
    assert gradients == ["[0.1111, 0.4444, 1.0000, 0.2500]"] * 2


def test_a_training_is_saved_and_resumed(tmp_path: Path) -> None:
    last = run("digits_cnn.py", tmp_path).strip().splitlines()[-1]
    found = re.match(r"([\d.]+)% of the held-out digits", last)
    assert found is not None
    assert float(found[1]) >= 98
    output = tmp_path / "demo-output"
    assert (output / "digits_cnn.png").read_bytes().startswith(b"\x89PNG")
    saved = gs.load(output / "digits_cnn.gs")
    assert saved["scheduler"]["last_epoch"] == len(saved["curves"]["loss"])
    assert len(saved["curves"]["accuracy"]) == 12


@pytest.mark.parametrize(
    ("name", "last_line", "bounds"),
    [
        ("char_transformer", r"([\d.]+) bits a letter of held-out text", (0, 3.2)),
        ("maml_sinusoids", r".*, ([\d.]+) after five", (0, 0.6)),
        ("mislabelled", r"([\d.]+)% of the 90 images", (80, 100)),
        ("molecule", r"energy (-[\d.]+) .* 6 modes cost nothing", (-44.328, -44.325)),
        ("physics_informed", r"damping ([\d.]+) \(0\.4 is true\)", (0.38, 0.42)),
        ("scipy_fits", r"period ([\d.]+) \(2\.50 is true\)", (2.4, 2.6)),
        ("vae_digits", r"an image that was held out costs ([\d.]+) nats", (0, 24)),
    ],
)
def test_figures_and_pictures(
    tmp_path: Path, name: str, last_line: str, bounds: tuple[float, float]
) -> None:
    text = " ".join(run(f"{name}.py", tmp_path).split())
    found = re.search(last_line, text)
    assert found is not None, text
    assert bounds[0] <= float(found[1]) <= bounds[1]
    assert (tmp_path / "demo-output" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
