"""Files of tensors: what is saved is loaded, whole or not at all, and nothing in it is executed."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.serialization import FormatError


def round_trip(value: Any) -> Any:
    buffer = io.BytesIO()
    gs.save(value, buffer)
    buffer.seek(0)
    return gs.load(buffer)


PLAIN: list[Any] = [
    None,
    True,
    3,
    -(2**80),
    2.5,
    0.1,
    float("inf"),
    "text é",
    1 - 2j,
    b"\x00\xff",
    [1, [2.0, "x"], ()],
    (1, (2,)),
    {"a": 1, 2: "b", (3, 4): None, None: True},
    OrderedDict(b=1, a=2),
    Counter({3: 2}),
    {1, 2},
    frozenset({1, 2}),
    gs.Size([2, 3]),
    gs.float32,
    np.float64(0.1),
    np.int8(3),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value):
    found = round_trip(value)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_and_negative_zero():
    found = round_trip([float("nan"), -0.0])
    assert found[0] != found[0]
    assert str(found[1]) == "-0.0"


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128", "int8", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_tensors(dtype, shape):
    values = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    found = round_trip(gs.from_numpy(values))
    assert found.dtype == values.dtype
    assert found.shape == shape
    assert np.array_equal(found.numpy(), values)
    found.add_(found)  # its memory can be written to


def test_what_a_tensor_is():
    parameter = gs.nn.Parameter(gs.ones(2))
    leaf = gs.ones(2, requires_grad=True)
    (leaf * 3).sum().backward()
    loaded = round_trip([parameter, leaf, leaf * 2, gs.nn.Parameter(gs.ones(1), False)])
    assert isinstance(loaded[0], gs.nn.Parameter)
    assert loaded[1].grad.tolist() == [3.0, 3.0]
    assert loaded[2].tolist() == [2.0, 2.0]
    assert [tensor.requires_grad for tensor in loaded] == [True, True, True, False]
    assert all(tensor.is_leaf for tensor in loaded)


def test_shared_memory_is_shared():
    base = gs.arange(12).reshape(3, 4).clone()
    first, second = round_trip([base, base[1:, ::2]])
    assert second.tolist() == [[4, 6], [8, 10]]
    first.zero_()
    assert second.tolist() == [[0, 0], [0, 0]]
    flipped = gs.from_numpy(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert round_trip(flipped.t()).tolist() == flipped.t().tolist()


def test_training_resumes(tmp_path: Path):
    def train(steps: int, checkpoint: Path | None = None, resumes: bool = False) -> list[float]:
        gs.manual_seed(0)
        model = gs.nn.Sequential(gs.nn.Linear(2, 4), gs.nn.BatchNorm1d(4), gs.nn.Linear(4, 1))
        optimizer = gs.optim.Adam(model.parameters(), lr=0.1)
        scheduler = gs.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4])
        if resumes:
            state = gs.load(checkpoint)
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
            scheduler.load_state_dict(state["scheduler"])
        x = gs.tensor(np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32))
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        if checkpoint and not resumes:
            parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
            gs.save({name: part.state_dict() for name, part in parts.items()}, checkpoint)
        return losses

    path = tmp_path / "checkpoint.gs"
    assert train(3, path) + train(3, path, resumes=True) == train(6)


def test_modules_are_refused():
    with pytest.raises(
        TypeError, match=r"cannot save object\['m'\]\[0\], a Linear: save its state"
    ):
        gs.save({"m": [gs.nn.Linear(1, 1)]}, io.BytesIO())
    with pytest.raises(TypeError, match="cannot save object, a function"):
        gs.save(round_trip, io.BytesIO())
    with pytest.raises(TypeError, match="cannot save object, a ndarray"):
        gs.save(np.array([object()]), io.BytesIO())
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        gs.save(endless, io.BytesIO())


def test_objects_with_few_methods_of_files():
    class Source:
        def __init__(self, data: bytes) -> None:
            self.read = io.BytesIO(data).read

    class Seeking(Source):
        def seek(self, offset: int) -> None:
            raise AssertionError

    buffer = io.BytesIO()
    gs.save(gs.ones(2), buffer, pickle.HIGHEST_PROTOCOL, _use_new_zipfile_serialization=False)
    found = gs.load(Seeking(buffer.getvalue()), "cpu", pickle, encoding="latin1")
    assert found.tolist() == [1.0, 1.0]
    with pytest.raises(AttributeError, match="file that is seekable"):
        gs.load(Source(buffer.getvalue()))


def test_subclasses_are_saved_as_plain_tensors():
    class Derived(gs.Tensor):
        pass

    assert type(round_trip(gs.ones(2).as_subclass(Derived))) is gs.Tensor


def test_a_refused_object_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "state"
    gs.save({"x": gs.ones(2)}, path)
    with pytest.raises(TypeError, match="cannot save"):
        gs.save({"x": print}, path)
    assert gs.load(path)["x"].tolist() == [1.0, 1.0]
    assert os.listdir(tmp_path) == ["state"]


WRITER = """
import sys
import gradspec as gs
state = [gs.full((200_000,), float(number)) for number in range(8)]
while True:
    for number in range(2):
        gs.save({"number": number, "values": [t + number for t in state]}, sys.argv[1])
        print("saved", flush=True)
