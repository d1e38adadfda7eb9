"""What an answer may not use, because that is the exercise: read in its text, never run.

This reads names. It cannot see a function that is fetched by a name put together at run time, and
it cannot tell the package's own source, pasted in, from a learner's work.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from .merge import LONGEST_CELL
from .sealed.view import modules

__all__ = ["FORBIDDEN", "GIVEN", "broken_rule"]

SOFTMAX = ("softmax", "log_softmax", "scaled_dot_product_attention", "MultiheadAttention",
           "multi_head_attention_forward", "flex_attention")  # fmt: skip
FORBIDDEN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ex04-attend", "np3-attend", "np5-mask", "np6-groups"), SOFTMAX),
    **dict.fromkeys(("ps5-log-n", "ps7-sink"), SOFTMAX),
    "mo4-perplexity": ("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss", "log_softmax"),
}
CASE_FILES = ("cf1-window", "cf2-start", "cf3-keys", "cf4-half", "cf5-flag", "cf6-pads", "cf7-keep",
              "cf8-pool")  # fmt: skip
VERSIONS = ("versions", "given_versions", "steps", "reads", "means", "masks", "saves", "padded",
            "kept", "pools", "drawn")  # fmt: skip
# What a lesson's given code does that one of its exercises asks for; later exercises start from it.
GIVEN: dict[str, tuple[str, ...]] = {
    "ex02-append": ("write_at_head", "filled_ring"),
    "rope1-turn": ("turned",),
    "tr1-write": ("put",),
    "tr2-mask": ("newest_sees",),
    "mo5-ring": ("place",),
    **dict.fromkeys(CASE_FILES, VERSIONS),
}
PACKAGE = "ringkv_edu"
READ_RULE = "write it by hand"
MOST_MAGIC = 200_000  # lines of magics times characters: each makes IPython read the cell again
MAGIC = re.compile(r"^\s*[%!?,;/]|^(?!\s*#).*\?\s*$|=\s*[%!]")


def broken_rule(lesson: str, exercise: str, source: str) -> str:
    """Say which rule an answer breaks, or give an empty text. What is no Python breaks none."""
    if len(source) > LONGEST_CELL:
        return f"its answer cell has more than {LONGEST_CELL:,} characters"
    if any("\ud800" <= letter <= "\udfff" for letter in source):
        return "its answer cell holds half a character, which no kernel takes: delete it"
    magics = sum(bool(MAGIC.search(line)) for line in source.splitlines())
    if magics * len(source) > MOST_MAGIC:
        return f"its answer cell has {magics} magics or shell commands: take them out"
    for tree in _trees(source):
        if broken := _broken(lesson, exercise, tree):
            return broken
    return ""


def _broken(lesson: str, exercise: str, tree: ast.AST) -> str:
    allowed = set(modules(lesson))
    for module in _ours(tree):
        if module not in allowed:
            return f"imports `{module}`, which holds answers: {READ_RULE}"
    for name in (*_named(tree), *_asked(tree)):
        if name in FORBIDDEN.get(exercise, ()):
            return f"uses `{name}`, which is the exercise: {READ_RULE}"
    for name in _named(tree):
        if name in GIVEN.get(exercise, ()):
            return f"uses the given `{name}`, which does what the exercise asks: {READ_RULE}"
    return ""


def _trees(source: str) -> Iterator[ast.AST]:
    """Read a cell as Python, and as what IPython makes of it: magics and prompts are no Python."""
    texts = dict.fromkeys((source, _as_ipython(source)))
    for text in texts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a grader's -W error is not about answers
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        yield tree
        for node in ast.walk(tree):
            yield from _trees(body) if (body := _cell_magic(node)) else ()


def _as_ipython(source: str) -> str:
    try:
        return str(_transformer().transform_cell(source))
    except Exception:  # whatever it makes of odd text: the kernel would run none of it
        return source


@cache
def _transformer() -> Any:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager()


def _cell_magic(node: ast.AST) -> str:
    """Give what stands below a ``%%magic``: it is text to Python, and code to most magics."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if called and node.func.attr == "run_cell_magic" and len(node.args) == 3:  # type: ignore[attr-defined]
        body = node.args[2]  # type: ignore[attr-defined]
        if isinstance(body, ast.Constant) and isinstance(body.value, str):
            return body.value
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
    """Give every name that is read without being defined, and every name that is imported."""
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    defined |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    defined |= {n.id for n in stored}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from (a.name.split(".")[-1] for a in node.names)
        elif isinstance(node, ast.Name) and node.id not in defined:
            yield node.id


def _asked(tree: ast.AST) -> Iterator[str]:
    """Give every name that is asked of an object, or written as a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.strip()
