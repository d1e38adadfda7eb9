"""Writes ``course/source_audit.md`` from the rows: the same rows give the same bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

from .report import place
from .row import ARTICLES, KINDS, Fact, Finding, spelled

__all__ = ["LESSONS", "page"]

WIDTH = 100
LESSONS = {
    name[:2]: name
    for name in (
        "01_plain_python_ring", "02_numpy_ring", "03_chunks_and_rewind", "04_positions_and_rope",
        "05_torch_ring", "06_prefix_summaries", "07_a_model_on_your_ring",
        "08_the_memory_budget",
        "09_beyond_the_ring",
        "10_case_files",
    )
}  # fmt: skip

INTRODUCTION = """\
The course grew out of four articles in Chinese. Their ideas carry it; of their figures, examples
and programs not all hold. This page takes {many} statements, restated in our own words and figures,
and says of each what is right, and why. The rows are computed by the course's own package;
`ringkv audit` computes all of them again, in a few seconds, with NumPy alone. Where a row rests on
documents that were read and not run (A10, A11, B13), it says so; one (D9) nothing here can settle.

This page is written by `ringkv audit --write course/source_audit.md`, never by hand."""

HOW_TO_READ = """\
- **Printed** is what an article prints, or what follows from what it says. **Right** is made from
  the computation. The two are compared at the precision at which they are written: 17.2 holds for
  17.18.
- A **verdict** follows from that comparison. If a row says "right" and a printed figure does not
  hold, the audit fails; so it does if all of them hold and the row says "wrong".
- The figures under **right** are those that the course states, here and in its lessons. When a
  computation gives another one, `ringkv audit` names the row and ends with status 1.
- "below 1e-12" means equal but for rounding; "above 0.01" means that a difference is there. A bound
  under "printed" is what the statement implies: whoever says that the order of keys matters says
  that another order gives another output.
- **Units.** GB and MB are powers of ten, GiB and MiB powers of two; the articles say GB for both.
  1K tokens are 1,024, unless a row says otherwise. The articles count tokens from 1, this course
  positions from 0: token 5 stands at position 4.
- **W** is the window, the query itself included: the query at t sees t-W+1 to t."""

CHINESE = {
    "A": "环形 KV 缓存, 解码", "B": "上下文窗口, 显存预算", "C": "硬件瓶颈, 长上下文",
    "D": "前缀滑动",
}  # fmt: skip

WORDS = (
    ("KV cache", "KV 缓存"), ("ring buffer", "环形缓冲区"), ("slot", "槽位"), ("position", "位置"),
    ("sliding window", "滑动窗口"), ("context window", "上下文窗口"), ("device memory", "显存"),
    ("bandwidth", "带宽"), ("quantisation", "量化"), ("prefill", "预填充"), ("decode", "解码"),
    ("eviction", "淘汰"), ("page", "分页"), ("tile", "分块"), ("summary", "摘要"),
    ("rotary position embedding", "旋转位置编码"), ("speculative decoding", "推测解码"),
    ("prefix caching", "前缀缓存"),
)  # fmt: skip

MEANING = {
    "right": "every printed figure holds",
    "understated": "every printed figure holds, and says too little",
    "half right": "some printed figures hold, some do not",
    "conditional": "what is printed holds under a condition that is not",
    "wrong": "what is printed, or what follows from it, does not hold",
    "too strong": "it is true of less than is said",
    "incomplete": "without something more it does not hold",
    "unverified": "nothing is there to compute",
}


def page(findings: Sequence[Finding]) -> str:
    """Write the whole page from the findings of all rows, which must all agree."""
    wrong = [found.row.id for found in findings if found.problems]
    if wrong:
        raise ValueError(f"rows {', '.join(wrong)} disagree; the page states only what holds")
    parts = [
        "# The source audit", INTRODUCTION.format(many=len(findings)),
        "## How to read it", HOW_TO_READ,
        "## The articles", _articles(findings),
        "The words under which their readers know these things:", _words(),
        "## Verdicts", _verdicts(findings),
        "## All rows", _all(findings),
    ]  # fmt: skip
    for letter, subject in ARTICLES.items():
        parts.append(f"## Article {letter}: {subject}")
        parts += [_section(found) for found in findings if found.row.article == letter]
    return "\n\n".join(parts) + "\n"


def _articles(findings: Sequence[Finding]) -> str:
    many = Counter(found.row.article for found in findings)
    lines = [(a, text, CHINESE[a], f"{a}1 to {a}{many[a]}") for a, text in ARTICLES.items()]
    return _table(("article", "subject", "in Chinese", "rows"), lines)


def _words() -> str:
    pairs = [f"{english} ({chinese})" for english, chinese in WORDS]
    return "\n".join(wrap(", ".join(pairs) + ".", WIDTH))


def _verdicts(findings: Sequence[Finding]) -> str:
    many = Counter(found.row.kind for found in findings)
    lines = [(kind, MEANING[kind], str(many[kind])) for kind in KINDS]
    return _table(("verdict", "when", "rows"), lines)


def _all(findings: Sequence[Finding]) -> str:
    lines = [(f"[{f.row.id}](#{f.row.id.lower()})", f.row.printed, f.right, f.row.verdict)
             for f in findings]  # fmt: skip
    return _table(("row", "printed", "right", "verdict"), lines)


def _section(found: Finding) -> str:
    row = found.row
    parts = [
        f"### {row.id}",
        _paragraph(f"**Printed.** {row.printed}"),
        _paragraph(f"**Right.** {found.right}"),
        _paragraph(f"**Verdict.** {row.verdict[0].upper()}{row.verdict[1:]}."),
        _paragraph(f"**Why.** {found.why}"),
        _paragraph(f"**Computed.** {row.how}"),
    ]
    if found.facts:
        lines = [_fact(fact) for fact in found.facts]
        parts.append(_table(("", "printed", "right"), lines))
    where = "; ".join(map(_link, row.taught))
    parts.append(f"Taught in {where}. Again: `ringkv audit {row.id}`.")
    return "\n\n".join(parts)


def _fact(fact: Fact) -> tuple[str, ...]:
    printed = spelled(fact.printed) if fact.printed is not None else ""
    return fact.name, printed, spelled(fact.text)


def _link(taught: str) -> str:
    text, name = place(taught), LESSONS.get(taught[:2])
    return f"[{text}](../notebooks/{name}.ipynb)" if name else text


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(map(_plain, row)) + " |" for row in rows)


def _paragraph(text: str) -> str:
    """Wrap a paragraph; a line must not begin with a sign that would make it a list."""
    tied = re.sub(r" ([-+=x]) ", "\0\\1\0", _plain(text))
    lines = wrap(tied, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _plain(text: str) -> str:
    """Keep tildes from striking text out."""
    return text.replace("~", "\\~")