"""


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path):
    path = tmp_path / "state"
    for delay in (0.0, 0.004, 0.011, 0.019):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        state = gs.load(path)
        for index, tensor in enumerate(state["values"]):
            assert set(tensor.unique().tolist()) == {index + float(state["number"])}


# ---- hostile files


def archive(index: Any, arrays: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Any:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        file.writestr("gradspec.json", index if isinstance(index, str) else json.dumps(index))
        for name, data in arrays.items():
            file.writestr(name, data)
    buffer.seek(0)
    return buffer


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


class Attack:
    """Creates a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


TENSOR = {"type": "tensor", "array": 0}
ONES = {"arrays/0.npy": npy(np.ones(4))}


def rooted(root: Any, version: int = 1) -> dict[str, Any]:
    return {"version": version, "root": root}


DAMAGED: dict[str, Any] = {
    "no JSON": ("{", {}),
    "no root": ({"version": 1}, {}),
    "another version": (rooted(None, 2), {}),
    "deep": ('{"version": 1, "root": ' + "[" * 100_000 + "]" * 100_000 + "}", {}),
    "unknown type": (rooted({"type": "function", "name": "os.system"}), {}),
    "no type": (rooted({"name": "os.system"}), {}),
    "type of a list": (rooted({"type": ["tensor"]}), {}),
    "no array": (rooted(TENSOR), {}),
    "another path": (rooted({"type": "tensor", "array": "../../etc/passwd"}), ONES),
    "no shape": (rooted({**TENSOR, "span": [[9], "float64", 0, [8]]}), ONES),
    "before its memory": (rooted({**TENSOR, "span": [[2], "float64", -8, [8]]}), ONES),
    "backwards": (rooted({**TENSOR, "span": [[2], "float64", 0, [-8]]}), ONES),
    "past its memory": (rooted({**TENSOR, "span": [[2], "float64", 0, [800]]}), ONES),
    "overflow": (rooted({**TENSOR, "span": [[2**62], "float64", 0, [2**62]]}), ONES),
    "objects": (rooted({**TENSOR, "span": [[4], "object", 0, [8]]}), ONES),
    "structured": (rooted({"type": "dtype", "name": "i4,O"}), {}),
    "texts": (rooted(TENSOR), {"arrays/0.npy": npy(np.array(["a"]))}),
    "short array": (rooted(TENSOR), {"arrays/0.npy": npy(np.ones(4))[:-8]}),
    "long array": (rooted(TENSOR), {"arrays/0.npy": npy(np.ones(4)) + b"12345678"}),
    "no array file": (rooted(TENSOR), {"arrays/0.npy": b"12345"}),
    "keys that cannot be": (rooted({"type": "dict", "items": [[[1], 2]]}), {}),
    "half a pair": (rooted({"type": "dict", "items": [[1]]}), {}),
    "odd bytes": (rooted({"type": "bytes", "value": "0"}), {}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files(name):
    index, arrays = DAMAGED[name]
    with pytest.raises(FormatError):
        gs.load(archive(index, arrays))


def test_arrays_of_objects_are_not_unpickled(tmp_path: Path):
    trap = tmp_path / "executed"
    data = npy(np.array([Attack(trap)], dtype=object), allow_pickle=True)
    with pytest.raises(FormatError, match="dtype object"):
        gs.load(archive(rooted(TENSOR), {"arrays/0.npy": data}))
    assert not trap.exists()


def test_a_header_that_promises_much_is_refused():
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 16
    with pytest.raises(FormatError, match="has 16 bytes"):
        gs.load(archive(rooted(TENSOR), {"arrays/0.npy": data}))


def test_compressed_members_are_refused():
    bomb = npy(np.zeros(1_000_000))
    with pytest.raises(FormatError, match="compressed"):
        gs.load(archive(rooted(TENSOR), {"arrays/0.npy": bomb}, zipfile.ZIP_DEFLATED))


def test_a_changed_byte_is_found(tmp_path: Path):
    path = tmp_path / "state"
    gs.save(gs.arange(1000), path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged"):
        gs.load(path)


def test_other_files(tmp_path: Path):
    trap, path = tmp_path / "executed", tmp_path / "file"
    path.write_bytes(pickle.dumps(Attack(trap)))
    with pytest.raises(FormatError, match=r"no file of gradspec\.save"):
        gs.load(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme", "hello")
    with pytest.raises(FormatError, match=r"neither of gradspec\.save nor"):
        gs.load(path)
    with pytest.raises(FileNotFoundError):
        gs.load(tmp_path / "missing")
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        gs.load(path, map_location="cuda")
    assert not trap.exists()


def test_safetensors(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    state = gs.nn.Linear(2, 3).state_dict()
    gs.save({**state, "turned": gs.arange(6).reshape(2, 3).t(), "number": gs.tensor(3.0)}, path)
    found = gs.load(path)
    assert found["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found["number"].item() == 3.0
    assert found["weight"].tolist() == state["weight"].tolist()
    found["weight"].zero_()
    with pytest.raises(TypeError, match="hold tensors by name"):
        gs.save({"x": 3}, path)
    with pytest.raises(TypeError, match="hold a dict of tensors"):
        gs.save([gs.ones(1)], path)
    assert gs.load(path)["number"].item() == 3.0
