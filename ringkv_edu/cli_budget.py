"""`ringkv budget`: what a cache weighs, what fits on a card, and how fast a step can be at best."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from .cli_options import Command, check_file
from .problem import Problem

__all__ = ["add_commands"]

KILO = re.compile(r"(\d+)([kKmM]?)")
WINDOWS = (256, 1024, 4096)


def budget(options: argparse.Namespace) -> int:
    """Print a plan: bytes, what fits, the least time of a step, and what windows would gain."""
    check_file("--plot", options.plot, ".png")
    from .budget import GIB, KIB, Plan, Policy
    from .budget_presets import card_named, model_named

    model, card = model_named(options.model), card_named(options.card)
    tokens, batch = number(options.context), options.batch
    windows = [number(text) for text in options.windows] or list(WINDOWS)
    kept = options.sinks, options.slack, options.summaries
    kinds = options.cache, options.weights
    try:
        plain = Plan(model, Policy(), *kinds)
        plans = {w: Plan(model, Policy(w, *kept), *kinds) for w in windows}
        plain.cache_bytes(tokens, batch)
        plain.room(card, options.use)
    except ValueError as error:
        raise Problem(str(error)) from None
    shape = f"{model.layers} layers, {model.heads} heads, {model.kv_heads} key/value heads"
    print(f"{model.name}: {shape} of {model.head_dim} ({model.kind})   [{model.source}]")
    speed = f"{card.memory / 1e9:g} GB, {card.bandwidth / 1e9:g} GB/s"
    print(f"{card.name}: {speed}   [{card.source}]")
    weights = f"weights as {options.weights}: {plain.weight_bytes / GIB:.2f} GiB"
    token = f"a token's keys and values as {options.cache}: {plain.token_bytes / KIB:g} KiB"
    print(f"{weights}; {token}")
    if plain.room(card, options.use) <= 0:
        print(f"The weights alone do not fit on {options.use:.0%} of this card.")
        return 1
    print("\n".join(_table(options, plain, plans, card, tokens, batch)))
    if options.plot:
        from .figures.roofline import draw_roofline
        from .figures.still import save_small

        save_small(draw_roofline(plain, plans, card, batch), Path(options.plot))
        print(f"wrote {options.plot}")
    return 0


def number(text: str) -> int:
    """Read 32k as 32,768 and 1m as 1,048,576, as lengths of contexts are named."""
    found = KILO.fullmatch(text)
    if not found or not int(found[1]):
        raise Problem(f"{text!r} is no length; give 4096, 32k or 1m")
    return int(found[1]) * {"": 1, "k": 2**10, "m": 2**20}[found[2].lower()]


def _table(
    options: argparse.Namespace, plain: Any, plans: Any, card: Any, tokens: int, batch: int
) -> list[str]:
    from .bench.measure import table
    from .budget import GIB

    many = {
        plan: plan.most_requests(card, tokens, options.use) for plan in (plain, *plans.values())
    }
    rows = []
    for name, plan in {"as it is": plain, **{f"W = {w:,}": p for w, p in plans.items()}}.items():
        longest = plan.longest_context(card, batch, options.use)
        both = many[plain] and many[plan]
        more = plan.throughput_gain(plain, card, tokens, options.use) if both else None
        rows.append([
            name,
            f"{plan.cache_bytes(tokens) / GIB:.3f}",
            f"{many[plan]:,}",
            "no end" if longest >= 2**40 else f"{longest:,}",
            f"{1e3 * plan.step_seconds(card, tokens, batch):.2f}",
            f"{plan.gain(plain, card, tokens, batch):.1f}x",
            f"{more:.1f}x" if more else "-",
        ])  # fmt: skip
    head = ["", "GiB a request", "requests", "longest", "ms a step", "latency", "throughput"]
    about = f"{tokens:,} tokens, {options.use:.0%} of the card; ms and latency at batch {batch}; "
    return [about + "throughput with all requests that fit", *table(head, rows)]


def add_commands(command: Command) -> None:
    """Add `budget` to the commands."""
    one = command(
        budget,
        "plan a cache: bytes, what fits on a card, the least time of a step, what windows gain",
        "ringkv budget --model llama-2-7b --context 32k --card a100-80gb --windows 1024 4096",
    )
    one.add_argument("--model", default="llama-2-7b", help="a preset, or a config.json")
    one.add_argument("--card", default="a100-80gb", help="a preset, or 24GB:1008GB/s")
    one.add_argument("--context", default="16k", help="tokens of a request, as 4096 or 32k")
    one.add_argument("--batch", type=int, default=1, help="requests at a time (default 1)")
    one.add_argument("--windows", nargs="+", default=[], help="windows to compare (256 1024 4096)")
    one.add_argument("--sinks", type=int, default=0, help="first tokens that stay (default 0)")
    one.add_argument("--slack", type=int, default=0, help="slots more, for rewinds (default 0)")
    one.add_argument("--summaries", type=int, default=0, help="entries for what left (default 0)")
    one.add_argument("--cache", default="float16", help="kind of a cached number (float16)")
    one.add_argument("--weights", default="float16", help="kind of a weight (float16)")
    one.add_argument("--use", type=float, default=0.9, help="share of the card (default 0.9)")
    one.add_argument("--plot", metavar="PNG", help="draw the step's least time against the context")
