"""Storages, `set_`, `resize_` in memory formats, and parts that are assigned, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


def test_elements_of_a_storage(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        base = library.arange(6.0)
        view = base.view(2, 3)[1:, ::2]
        storage = view.storage()
        found = [len(storage), storage.size(), storage.nbytes(), storage.element_size()]
        found += [storage.tolist(), list(storage), storage[2], storage.is_shared()]
        found += [storage.data_ptr() == base.data_ptr(), storage.dtype == base.dtype]
        storage[5] = -1.0
        found += [view, storage.untyped().nbytes(), library.is_storage(storage)]
        return [*found, storage.fill_(2.0).tolist(), base]

    assert_same(behaviour, torch)


def test_storage_of_windows(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        base = library.arange(6.0)
        windows = base.unfold(0, 3, 1)
        return [windows.storage().tolist(), windows.storage().data_ptr() == base.data_ptr()]

    assert_same(behaviour, torch)


def test_set_to_a_storage(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        base = library.arange(24.0)
        found = []
        for storage in (base.storage(), base.untyped_storage()):
            part = library.tensor(())
            part.set_(storage, 10, library.Size([2, 2]), (7, 1))
            found += [part.clone(), part.stride()]
            part[0, 1] = -1.0
            found += [base.clone(), library.tensor(()).set_(storage, 4, (2, 3))]
        found += [library.tensor(()).set_(base, 1, (3,), (2,))]
        found += [
            attempt(lambda: library.tensor(()).set_(base.storage(), 20, (2, 3)).shape),
            attempt(lambda: library.tensor((), dtype=library.int64).set_(base.storage())),
            attempt(lambda: library.tensor(()).set_(3)),
        ]
        return found

    def without_growth(library: Any) -> Any:
        # PyTorch lets a storage grow, which no NumPy array can.
        return [f for i, f in enumerate(behaviour(library)) if i != 9]

    assert_same(without_growth, torch)


def test_history_of_what_shares_a_storage() -> None:
    """PyTorch forgets here that what was saved has been written to."""
    base = gs.arange(4.0)
    part = gs.tensor(()).set_(base.storage(), 1, (2,))
    product = (gs.ones(4, requires_grad=True) * base).sum()
    part.fill_(3.0)
    assert base.tolist() == [0.0, 3.0, 3.0, 3.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("name", ["channels_last", "channels_last_3d"])
def test_resize_in_a_memory_format(torch: Any, name: str) -> None:
    shape = (2, 3, 4, 5) if name == "channels_last" else (2, 3, 2, 4, 5)

    def behaviour(library: Any) -> Any:
        order = getattr(library, name)
        count = library.zeros(shape).numel()
        flat = library.arange(float(count))
        flat.resize_(shape, memory_format=order)
        like = library.zeros(shape).contiguous(memory_format=order)
        other = library.arange(float(count)).resize_as_(like, memory_format=library.preserve_format)
        return [
            flat,
            flat.stride(),
            flat.is_contiguous(memory_format=order),
            other.stride(),
            attempt(lambda: library.zeros(6).resize_(2, 3, memory_format=order)),
            attempt(lambda: library.zeros(6).resize_(2, 3, memory_format=library.preserve_format)),
            attempt(lambda: library.zeros(()).resize_([8, 8, 2**29, 2**29])),
        ]

    assert_same(behaviour, torch)


def test_parts_are_assigned(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        z = library.tensor([1 + 2j, 3 + 4j])
        z.real = library.tensor([5, 6])
        z.imag = library.tensor([7 + 1j, 8 + 2j])
        x = library.tensor([1.0, 2.0])
        x.real = library.tensor([3.0, 4.0])

        def imaginary() -> None:
            x.imag = library.tensor([1.0, 1.0])

        w = library.tensor([1.0, 2.0], requires_grad=True)
        y = library.zeros(2, dtype=library.complex64)
        y.real = w
        y.abs().sum().backward()
        return [z, x, attempt(imaginary), w.grad]

    assert_same(behaviour, torch)
