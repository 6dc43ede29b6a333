"""PyTorch's files are read without it, and hostile ones execute nothing."""

from __future__ import annotations

import builtins
import io
import os
import pickle
import subprocess
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.serialization import FormatError, save_for_torch

pytestmark = pytest.mark.oracle


def saved(torch: Any, value: Any, **options: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    buffer.seek(0)
    return buffer


def assert_same(found: Any, expected: Any, torch: Any) -> None:
    if isinstance(expected, torch.Tensor):
        assert tuple(found.shape) == tuple(expected.shape)
        assert f"torch.{found.dtype}" == str(expected.dtype)
        assert found.requires_grad == expected.requires_grad
        assert isinstance(found, gs.nn.Parameter) == isinstance(expected, torch.nn.Parameter)
        assert np.array_equal(found.detach().numpy(), expected.detach().resolve_conj().numpy())
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value, torch)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert_same(mine, theirs, torch)
    else:
        assert found == expected


def examples(torch: Any) -> dict[str, Any]:
    """Contents of checkpoints."""
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
    optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)
    model(torch.randn(2, 1, 5, 5)).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 2, 5])
    base = torch.arange(12.0).reshape(3, 4)
    dtypes = [getattr(torch, name) for name in ("float16", "int8", "bool", "complex64", "uint8")]
    return {
        "model": model.state_dict(),
        "training": {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()},
        "views": [
            base,
            base[1:, ::2],
            base.t(),
            base[2, 3],
            torch.empty(0, 3),
            base.expand(2, 3, 4),
        ],
        "dtypes": [torch.ones(3).to(dtype) for dtype in dtypes],
        "parameters": [torch.nn.Parameter(base), torch.nn.Parameter(base, False)],
        "leaves": [torch.ones(2, requires_grad=True), torch.ones(1, dtype=torch.int64)],
        "plain": [None, True, 3, -(2**70), 2.5, "text", (1, [2]), {"a": 1, 2: (3,)}, {4}, b"\xff"],
        "more": [1 + 2j, Counter("aab"), OrderedDict(b=1)],
    }


