"""What a measurement is recorded with, and the tables that are printed."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from ..bench.machine import environment
from ..policies import Policy
from .chat import Chat, drift
from .needle import Found, Question
from .perplexity import BIN, SINGLES, Run, bins, ppl, segments
from .places import MODEL

__all__ = [
    "about",
    "needle_record",
    "needle_table",
    "perplexity_record",
    "perplexity_table",
    "shown",
    "write",
]

GROUP = 100  # decoded tokens that a talk's record puts together
LIBRARIES = ("ringkv-edu", "tokenizers", "safetensors", "numpy")


def about(command: str) -> dict[str, Any]:
    """Say with what a result was made: model, command, versions, machine, date."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return {
        "command": command,
        "date": datetime.date.today().isoformat(),
        "model": MODEL.name,
        "weights": f"{MODEL.package} {MODEL.version}, {MODEL.gguf}, SHA-256 {MODEL.gguf_sha256}",
        "computed_in": "float32",
        "versions": versions,
        "machine": environment("cpu"),
    }


def perplexity_record(
    runs: Sequence[Run], text: str, name: str, places: int, command: str
) -> dict[str, Any]:
    """Give everything that was measured, ready for JSON."""
    tokens = len(runs[0].nll) + 1
    spans = segments(tokens, places)
    rows = [
        {
            "key": run.row.key,
            "label": run.row.label,
            "policy": repr(run.row.policy),
            "perplexity": {f"{a}-{b}": round(ppl(run.nll, a, b), 4) for a, b in spans},
            "perplexity_all": round(ppl(run.nll), 4),
            "perplexity_after": round(ppl(run.nll, places), 4) if tokens > places else None,
            "cache_bytes": run.cache_bytes,
            "tokens_per_s_chunks": round(run.chunks_per_s, 2),
            "tokens_per_s_one_by_one": round(run.singles_per_s, 2),
            "nll_bins": [round(x, 4) for x in bins(run.nll)],
        }
        for run in runs
    ]
    words = {"name": name, "tokens": tokens, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    how = {"places": places, "one_by_one": SINGLES, "bin": BIN}
    return about(command) | {"text": words} | how | {"rows": rows}


def perplexity_table(record: dict[str, Any]) -> list[str]:
    """Give the lines of the table: perplexity by positions, memory, speed."""
    rows, places = record["rows"], record["places"]
    spans = list(rows[0]["perplexity"])
    last = [f"{places}-"] if rows[0]["perplexity_after"] is not None else []
    head = ["", *spans, *last, "cache bytes", "tok/s", "1 by 1"]
    body = [
        [
            row["label"],
            *(f"{x:.2f}" for x in row["perplexity"].values()),
            *([f"{row['perplexity_after']:.2f}"] if last else []),
            f"{row['cache_bytes']:,}",
            f"{row['tokens_per_s_chunks']:.0f}",
            f"{row['tokens_per_s_one_by_one']:.1f}",
        ]
        for row in rows
    ]
    return shown(head, body)


def needle_record(
    found: Sequence[Found], asked: Sequence[Question], command: str
) -> dict[str, Any]:
    """Give everything that the needle test measured, ready for JSON."""
    put = [{"place": q.place, "tokens": q.prompts.shape[1], "back": q.back} for q in asked]
    rows = [
        {
            "key": one.row.key,
            "label": one.row.label,
            "policy": repr(one.row.policy),
            "codes_right": one.right,
            "codes": one.asked,
            "digits_right": one.digits_right,
            "logp": round(one.logp, 3),
            "codes_right_by_place": one.by_place,
        }
        for one in found
    ]
    return about(command) | {"questions": put, "rows": rows}


def needle_table(record: dict[str, Any]) -> list[str]:
    """Give the lines of the table: codes, digits, and how likely the right code was."""
    body = [
        [
            row["label"],
            f"{row['codes_right']} of {row['codes']}",
            f"{row['digits_right']} of {4 * row['codes']}",
            f"{row['logp']:.2f}",
        ]
        for row in record["rows"]
    ]
    return shown(["", "codes found", "digits", "log p of a code"], body)


def chat_record(chat: Chat, policy: Policy, command: str) -> dict[str, Any]:
    """Give what a talk took, ready for JSON: groups of single tokens, and the slope."""
    single = [step for step in chat.steps if step.tokens == 1]
    sizes = [step.bytes for step in chat.steps]
    found = drift(chat.steps)
    groups = [single[at : at + GROUP] for at in range(0, len(single), GROUP)]
    return about(command) | {
        "policy": repr(policy),
        "tokens": chat.seen,
        "decoded": len(single),
        "least_bytes": min(sizes, default=0),
        "most_bytes": max(sizes, default=0),
        "clock": found.clock._asdict() if found else None,
        "cpu": found.cpu._asdict() if found else None,
        "groups": [
            {
                "seen": group[-1].seen,
                "tokens": len(group),
                "bytes": group[-1].bytes,
                "median_ms": round(1e3 * median(step.seconds for step in group), 3),
                "median_cpu_ms": round(1e3 * median(step.cpu for step in group), 3),
            }
            for group in groups
        ],
    }


def shown(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Set a table: the first column to the left, the others to the right."""
    lines = [head, *body]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return [
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(x.rjust(w) for x, w in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    ]


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record as JSON, whole or not at all; lists of numbers stay on one line."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(path)
