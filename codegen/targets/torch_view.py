"""One op for PyTorch as its template renders it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TorchOp:
    """One op as its template renders it: names and lines of code."""

    name: str
    public_name: str
    """The name that users know, where the module has another use for that."""
    signature: str
    public_arguments: str
    """The arguments by the names that users know, if code has others for them."""
    checked_parameters: str
    returns: str
    doc: str
    checks: tuple[str, ...]
    """Refuse calls, and bring arguments to one dtype and shape."""
    plain: tuple[str, ...]
    """The whole body of an op without rules of its own; empty for others."""
    class_name: str
    run: str
    """The beginning of the call that runs the classes."""
    arguments: str
    """The arguments of the public function, as they are handed to the classes."""
    forward_parameters: str
    forward: tuple[str, ...]
    setup: tuple[str, ...]
    """The body of `setup_context` for reverse mode."""
    setup_both: tuple[str, ...]
    """The same for both modes, if forward mode reads more."""
    backward_parameters: str
    backward: tuple[str, ...]
    keeping_forward: tuple[str, ...]
    """The body of `forward` that keeps more than arguments and results; empty if none pays."""
    keeping_backward: tuple[str, ...]
    has_lists: bool
    """True if it takes lists of plain values."""
    jvp_parameters: str
    jvp: tuple[str, ...]
    aliases: tuple[str, ...]
    custom: str
    """The schema, if PyTorch takes the op for a whole; empty for others."""
    registered: str
    """The name that PyTorch knows it by then."""
    compute: tuple[str, ...]
    """Function that computes it then."""
    handed: str
    """The arguments of the classes, as they are handed on."""
    kernel_import: str
    """The import of the module of its own kernel, if it has one."""
