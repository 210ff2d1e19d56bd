"""Every way in which one place of a file can be made wrong; see `wrong_lines.py`."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/masked_subspace")
# Statements that only say something.
SAID = re.compile(r"(_log|log|logging|warnings|progress|report\w*|say\w*|print)\b")
COMPARED = {ast.Lt: ("<", ">="), ast.LtE: ("<=", ">"), ast.Gt: (">", "<="), ast.GtE: (">=", "<"), ast.Eq: ("==", "!="),
            ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
            ast.NotIn: ("not in", "in")}  # fmt: skip
LIMITS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
COMPUTED = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
SWAPPED = dict([*(p := [("min", "max"), ("argmin", "argmax"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"),
                        ("zeros", "ones")]), *((b, a) for a, b in p)])  # fmt: skip
REMOVED = {"sqrt", "abs", "square", "log", "exp", "absolute", "sorted", "log2", "log1p"}
ONLY_CHECKS = ("strict", "stdout", "stderr", "stdin", "daemon", "encoding", "copy", "check")
WEIGHTS = {"sign": 2, "constant": 2, "condition": 2, "comparison": 2}  # of the others: 1
Change = tuple[str, int, int, str]  # kind, first byte, last byte, what stands there instead


class Source:
    """A file, and every way in which one place of it can be made wrong."""

    def __init__(self, text: str) -> None:
        self.bytes = text.encode()
        self._starts = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.tree = ast.parse(text)
        self._dump = ast.dump(self.tree)

    def span(self, node: Any) -> tuple[int, int]:
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: Any) -> str:
        first, last = self.span(node)
        return self.bytes[first:last].decode()

    def changes(self) -> list[Change]:
        return list(self._below(self.tree, False))

    def changed(self, change: Change) -> str | None:
        """The whole text with one change; None if that is no Python, or the same program."""
        _, first, last, after = change
        text = (self.bytes[:first] + after.encode() + self.bytes[last:]).decode()
        try:
            return None if ast.dump(ast.parse(text)) == self._dump else text
        except SyntaxError:
            return None

    def _below(self, node: ast.AST, is_index: bool) -> Iterator[Change]:
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
            return
        if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or SAID.match(self.text(node))):
            return
        if isinstance(node, (ast.AnnAssign, ast.arg)) and not getattr(node, "value", None):
            return
        if isinstance(node, ast.keyword) and node.arg in ONLY_CHECKS:
            return
        yield from self._of(node, is_index)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._below(child, isinstance(node, ast.Subscript) and name == "slice")

    def _is_axis(self, node: ast.Constant) -> bool:
        before = self.bytes[: self.span(node)[0]]
        return before.endswith((b"axis=", b"axis=-"))

    def _gap(self, kind: str, left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[Change]:
        first, last = self.span(left)[1], self.span(right)[0]
        between = self.bytes[first:last].decode()
        yield kind, first, last, between.replace(old, new, 1)

    def _of(self, node: ast.AST, is_index: bool) -> Iterator[Change]:
        here = self.span(node) if hasattr(node, "lineno") else (0, 0)
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, bool):
                yield "constant", *here, str(not value)
            elif isinstance(value, int):
                other = 1 - value if value in (0, 1) and (is_index or self._is_axis(node)) else 2 * value
                yield "index" if is_index else "constant", *here, str(other if other != value else value + 1)
            elif isinstance(value, float):
                yield "constant", *here, repr(2 * value if value else 1.0)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            for kind, table in (("comparison", COMPARED), ("limit", LIMITS)):
                if type(node.ops[0]) in table:
                    yield from self._gap(kind, node.left, node.comparators[0], *table[type(node.ops[0])])
        elif isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            if any(isinstance(s, (ast.JoinedStr, ast.List, ast.Tuple)) or self.text(s)[0] in "\"'" for s in sides):
                return
            if type(node.op) in COMPUTED:
                yield from self._gap("sign", *sides, *COMPUTED[type(node.op)])
            elif isinstance(node.op, ast.Pow):
                yield "power", *here, f"({self.text(node.left)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert, ast.Not)):
            yield "sign", *here, f"({self.text(node.operand)})"
        elif isinstance(node, ast.BoolOp):
            both = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._gap("condition", node.values[0], node.values[1], *both)
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield "condition", *self.span(node.test), f"not ({self.text(node.test)})"
        elif isinstance(node, ast.Call):
            yield from self._of_call(node, here)
        elif (
            isinstance(node, (ast.Continue, ast.Break, ast.AugAssign))
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
            or (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], (ast.Subscript, ast.Attribute))
                and not self.text(node.targets[0]).startswith("self.")  # that would fail at once
            )
        ):
            yield "statement", *here, "pass"
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return):
            yield "early return", *self.span(node.body[-1]), "pass"

    def _of_call(self, node: ast.Call, here: tuple[int, int]) -> Iterator[Change]:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in SWAPPED:
            yield "function", self.span(function)[1] - len(name), self.span(function)[1], SWAPPED[name]
        if name in REMOVED and node.args:
            yield "function", *here, f"({self.text(node.args[0])})"
        parts = [*node.args, *node.keywords]
        for number, keyword in enumerate(parts):
            if isinstance(keyword, ast.keyword) and keyword.arg not in (None, *ONLY_CHECKS):
                first, last = self.span(keyword)
                if number:
                    yield "keyword", self.span(parts[number - 1])[1], last, ""
                elif len(parts) == 1:
                    yield "keyword", first, last, ""
                else:
                    yield "keyword", first, self.span(parts[1])[0], ""

    def record(self, file: str, change: Change) -> dict[str, Any]:
        """The lines of a change, before and after."""
        kind, first, last, after = change
        begin, end = self.bytes.rfind(b"\n", 0, first) + 1, self.bytes.find(b"\n", last)
        before, line = self.bytes[begin:end].decode(), self.bytes.count(b"\n", 0, begin) + 1
        return {"file": file, "line": line, "at": self.bytes.count(b"\n", 0, first) + 1, "kind": kind, "before": before,
                "after": (self.bytes[begin:first] + after.encode() + self.bytes[last:end]).decode()}  # fmt: skip


def draw(rooms: list[str], count: int, seed: int) -> list[dict[str, Any]]:
    """So many changes: a kind first, then a place among all of that kind."""
    rng, kinds = random.Random(seed), defaultdict(list)
    for room in rooms:
        found = ROOT / PACKAGE / room
        for path in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
            source = Source(path.read_text(encoding="utf-8"))
            file = path.relative_to(ROOT / PACKAGE).as_posix()
            for change in source.changes():
                kinds[change[0]].append((file, source, change))
    chosen: list[dict[str, Any]] = []
    while len(chosen) < count and kinds:
        kind = rng.choices(names := sorted(kinds), [WEIGHTS.get(name, 1) for name in names])[0]
        file, source, change = kinds[kind].pop(rng.randrange(len(kinds[kind])))
        if source.changed(change) is not None:
            chosen.append(source.record(file, change))
        kinds = defaultdict(list, {name: left for name, left in kinds.items() if left})
    return chosen


def applied(text: str, wrong: dict[str, Any]) -> str:
    """The text of a file with one wrong line."""
    before, lines = wrong["before"], text.splitlines(keepends=True)
    if text.count(before) == 1:
        return text.replace(before, wrong["after"])
    if "line" not in wrong:
        raise ValueError(f"{wrong['file']}: {before!r} occurs {text.count(before)} times; give its line.")
    head = "".join(lines[: wrong["line"] - 1])
    if not (rest := text[len(head) :]).split("\n", 1)[0].count(before.split("\n", 1)[0]):
        raise ValueError(f"{wrong['file']}:{wrong['line']} does not hold {before!r}.")
    return head + rest.replace(before, wrong["after"], 1)
