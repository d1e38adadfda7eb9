"""What `ringkv model chat`, `perplexity` and `needle` do, once the model is there."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from ..adapters.surface import check_maker, names
from ..cases.adapter import find
from ..policies import Full, Policy
from ..problem import Problem
from .beside import own_policies
from .budget_chat import talk_of
from .load import smollm2
from .named import Row, policy_named, table_rows
from .needle import needle as ask
from .needle import questions
from .perplexity import perplexity as measure
from .record import (
    chat_record,
    needle_record,
    needle_table,
    perplexity_record,
    perplexity_table,
    write,
)
from .talk import TRAINED, Talk, summary, turns
from .trial import try_out

__all__ = ["chat", "needle", "perplexity"]

SINKS = 4


def chat(options: argparse.Namespace) -> int:
    """Talk with the model."""
    if options.new < 1:
        raise Problem(f"--new is {options.new}; an answer has 1 token or more")
    if not 0 <= options.temperature <= 10:
        raise Problem(f"--temperature is {options.temperature:g}; give 0 (the likeliest) to 10")
    policies = _policies(options)
    if not policies:
        return 1
    decoder, tokenizer = _loaded()
    how = options.temperature, options.seed
    chats = {
        title: talk_of(decoder, tokenizer, policy, how, options.over, options.budget)
        for title, policy in policies.items()
    }
    try:
        Talk(chats, options.new, options.log).run(turns(options.prompt), bool(options.prompt))
    finally:
        for title, one in chats.items():
            for line in summary(one):
                print(f"{title}: {line}" if title else line, file=sys.stderr)
    title, policy = next(iter(policies.items()))
    _written(options.json, chat_record(chats[title], policy, _typed()))
    return 0


def perplexity(options: argparse.Namespace) -> int:
    """Measure a text under several policies."""
    if not 2 <= options.tokens <= TRAINED:
        raise Problem(
            f"--tokens is {options.tokens}; give 2 to {TRAINED}, which is as far as the model was "
            f"trained"
        )
    text, name = _read(options.file)
    rows = _own_rows(options) if options.cache else _rows(options)
    if not rows:
        return 1
    decoder, tokenizer = _loaded()
    ids = tokenizer.encode(text, add_special_tokens=False).ids[: options.tokens]
    if len(ids) < 2:
        raise Problem(f"{name} has {len(ids)} tokens; perplexity needs 2 or more")
    print(f"{name}: {len(ids):,} tokens; perplexity by position, lower is better", flush=True)
    say = Progress()
    runs = list(measure(decoder, ids, rows, lambda row, n: say(f"{row}: {n:,} of {len(ids):,}")))
    say("")
    used = tokenizer.decode(ids, skip_special_tokens=False)
    record = perplexity_record(runs, used, name, options.window, _typed())
    print("\n".join(perplexity_table(record)))
    if len(ids) <= options.window:
        print(f"The text is no longer than the window: give one of more than {options.window}.")
    _written(options.json, record)
    return 0


def needle(options: argparse.Namespace) -> int:
    """Ask for a code that was said before the window began."""
    rows = _rows(options)
    decoder, tokenizer = _loaded()
    asked = questions(tokenizer)
    if (nearest := min(question.back for question in asked)) <= options.window:
        raise Problem(
            f"--window is {options.window} and the codes are {nearest} tokens back and more; give "
            f"a smaller window, or there is nothing to find out"
        )
    for question in asked:
        codes, n = question.prompts.shape
        print(f"{codes} codes said {question.place}, {question.back} tokens back, of {n} tokens")
    say = Progress()
    found = list(ask(decoder, asked, rows, say))
    say("")
    record = needle_record(found, asked, _typed())
    print("\n".join(needle_table(record)))
    _written(options.json, record)
    return 0


def _policies(options: argparse.Namespace) -> dict[str, Policy]:
    """Give the policy of a talk, or two to compare; none when a learner's ring is wrong."""
    if options.over:
        if options.cache or options.policy not in (None, "full"):
            raise Problem(
                "--over keeps everything within its budget: leave --cache and --policy out"
            )
        return {"": Full()}
    if options.budget is not None:
        raise Problem("--budget is for --over: add --over truncate or --over summarise")
    if not options.cache:
        return {"": policy_named(options.policy or "sinks", options.window, _sinks(options, SINKS))}
    make, sinks = _tried(options)
    if make is None:
        return {}
    right, own = own_policies(make, _window(options.window), sinks)
    return {"your ring": own, "a right ring": right} if options.anyway else {"": own}


