"""There is one device, the CPU; it may be named where PyTorch lets one name it."""

from __future__ import annotations


def check_device(name: str, device: object) -> None:
    """Raise RuntimeError for a device other than the CPU."""
    if device is not None and not str(device).startswith("cpu"):
        raise RuntimeError(f"{name}: there is no device {str(device)!r}, only 'cpu'")
