"""Writes the API page from signatures and docstrings: the same sources give the same page.

The sources are read by griffe, and not imported: so no page depends on what is installed, and
torch is not needed to write about the torch ring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ringkv_edu

__all__ = ["MODULES", "page"]

MODULES = (
    "visibility", "pure", "numpy_ring", "torch_ring", "rewind", "rope", "summaries",
    "numpy_summaries", "torch_summaries", "trace", "trace_data", "widgets.showing",
    "widgets.theatre", "adapters.hf", "budget", "cases.adapter", "cases.case", "cases.run",
)  # fmt: skip
OPENING = """\
# The API

What the package offers, written by `ringkv api --out course` from its signatures and docstrings.
`from ringkv_edu import ...` gives the names of the first table; the modules below hold them and
more. `import ringkv_edu` is cheap: a name's module is loaded when the name is first used.

Shapes are (batch, kv_heads, slots, head_dim), as far as a stage has them; a `slot` is physical, a
`position` logical; `window` counts the query itself. [The workshop's quick start](workshop.md)
shows the names at work, [the glossary](glossary.md) says what the words mean."""


def page() -> str:
    """Write the whole page."""
    import griffe

    root = Path(__file__).resolve().parents[2]
    package: Any = griffe.load(
        "ringkv_edu", search_paths=[str(root)], allow_inspection=False, resolve_aliases=False
    )
    parts = [OPENING, *_index(package)]
    for name in MODULES:
        parts += _module(package[name])
    return "\n\n".join(parts) + "\n"


def _index(package: Any) -> Iterator[str]:
    rows = ["| name | module | what it is |", "| --- | --- | --- |"]
    for name, home in sorted(ringkv_edu._HOME.items(), key=lambda pair: pair[0].casefold()):
        found = _followed(package, home, name)
        module = found.module.path.removeprefix("ringkv_edu.")
        link = f"[`{name}`](#{name.lower()})"
        rows.append(f"| {link} | `{module}` | {_cell(_opening(found))} |")
    yield "\n".join(rows)


def _followed(package: Any, home: str, name: str) -> Any:
    """Find where a name is defined: a package may take it from one of its modules."""
    found = package[f"{home}.{name}"]
    while found.is_alias:
        found = package[found.target_path.removeprefix("ringkv_edu.")]
    return found


def _module(module: Any) -> Iterator[str]:
    yield f"## {module.path}"
    if module.docstring:
        yield _text(module.docstring.value)
    for name in module.exports or _defined(module):
        found = module.members.get(str(name))  # not there: one of several names in an assignment
        if found is None or found.is_alias:
            continue
        if found.is_class:
            yield from _class(found)
        elif found.is_function:
            yield from _function(found, "###")
        else:
            yield from _attribute(found)


def _defined(module: Any) -> list[str]:
    """Give the public classes and functions of a module that does not list its names."""
    return [
        name for name, each in module.members.items()
        if not name.startswith("_") and not each.is_alias and (each.is_class or each.is_function)
    ]  # fmt: skip


def _class(found: Any) -> Iterator[str]:
    yield f"### {found.name}"
    bases = ", ".join(str(base) for base in found.bases)
    made = str(found.signature())
    yield _code(f"class {made}" + (f"  # a {bases}" if bases else "") if made
                else f"class {found.name}({bases})")  # fmt: skip
    if found.docstring:
        yield _text(found.docstring.value)
    members = {**_inherited(found), **found.members}
    shown = [each for name, each in members.items() if not name.startswith("_") and each.docstring]
    for each in shown:
        if each.is_function:
            yield from _function(each, "####", found.name)
    rows = [f"- `{each.name}`: {_opening(each)}" for each in shown if each.is_attribute]
    if rows:
        yield "\n".join(rows)


def _inherited(found: Any) -> dict[str, Any]:
    """Give the members of the base classes that this package defines, the nearest last."""
    members: dict[str, Any] = {}
    for base in reversed(found.bases):
        owner = found.module.members.get(str(base).partition("[")[0])
        while owner is not None and owner.is_alias:
            path = owner.target_path
            owner = found.package.get_member(path.removeprefix("ringkv_edu.")) if path.startswith(
                "ringkv_edu.") else None  # fmt: skip
        if owner is not None and owner.is_class:
            members |= {**_inherited(owner), **owner.members}
    return members


def _function(found: Any, level: str, owner: str = "") -> Iterator[str]:
    yield f"{level} {owner}.{found.name}" if owner else f"{level} {found.name}"
    yield _code(str(found.signature()))
    if found.docstring:
        yield _text(found.docstring.value)


def _attribute(found: Any) -> Iterator[str]:
    if found.docstring:
        yield f"### {found.name}"
        yield _text(found.docstring.value)


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _text(docstring: str) -> str:
    """Turn a docstring into markdown: its code and its literal blocks."""
    lines = re.sub(r"``([^`]+)``", r"`\1`", docstring.strip())
    return re.sub(r"(?<=\S)::$", ":", re.sub(r"^::\n+", "", lines, flags=re.MULTILINE), flags=re.M)


def _opening(found: Any) -> str:
    """Give the first paragraph of a docstring on one line."""
    if not found.docstring:
        return ""
    return " ".join(_text(found.docstring.value).split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
