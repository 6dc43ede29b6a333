"""Calls of PyTorch's first years, with scales in front of the tensors: `x.add_(-0.1, grad)`.

Programs of that time, optimizers above all, are full of them, and PyTorch still takes them.
"""

from __future__ import annotations

from typing import Any, Final

_PRODUCTS: Final = ("addmm_", "addmv_", "addr_", "addbmm_", "baddbmm_")

_SCALES: Final = {
    **dict.fromkeys(("add_", "sub_"), (1, ("alpha",))),
    **dict.fromkeys(("addcmul_", "addcdiv_"), (2, ("value",))),
    **dict.fromkeys(_PRODUCTS, (2, ("beta", "alpha"))),
}
"""Number of tensors that an in-place method takes, and the names of the scales in front of them."""


def with_scales_named(
    name: str, args: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the tensors, and the scales in front of them by name; None for another call."""
    count, scales = _SCALES.get(name, (0, ()))
    surplus = len(args) - count
    if not 0 < surplus <= len(scales):
        return None
    return args[surplus:], dict(zip(scales, args[:surplus], strict=False))
