"""Damaged and hostile files are refused, or loaded; nothing in them is executed."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gradspec as gs
from gradspec.serialization import FormatError, save_for_torch

STATE = OrderedDict(weight=gs.arange(6.0).reshape(2, 3), bias=gs.ones(2), step=gs.tensor(3))

# Not "compile": NumPy parses the header of an array as a literal, which executes nothing.
DANGEROUS = ("os.", "subprocess.", "exec", "import", "socket.", "shutil.", "ctypes.", "pickle.")

_watching: list[list[str]] = []


def _watch(event: str, _: Any) -> None:
    if _watching and event.startswith(DANGEROUS):
        _watching[-1].append(event)


sys.addaudithook(_watch)


def load(data: bytes) -> None:
    """Load a file that must be refused with `FormatError`, if at all, and must execute nothing."""
    seen: list[str] = []
    _watching.append(seen)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gs.load(io.BytesIO(data))
    except FormatError:
        pass
    finally:
        _watching.pop()
    assert not seen


def file_of(save: Any) -> bytes:
    buffer = io.BytesIO()
    save(STATE, buffer)
    return buffer.getvalue()


FILES = [file_of(gs.save), file_of(save_for_torch)]


def with_member(data: bytes, ending: str, content: bytes) -> bytes:
    """Exchange a member of an archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name.endswith(ending) else source.read(name))
    return made.getvalue()


gs.load(io.BytesIO(FILES[0]))  # what is imported at first use is no attack
gs.load(io.BytesIO(FILES[1]))


@settings(max_examples=150, deadline=None)
@given(
    which=st.integers(0, 1),
    places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6),
    cut=st.none() | st.integers(0, 10**6),
)
def test_changed_bytes(which: int, places: list[tuple[int, int]], cut: int | None) -> None:
    data = bytearray(FILES[which])
    for place, byte in places:
        data[place % len(data)] = byte
    load(bytes(data if cut is None else data[: cut % len(data)]))


OPCODES = st.sampled_from(
    [
        *(b"(", b".", b"0", b"1", b"2", b"N", b"R", b"Q", b"]", b"}", b")", b"a", b"b", b"e", b"s"),
        *(b"t", b"u", b"o", b"\x81", b"\x85", b"\x86", b"\x87", b"\x88", b"\x93", b"\x94", b"\x8f"),
        *(b"K\x02", b"q\x00", b"h\x00", b"X\x02\x00\x00\x00os", b"X\x06\x00\x00\x00system"),
        *(b"cos\nsystem\n", b"cbuiltins\neval\n", b"ctorch\nFloatStorage\n", b"ios\nsystem\n"),
        *(b"ctorch._utils\n_rebuild_tensor_v2\n", b"ccollections\nOrderedDict\n"),
        *(b"X\x02\x00\x00\x00ls", b"\x8c\x02os", b"Pstorage\n", b"\x82\x01", b"S'os'\n"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(OPCODES, max_size=30))
@example([b"cos\nsystem\n", b"X\x02\x00\x00\x00ls", b"\x85", b"R"])
@example([b"X\x02\x00\x00\x00os", b"X\x06\x00\x00\x00system", b"\x93", b"S'ls'\n", b"\x85", b"R"])
def test_programs_of_pickles(opcodes: list[bytes]) -> None:
    program = b"\x80\x02" + b"".join(opcodes) + b"."
    load(with_member(FILES[1], "data.pkl", program))
    load(program)


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "value", "items", "array", "span", "name", "version", "root"])
            | st.text(max_size=4),
            inner
            | st.sampled_from(["tensor", "dict", "list", "tuple", "dtype", "bytes", "float64"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_other_trees(tree: Any) -> None:
    import json

    with zipfile.ZipFile(io.BytesIO(FILES[0])) as archive:
        index = next(name for name in archive.namelist() if name.endswith(".json"))
    for content in (tree, {"version": 1, "root": tree}):
        load(with_member(FILES[0], index, json.dumps(content).encode()))


def test_what_is_whole_is_loaded() -> None:
    for data in FILES:
        found = gs.load(io.BytesIO(data))
        assert list(found) == list(STATE)
        np.testing.assert_array_equal(found["weight"].numpy(), STATE["weight"].numpy())
