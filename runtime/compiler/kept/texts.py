"""The texts that are written through templates, and kept for later processes.

To load Jinja and read a template takes several times as long as all else that is done for a program
that was built before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from . import disk_cache

_TEMPLATES: Final = Path(__file__).parents[1] / "templates"


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """Return the text of a template, of values whose `repr` says all that it reads of them.

    It raises ImportError where Jinja is not installed, and the text was not written before.
    """
    parts = (name, *_sources(), repr(values))
    return disk_cache.text(parts, lambda: str(_template(name).render(values)))


@cache
def _sources() -> tuple[str, ...]:
    """Return all templates, which may include each other."""
    files = sorted(_TEMPLATES.glob("*.j2"))
    return tuple(file.read_text(encoding="utf-8") for file in files)


@cache
def _template(name: str) -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "gs.compile writes programs through Jinja, which is not installed: "
            "pip install 'gradspec[compile]'"
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)
