"""`docs/names.md` says of each public name of PyTorch whether it is here, and if not why."""

from __future__ import annotations

import pytest

from . import names


def test_the_document_is_fresh() -> None:
    assert names.DOCUMENT.read_text(encoding="utf-8") == names.document(), (
        "docs/names.md is not what the library has: run python -m tests.meta.names"
    )


def test_a_name_that_is_left_without_a_reason_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no reason for torch\.neither_here_nor_there"):
        names.left("torch", ["neither_here_nor_there"])


@pytest.mark.parametrize(
    ("namespace", "name", "here"),
    [
        ("torch", "sin", True),
        ("torch", "quantize_per_tensor", False),
        ("torch.Tensor", "add_", True),
        ("torch.Tensor", "to_sparse", False),
        ("torch.nn.init", "orthogonal_", True),
    ],
)
def test_a_name_is_looked_up_where_it_belongs(namespace: str, name: str, here: bool) -> None:
    assert names.is_here(namespace, name) is here


def test_every_reason_is_one_of_a_name_that_is_left() -> None:
    left = [
        (path, name)
        for path, words in names.names().items()
        for name in words
        if not names.is_here(path, name)
    ]
    known = [reason for reason in names.reasons() if reason.pattern != ".*"]
    idle = [each for each in known if not any(each.fits(*name) for name in left)]
    assert not idle, f"nothing is left for these reasons: {idle}"
