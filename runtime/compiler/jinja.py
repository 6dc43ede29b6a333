"""The templates that programs are written through."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def template(name: str, folder: str = "templates") -> Any:
    """Return a template; ImportError where Jinja is not installed."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "gs.compile writes programs through Jinja, which is not installed: "
            "pip install 'gradspec[compile]'"
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / folder),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)
