"""Readers of the values of an entry's keys: each returns the value, or None after reporting."""

from __future__ import annotations

from ..diagnostics import Report, Span
from .source import Listing, Located, Mapping, Scalar

Word = tuple[str, Span]


def read_text(key: str, node: Located, report: Report) -> Scalar | None:
    """A text that is not empty."""
    if not isinstance(node, Scalar):
        help = "a formula that starts with `[` or `{` must stand in quotes"
        report.error("GS010", node.span, f"`{key}` must be a text", help)
        return None
    if not node.value.strip():
        report.error("GS010", node.span, f"`{key}` is empty", "fill it in or leave the key out")
        return None
    return node


def read_flag(key: str, node: Located, report: Report) -> bool | None:
    """`true` or `false`."""
    value = node.literal if isinstance(node, Scalar) else None
    if isinstance(value, bool):
        return value
    report.error("GS010", node.span, f"`{key}` must be true or false")
    return None


def read_words(key: str, node: Located, report: Report) -> tuple[Word, ...]:
    """A list of words, or words between commas; each with its place."""
    if isinstance(node, Scalar) and node.value.strip():
        return _split(node)
    if isinstance(node, Listing):
        words = [item for item in node.items if isinstance(item, Scalar) and item.value.strip()]
        if len(words) == len(node.items):
            return tuple((item.value.strip(), item.span) for item in words)
    report.error("GS010", node.span, f"`{key}` must be a list of words", "as in `[a, b]` or `a, b`")
    return ()


def _split(node: Scalar) -> tuple[Word, ...]:
    spans = node.spans()
    words: list[Word] = []
    start = 0
    for part in node.value.split(","):
        first = spans[start + len(part) - len(part.lstrip())]
        word = part.strip()
        words.append((word, Span(first.path, first.line, first.column, max(1, len(word)))))
        start += len(part) + 1
    return tuple(words)


def read_mapping(key: str, node: Located, report: Report) -> Mapping | None:
    """A mapping."""
    if isinstance(node, Mapping):
        return node
    report.error("GS010", node.span, f"`{key}` must be a mapping", "as in `{self: positive}`")
    return None