class Progress:
    """One line on a terminal's stderr, written over by the next; nothing anywhere else."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        """Show a text, or with an empty one clear the line."""
        if self.terminal:
            width = get_terminal_size().columns - 1
            shown = text[:width].ljust(width)
            print(f"\r{shown}", end="" if text else "\r", file=sys.stderr, flush=True)


def _tried(options: argparse.Namespace) -> tuple[Any, int]:
    """Find the class of ``--cache`` and try it; no class when it fails and that is the end.

    Gives also how many sinks it is to have: by default 4 where it takes them.
    """
    sys.path.insert(0, "")  # module:Class may lie in this folder, as for `python -m`
    say = Progress()
    try:
        make = find(options.cache)
        sinks = _sinks(options, SINKS if "sinks" in names(make) else 0)
        check_maker(make, sinks, 0)
        say(f"trying {make.__name__} on the known bugs of ring caches")
        trial = try_out(make)
    except (TypeError, ValueError) as error:
        raise Problem(f"--cache {options.cache}: {error}") from None
    finally:
        say("")
    print("\n".join(trial.lines()), flush=True)
    if trial.right or options.anyway:
        return make, sinks
    print("With --anyway you see what the model makes of it.")
    return None, sinks


def _own_rows(options: argparse.Namespace) -> list[Row]:
    """Give the rows that compare a learner's ring with a right one; none when it is wrong."""
    if options.only:
        raise Problem("--only chooses rows of the whole table; leave it out beside --cache")
    make, sinks = _tried(options)
    if make is None:
        return []
    window = _window(options.window - sinks)
    right, own = own_policies(make, window, sinks)
    size = f"window {window}, {sinks} sinks"
    return [
        Row("full", "full", Full()),
        Row("right", f"a right ring, {size}", right),
        Row("own", f"{make.__name__}, {size}", own),
    ]


def _rows(options: argparse.Namespace) -> list[Row]:
    """Give the rows of the table that were asked for, by their keys."""
    rows = table_rows(options.window, _sinks(options, SINKS))
    known = [row.key for row in rows]
    wanted = [name.strip() for name in (options.only or "").split(",") if name.strip()] or known
    if unknown := [name for name in wanted if name not in known]:
        raise Problem(f"no row is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [row for row in rows if row.key in wanted]


def _sinks(options: argparse.Namespace, default: int) -> int:
    sinks = default if options.sinks is None else int(options.sinks)
    if sinks < 0:
        raise Problem(f"--sinks is {sinks}; give 0 or more")
    return sinks


def _window(window: int) -> int:
    if window < 1:
        raise Problem(f"the window would have {window} places beside the sinks; give a --window")
    return window


def _loaded() -> Any:
    """Load the model, saying so on a terminal."""
    say = Progress()
    say("loading the model")
    both = smollm2()
    say("")
    return both


def _read(file: str) -> tuple[str, str]:
    """Read a text, from standard input for ``-``; give it and its name."""
    try:
        if file == "-":
            return sys.stdin.read(), "standard input"
        return Path(file).read_text(encoding="utf-8"), Path(file).name
    except UnicodeDecodeError as error:
        raise Problem(f"{file} is no UTF-8 text ({error.reason}); give a text file") from None


def _written(path: str | None, record: dict[str, Any]) -> None:
    if path:
        write(Path(path), record)
        print(f"wrote {path}")


def _typed() -> str:
    """Give the command as it was typed."""
    return "ringkv " + shlex.join(sys.argv[1:])
