"""Base of every Python-like renderer: dispatch by node type, precedence, statements.

There are no parenthesis nodes: a renderer asks for an operand at the precedence that its place
allows, and the operand puts parentheses around itself if it binds more loosely.
"""

from __future__ import annotations

from ..ir import nodes as ir

LOOSEST = 0
CONDITIONAL = 1
OR = 2
AND = 3
NOT = 4
COMPARE = 5
BIT_OR = 6
BIT_XOR = 7
BIT_AND = 8
ADD = 10
MULTIPLY = 11
UNARY = 12
POWER = 13
ATOM = 15

BINARY_PRECEDENCE = {
    "|": BIT_OR,
    "^": BIT_XOR,
    "&": BIT_AND,
    "+": ADD,
    "-": ADD,
    "*": MULTIPLY,
    "/": MULTIPLY,
    "//": MULTIPLY,
    "%": MULTIPLY,
    "@": MULTIPLY,
    "**": POWER,
}


class PythonRenderer:
    """Expressions and blocks as Python source; a target says what names and calls become."""

    def render(self, node: ir.Expr | ir.Slice, at: int = LOOSEST) -> str:
        """`node` as source that may stand where precedence `at` is required."""
        text, precedence = self.read(node)
        return self.in_parentheses(text) if precedence < at else text

    def read(self, node: ir.Expr | ir.Slice) -> tuple[str, int]:
        """`node` as source, and how tightly that binds."""
        method = getattr(self, "render_" + type(node).__name__.lower(), None)
        if method is None:
            raise TypeError(f"{type(self).__name__} has no reading of {type(node).__name__}")
        answer: tuple[str, int] = method(node)
        return answer

    # ---- what differs between targets

    def in_parentheses(self, text: str) -> str:
        return f"({text})"

    def render_name(self, node: ir.Name) -> tuple[str, int]:
        return node.id, ATOM

    def render_call(self, node: ir.Call) -> tuple[str, int]:
        raise NotImplementedError

    def local(self, name: str) -> str:
        """Return the name of a local in the code."""
        return name

    def note_assignment(self, targets: tuple[str, ...], value: ir.Expr) -> None:
        """A local of a block has been given a value."""

    # ---- what does not

    def render_const(self, node: ir.Const) -> tuple[str, int]:
        negative = isinstance(node.value, int | float) and node.value < 0
        return repr(node.value), UNARY if negative else ATOM

    def render_unary(self, node: ir.Unary) -> tuple[str, int]:
        if node.op == "not":
            return f"not {self.render(node.operand, NOT)}", NOT
        return f"{node.op}{self.render(node.operand, UNARY)}", UNARY

    def render_binary(self, node: ir.Binary) -> tuple[str, int]:
        own = BINARY_PRECEDENCE[node.op]
        # Power is right-associative, everything else left-associative.
        left, right = (own + 1, UNARY) if node.op == "**" else (own, own + 1)
        return f"{self.render(node.left, left)} {node.op} {self.render(node.right, right)}", own

    def render_compare(self, node: ir.Compare) -> tuple[str, int]:
        left, right = self.render(node.left, BIT_OR), self.render(node.right, BIT_OR)
        return f"{left} {node.op} {right}", COMPARE

    def render_logic(self, node: ir.Logic) -> tuple[str, int]:
        # Parentheses around `and` inside `or`: readers need not know which binds tighter.
        operands = (self.render(operand, NOT) for operand in node.operands)
        return f" {node.op} ".join(operands), OR if node.op == "or" else AND

    def render_attribute(self, node: ir.Attribute) -> tuple[str, int]:
        return f"{self.render(node.value, ATOM)}.{node.name}", ATOM

    def render_slice(self, node: ir.Slice) -> tuple[str, int]:
        start, stop = ("" if x is None else self.render(x) for x in (node.start, node.stop))
        step = "" if node.step is None else ":" + self.render(node.step)
        return f"{start}:{stop}{step}", ATOM

    def render_subscript(self, node: ir.Subscript) -> tuple[str, int]:
        return f"{self.render(node.value, ATOM)}[{self.render(node.index)}]", ATOM

    def render_conditional(self, node: ir.Conditional) -> tuple[str, int]:
        then, test = self.render(node.then, OR), self.render(node.test, OR)
        return f"{then} if {test} else {self.render(node.otherwise, CONDITIONAL)}", CONDITIONAL

    def render_sequence(self, node: ir.Sequence) -> tuple[str, int]:
        items = [self.render(item, CONDITIONAL) for item in node.items]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})", ATOM

    def render_star(self, node: ir.Star) -> tuple[str, int]:
        return f"*{self.render(node.value, BIT_OR)}", ATOM

    # ---- blocks

    def statements(self, block: ir.Block, result: str) -> list[str]:
        """The block as lines of code; `result` is how a value is returned, e.g. `return {}`."""
        return self._suite(block.statements, result)

    def _suite(self, statements: tuple[ir.Stmt, ...], result: str) -> list[str]:
        lines: list[str] = []
        for position, statement in enumerate(statements):
            match statement:
                case ir.Assign(targets, value):
                    lines.append(f"{', '.join(map(self.local, targets))} = {self.render(value)}")
                    self.note_assignment(targets, value)
                case ir.Return(value):
                    lines.append(result.format(self.render(value)))
                case ir.If(test, then, otherwise):
                    rest = statements[position + 1 :]
                    if _returns(then) or _returns(otherwise):
                        # What follows belongs to the other branch: no early return needed.
                        then = then if _returns(then) else then + rest
                        otherwise = otherwise if _returns(otherwise) else otherwise + rest
                        rest = ()
                        lines += self._branches(test, then, otherwise, result)
                        return lines
                    lines += self._branches(test, then, otherwise, result)
        return lines

    def _branches(
        self,
        test: ir.Expr,
        then: tuple[ir.Stmt, ...],
        otherwise: tuple[ir.Stmt, ...],
        result: str,
    ) -> list[str]:
        lines = [f"if {self.render(test)}:", *indented(self._suite(then, result))]
        if otherwise:
            lines += ["else:", *indented(self._suite(otherwise, result))]
        return lines


def _returns(statements: tuple[ir.Stmt, ...]) -> bool:
    """Return whether every way through the statements ends in a return."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ir.If):
        return _returns(last.then) and _returns(last.otherwise)
    return isinstance(last, ir.Return)


def indented(lines: list[str]) -> list[str]:
    """Return the lines four columns further in."""
    return ["    " + line for line in lines]
