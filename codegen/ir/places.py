"""Convert the positions of Python's parser to ranges of characters of a formula's text."""

from __future__ import annotations

import ast

from .nodes import TextSpan


class Places:
    """From `ast`'s line and UTF-8 column to a character offset of the formula's text."""

    def __init__(self, text: str, indent: int) -> None:
        self.text = text
        self._starts = [indent]
        self._lines = text[indent:].split("\n")
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """The character offset of 1-based `line`, 0-based UTF-8 `column`."""
        row = min(line, len(self._lines)) - 1
        content = self._lines[row]
        if not content.isascii():
            column = len(content.encode()[:column].decode(errors="ignore"))
        return min(self._starts[row] + column, len(self.text))

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> TextSpan:
        """The range of text a node was read from."""
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        return TextSpan(
            self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)
        )

    def of_syntax_error(self, error: SyntaxError) -> TextSpan:
        """Locate a syntax error; Python's columns are 1-based, in characters."""
        row = min(max(error.lineno or 1, 1), len(self._lines)) - 1
        column = min(max((error.offset or 1) - 1, 0), len(self._lines[row]))
        start = min(self._starts[row] + column, len(self.text))
        return TextSpan(start, start + 1)
