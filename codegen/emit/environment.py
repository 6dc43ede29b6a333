"""The Jinja environment: strict, logic-free templates, and filters that make texts literals.

Whatever a spec or a command line says enters generated code through one of these filters, or has
been checked to be a name.
"""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

_NOT_PRINTED = re.compile(r"[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
"""The characters spelled as escapes: controls, separators of lines and halves of characters."""


@cache
def template(name: str) -> Template:
    """A template of the generated package."""
    environment = Environment(
        loader=PackageLoader("gradspec_codegen", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters |= {"literal": literal, "docstring": docstring}
    return environment.get_template(name)


def literal(text: str) -> str:
    """A text as a literal of Python."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_NOT_PRINTED.sub(_escape, escaped)}"'


def docstring(text: str) -> str:
    """A text as a docstring, which holds exactly that text whatever is in it."""
    escaped = re.sub(r'"(?=""|\Z)', r"\"", text.replace("\\", "\\\\"))
    return f'"""{_NOT_PRINTED.sub(_escape, escaped)}"""'


def _escape(character: re.Match[str]) -> str:
    return ascii(character[0])[1:-1]
