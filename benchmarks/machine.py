"""The machine and the versions with which the figures were measured."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def describe() -> dict[str, str]:
    """Describe the machine, so that a reader can judge the figures."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": _cpu(),
        "cores": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **({"load": f"{os.getloadavg()[0]:.2f}"} if hasattr(os, "getloadavg") else {}),
    }
    for package in ("numpy", "gradspec", "torch", "jax", "autograd", "mygrad"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def is_busy() -> bool:
    """Return whether other programs are at work, so that the figures will say little."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > 0.75


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