@pytest.mark.parametrize(
    "name", ["model", "training", "views", "dtypes", "parameters", "leaves", "plain", "more"]
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_files_of_pytorch(torch, name, protocol):
    expected = examples(torch)[name]
    assert_same(gs.load(saved(torch, expected, pickle_protocol=protocol)), expected, torch)


def test_sizes_dtypes_and_devices(torch):
    found = gs.load(saved(torch, [torch.Size([2, 3]), torch.float32, torch.device("cpu")]))
    assert found == [gs.Size([2, 3]), gs.float32, "cpu"]


def test_bfloat16_becomes_float32(torch):
    expected = torch.tensor([1.0, -2.5, 3e38, float("inf")]).bfloat16()
    found = gs.load(saved(torch, [expected, expected[1:]]))
    assert found[0].dtype == gs.float32
    assert found[0].tolist() == expected.float().tolist()
    assert found[1].tolist() == expected[1:].float().tolist()


@pytest.mark.parametrize(
    "name", ["model", "training", "views", "dtypes", "parameters", "leaves", "plain", "more"]
)
def test_older_files_of_pytorch(torch, tmp_path: Path, name):
    expected = examples(torch)[name]
    torch.save(expected, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert_same(gs.load(tmp_path / "old.pt"), expected, torch)


def test_older_files_one_after_the_other(torch):
    buffer = io.BytesIO()
    for number in range(2):
        value = torch.full((2,), number).bfloat16()
        torch.save(value, buffer, _use_new_zipfile_serialization=False)
    buffer.seek(0)
    assert [gs.load(buffer).tolist() for _ in range(2)] == [[0.0, 0.0], [1.0, 1.0]]


def test_damaged_older_files(torch):
    data = saved(
        torch, [torch.ones(3), torch.zeros(2)], _use_new_zipfile_serialization=False
    ).getvalue()
    for length in range(len(data)):
        with pytest.raises(FormatError):
            gs.load(io.BytesIO(data[:length]))
    for wrong in (
        data.replace(b"FloatStorage", b"ByteStorages"),
        data.replace(b"K\x03", b"K\x04"),
        data.replace(b"_rebuild_tensor_v2", b"_rebuild_tensor_v9"),
    ):
        assert wrong != data
        with pytest.raises(FormatError):
            gs.load(io.BytesIO(wrong))


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_dtypes_without_a_class_of_storages(torch, name):
    base = torch.arange(6).to(getattr(torch, name)).reshape(2, 3)
    expected = [base, base.T, base[1, 1:], torch.empty(0, dtype=base.dtype)]
    assert_same(gs.load(saved(torch, expected)), expected, torch)


@pytest.mark.parametrize("new", [True, False])
def test_values_that_are_marked_as_conjugated_or_negated(torch, new):
    value = torch.tensor([1 + 2j, 3 - 4j])
    marked = [value.conj(), value.conj()[1:], value]
    if new:  # PyTorch cannot write negated ones in the older format
        marked.append((value * 2).conj().imag)
    found = gs.load(saved(torch, marked, _use_new_zipfile_serialization=new))
    for mine, theirs in zip(found, marked, strict=True):
        assert mine.tolist() == theirs.tolist()


def test_bfloat16_of_safetensors_becomes_float32(torch, tmp_path: Path):
    from safetensors import torch as safetensors

    value = torch.tensor([[1.5, -2.25, 3e-5]])
    tensors = {"half": value.bfloat16(), "whole": value, "flags": value > 0}
    safetensors.save_file(tensors, tmp_path / "a.safetensors")
    found = gs.load(tmp_path / "a.safetensors")
    assert {name: each.dtype for name, each in found.items()} == {
        "half": gs.float32,
        "whole": gs.float32,
        "flags": gs.bool,
    }
    assert found["half"].tolist() == tensors["half"].tolist()
    safetensors.save_file({"tiny": value.to(torch.float8_e4m3fn)}, tmp_path / "b.safetensors")
    with pytest.raises(FormatError, match="F8_E4M3"):
        gs.load(tmp_path / "b.safetensors")


def test_storages_stay_shared(torch):
    base = torch.zeros(4)
    first, second = gs.load(saved(torch, [base, base[1:3]]))
    second.add_(1)
    assert first.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_states_go_into_models(torch, tmp_path: Path):
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    torch.save(theirs.state_dict(), tmp_path / "model.pt")
    ours = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.BatchNorm1d(4))
    state = gs.load(tmp_path / "model.pt")
    assert repr(ours.load_state_dict(state)) == "<All keys matched successfully>"
    assert state._metadata[""] == {"version": 1}
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    found, expected = ours(gs.tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), atol=1e-6)


def test_files_for_pytorch(torch, tmp_path: Path):
    model = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.BatchNorm1d(4))
    optimizer = gs.optim.Adam(model.parameters())
    model(gs.ones(2, 3)).sum().backward()
    optimizer.step()
    base = gs.arange(12).reshape(3, 4).clone()
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "views": [
            base,
            base[1:, ::2],
            base.t(),
            gs.ones(0, 2),
            gs.tensor(3.5),
            base.expand(2, 3, 4),
        ],
        "parameter": gs.nn.Parameter(gs.ones(2, dtype=gs.complex64)),
        "plain": [None, True, -5, 2**70, 0.1, "é", (1, (2,)), {3: "x"}, gs.Size([1])],
    }
    path = tmp_path / "state.pt"
    save_for_torch(state, path)
    for weights_only in (True, False):
        loaded = torch.load(path, weights_only=weights_only)
        assert_same(state, loaded, torch)
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    assert "All keys matched" in str(theirs.load_state_dict(loaded["model"]))
    torch.optim.Adam(theirs.parameters()).load_state_dict(loaded["optimizer"])
    loaded["views"][0].zero_()
    assert loaded["views"][1].sum() == 0
    with pytest.raises(TypeError, match="cannot save a function"):
        save_for_torch(examples, path)
    assert_same(gs.load(path), torch.load(path), torch)


# ---- hostile files


