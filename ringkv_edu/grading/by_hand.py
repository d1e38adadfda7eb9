"""What an answer may not use, because that is the exercise: read in its text, never run.

This reads names. It cannot see a function that is fetched by a name put together at run time, and
it cannot tell the package's own source, pasted in, from a learner's work.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .merge import LONGEST_CELL
from .sealed.view import modules

__all__ = ["FORBIDDEN", "broken_rule"]

SOFTMAX = ("softmax", "log_softmax", "scaled_dot_product_attention", "MultiheadAttention",
           "multi_head_attention_forward", "flex_attention")  # fmt: skip
FORBIDDEN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ex04-attend", "np3-attend", "np5-mask", "np6-groups"), SOFTMAX),
    **dict.fromkeys(("ps5-log-n", "ps7-sink"), SOFTMAX),
    "mo4-perplexity": ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss", "log_softmax"),
}
PACKAGE = "ringkv_edu"
READ_RULE = "write it by hand"


def broken_rule(lesson: str, exercise: str, source: str) -> str:
    """Say which rule an answer breaks, or give an empty text. What is no Python breaks none."""
    if len(source) > LONGEST_CELL:
        return f"its answer cell has more than {LONGEST_CELL:,} characters"
    try:
        tree = ast.parse(_python(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    allowed = set(modules(lesson))
    for module in _ours(tree):
        if module not in allowed:
            return f"imports `{module}`, which holds answers: {READ_RULE}"
    for name in _named(tree):
        if name in FORBIDDEN.get(exercise, ()):
            return f"uses `{name}`, which is the exercise: {READ_RULE}"
    return ""


def _ours(tree: ast.AST) -> Iterator[str]:
    """Give our modules that a tree imports, and names that it takes from the package itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            whole = node.module == PACKAGE  # what the package itself offers lies in its modules
            yield from (f"{PACKAGE}.{a.name}" for a in node.names) if whole else (str(node.module),)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip()  # importlib.import_module("ringkv_edu.pure")
            yield from [text] if re.fullmatch(rf"{PACKAGE}(\.\w+)+", text) else []


def _named(tree: ast.AST) -> Iterator[str]:
    """Give every name that is read, asked of an object, imported, or written as a string."""
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    defined |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    defined |= {n.id for n in stored}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield from (a.name.split(".")[-1] for a in node.names)
        elif isinstance(node, ast.Name) and node.id not in defined:
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.strip()


def _python(source: str) -> str:
    return "\n".join(
        "" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n")
    )
