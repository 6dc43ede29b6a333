"""Names in a spec do not change the op that is emitted for JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.codegen.targets.named import (
    PLACES,
    check,
    every_name_in_every_place,
    names_of_emitted_code,
    package_of,
    table_of,
)

pytestmark = pytest.mark.jax


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    import jax

    with jax.enable_x64(True):
        yield


def _derive(function: Callable[..., Any], at: Any, tangents: Any) -> Any:
    import jax

    def total(*xs: Any) -> Any:
        return sum(each.sum() for each in jax.tree.leaves(function(*xs)))

    values = jax.tree.leaves(function(*at))
    gradients = jax.grad(total, tuple(range(len(at))))(*at)
    _, moved = jax.jvp(function, at, tangents)
    found = (values, gradients, jax.tree.leaves(moved))
    return tuple(list(map(np.asarray, group)) for group in found)


def test_every_name_in_every_place(tmp_path: Path) -> None:
    entries = every_name_in_every_place("jax")
    table = table_of(entries)
    assert table is not None
    package = package_of(table, "jax", tmp_path)
    for names in entries:
        check(package, names, _derive)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_all_names_at_once(data: st.DataObject, tmp_path: Path) -> None:
    word = st.sampled_from(names_of_emitted_code("jax"))
    names = {place: data.draw(word, place) for place in PLACES}
    table = table_of([names])
    assume(table is not None and not names["op"].startswith("_"))
    assert table is not None
    check(package_of(table, "jax", tmp_path), names, _derive)