class Calls:
    """Calls a function where it is unpickled."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.function, self.args = function, args

    def __reduce__(self) -> Any:
        return self.function, self.args


class Builds:
    """Sets the state of the result of a function."""

    def __init__(self, function: Any, state: Any) -> None:
        self.function, self.state = function, state

    def __reduce__(self) -> Any:
        return self.function, (), self.state


def attacks(trap: Path) -> dict[str, Any]:
    touch = f"open({str(trap)!r}, 'w').close()"
    return {
        "os": Calls(os.mkdir, str(trap)),
        "eval": Calls(eval, touch),
        "exec": Calls(exec, touch),
        "open": Calls(open, str(trap), "w"),
        "subprocess": Calls(subprocess.Popen, ["touch", str(trap)]),
        "getattr": Calls(getattr, "x", "__class__"),
        "import": Calls(builtins.__import__, "antigravity"),
        "numpy": Calls(np.save, str(trap), 1),
        "loads": Calls(pickle.loads, pickle.dumps(Calls(os.mkdir, str(trap)))),
        "state": Builds(OrderedDict, {"__class__": "x", "default_factory": 3}),
        "key of a dict": {"a": [{"b": (Calls(os.mkdir, str(trap)),)}]},
    }


def program(data: bytes, storages: dict[str, bytes] | None = None) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", data)
        for key, storage in (storages or {}).items():
            file.writestr(f"archive/data/{key}", storage)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("name", list(attacks(Path("x"))))
def test_attacks_execute_nothing(torch, tmp_path: Path, name, protocol):
    trap = tmp_path / "executed"
    file = program(pickle.dumps(attacks(trap)[name], protocol))
    if name == "state" and protocol:
        found = gs.load(file)
        assert isinstance(found, OrderedDict)
        assert not hasattr(found, "default_factory")
    else:
        with pytest.raises(FormatError):
            gs.load(file)
    assert not trap.exists()


def test_whole_modules_are_refused(torch):
    with pytest.raises(FormatError, match=r"needs torch\.nn\.modules\.linear\.Linear"):
        gs.load(saved(torch, torch.nn.Linear(1, 1)))


def tensor_program(torch: Any, **changes: Any) -> io.BytesIO:
    """A file with one tensor, of which some arguments are changed."""
    given = {"offset": 0, "size": (2,), "stride": (1,), "count": 2, **changes}

    class Pickler(pickle._Pickler):
        def persistent_id(self, value: Any) -> Any:
            if value == "STORAGE":
                return ("storage", torch.FloatStorage, "0", "cpu", given["count"])
            return None

    class Made:
        def __reduce__(self) -> Any:
            rest = given["offset"], given["size"], given["stride"], False, OrderedDict()
            return torch._utils._rebuild_tensor_v2, ("STORAGE", *rest)

    buffer = io.BytesIO()
    Pickler(buffer, 2).dump(Made())
    return program(buffer.getvalue(), {"0": np.ones(2, np.float32).tobytes()})


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": 1},
        {"offset": -1},
        {"size": (3,)},
        {"size": (2**40, 2**40), "stride": (0, 2**40)},
        {"stride": (-1,)},
        {"stride": (2,)},
        {"stride": (1, 1)},
        {"size": (2.0,)},
        {"size": "ab"},
        {"count": 3},
        {"count": -2},
        {"count": "2"},
    ],
    ids=str,
)
def test_tensors_outside_their_storages(torch, changes):
    assert gs.load(tensor_program(torch)).tolist() == [1.0, 1.0]
    with pytest.raises(FormatError):
        gs.load(tensor_program(torch, **changes))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x02",
        b"\x80\x02.",
        b"\x80\x02]]e.",
        b"\x80\x02u.",
        b"\x80\x02K\x01K\x02R.",
        b"\x80\x02h\x05.",
        b"\x80\x02X\xff\xff\xff\x7fa.",
        b"\x80\x02K\x01Q.",
        b"\x80\x02(K\x01K\x02tQ.",
        b"\x80\x02}]K\x01s.",
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00_metadataK\x01sb.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b.",
        b"\x80\x02ctorch\nSize\n]X\x01\x00\x00\x00aa\x85R.",
    ],
    ids=repr,
)
def test_damaged_programs(data):
    with pytest.raises(FormatError):
        gs.load(program(data))


def test_wrong_byte_orders(torch):
    buffer = saved(torch, torch.ones(2))
    other = io.BytesIO()
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            data = b"middle" if name.endswith("byteorder") else source.read(name)
            target.writestr(name, data)
    other.seek(0)
    with pytest.raises(FormatError, match="no order of bytes"):
        gs.load(other)
