"""Sobol' sequences: the points, where they begin, and scrambled ones."""

from __future__ import annotations

import pytest

import gradspec as gs
from gradspec.quasirandom import SobolEngine

# The first points in two dimensions, by the direction numbers 1, 3, 5, ... of the second one.
POINTS = [[0, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.375, 0.375], [0.875, 0.875]]


def test_the_points_come_in_order() -> None:
    engine = SobolEngine(2)
    assert engine.draw().tolist() == POINTS[:1]
    assert engine.draw(3).tolist() == POINTS[1:4]
    assert engine.num_generated == 4
    assert engine.fast_forward(1).draw().tolist() == POINTS[5:]
    assert engine.reset().draw(6).tolist() == POINTS
    assert engine.reset().fast_forward(0).draw(0).shape == (0, 2)


def test_powers_of_two() -> None:
    engine = SobolEngine(2)
    assert engine.draw_base2(2).tolist() == POINTS[:4]
    engine.draw(1)
    with pytest.raises(ValueError, match="balance properties"):
        engine.draw_base2(1)


def test_dtypes_and_outputs() -> None:
    assert SobolEngine(2).draw(2).dtype == gs.float32
    assert SobolEngine(2).draw(2, dtype=gs.float64).dtype == gs.float64
    out = gs.zeros(6, 2, dtype=gs.float64)
    assert SobolEngine(2).draw(6, out=out) is out
    assert out.tolist() == POINTS


def test_scrambled_points() -> None:
    first = SobolEngine(3, scramble=True, seed=7).draw(64)
    again = SobolEngine(3, scramble=True, seed=7)
    assert gs.cat([again.draw(1), again.draw(63)]).tolist() == first.tolist()
    assert SobolEngine(3, scramble=True, seed=8).draw(64).tolist() != first.tolist()
    # Each 64th part of every axis has one of 64 points, also of scrambled ones.
    for axis in (first * 64).floor().t():
        assert sorted(axis.tolist()) == list(range(64))


def test_scrambled_points_without_a_seed_are_those_of_the_default_generator() -> None:
    gs.manual_seed(3)
    first = SobolEngine(2, scramble=True).draw(2).tolist()
    assert SobolEngine(2, scramble=True).draw(2).tolist() != first
    gs.manual_seed(3)
    assert SobolEngine(2, scramble=True).draw(2).tolist() == first


def test_what_is_refused() -> None:
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match="Supported range of dimensionality"):
            SobolEngine(dimension)
    with pytest.raises(RuntimeError, match="negative dimension"):
        SobolEngine(2).draw(-1)


def test_how_it_prints() -> None:
    assert repr(SobolEngine(2)) == "SobolEngine(dimension=2)"
    assert repr(SobolEngine(2, True, 3)) == "SobolEngine(dimension=2, scramble=True, seed=3)"
