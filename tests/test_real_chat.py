"""Talks over many turns, the commands of `ringkv model`, and what they say of wrong calls."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
import torch

from ringkv_edu import cli
from ringkv_edu.policies import Full, Pooled, Sinks
from ringkv_edu.problem import Problem
from ringkv_edu.real.budget_chat import talk_of
from ringkv_edu.real.chat import Chat, Step, drift, interruptible
from ringkv_edu.real.load import caches_of, smollm2
from ringkv_edu.real.sentences import first_sentences, last_sentences, sentences
from ringkv_edu.real.status import Foot, cost
from ringkv_edu.real.template import after_answer, opening, turn

from . import own_rings
from .small_model import small_model
from .test_real_own import QUICK, try_out

OWN = Path(own_rings.__file__).as_posix()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    small_model(folder)
    return folder


@pytest.fixture(autouse=True)
def small(models, monkeypatch):
    monkeypatch.setenv("RINGKV_MODELS", str(models))
    monkeypatch.setattr("ringkv_edu.real.commands.try_out", lambda make: try_out(make, QUICK))


def ringkv(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["ringkv", *arguments])
    status = cli.main()
    return status, *capsys.readouterr()


def chat_of(policy, **how):
    model, tokenizer = smollm2()
    return Chat(model, tokenizer, caches_of(model, policy), **how)


def test_a_talk_is_one_text_that_is_never_fed_twice():
    chat, whole = chat_of(Full()), []

    def ids_of(text):
        return chat.tokenizer.encode(text).ids

    for text in ("Hello.", "And then?"):
        answer = "".join(chat.answer(text, 12))
        assert chat.tokenizer.decode(chat.ids).startswith(answer)  # but an unfinished character
        whole += ids_of(turn(text) if whole else opening() + turn(text))
        here = len(whole)
        whole += chat.ids + ids_of(after_answer())
        logits = chat.model(torch.tensor([whole]))[0]
        assert chat.ids == logits[here - 1 : here + 11].argmax(-1).tolist()
        assert chat.seen == len(whole)
    assert sum(step.tokens for step in chat.steps) == chat.seen


@pytest.mark.parametrize("policy", [Sinks(20, 4), Sinks(20, 4, "cache"), Pooled(20, 4, 4, 4)])
def test_bytes_never_change(policy):
    chat = chat_of(policy)
    for text in ("One.", "Two, and a little more.", "Three."):
        list(chat.answer(text, 40))
    assert chat.seen > 200
    assert len({step.bytes for step in chat.steps}) == 1
    full = chat_of(Full())
    list(full.answer("One.", 5))
    assert full.nbytes == full.seen * 2 * 2 * 2 * 16 * 4


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        return 2


def test_the_line_at_the_foot(monkeypatch):
    where = Terminal()
    monkeypatch.setattr(sys, "stderr", where)
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((20, 12)))
    with Foot() as foot:
        assert where.getvalue() == "\n\x1b7\x1b[1;11r\x1b8\x1b[1A"  # row 12 does not scroll
        where.truncate(0)
        foot.show("a line that is longer than the terminal is wide")
        shown = where.getvalue().lstrip("\0")
        assert shown == "\x1b7\x1b[12;1H\x1b[2K\x1b[7ma line that is long\x1b[0m\x1b8"
    assert where.getvalue().endswith("\x1b7\x1b[r\x1b[12;1H\x1b[2K\x1b8")  # all rows scroll again
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Foot() as foot:
        foot.show("nothing")
    assert sys.stderr.getvalue() == ""


def test_temperature_and_seed():
    def said(seed):
        chat = chat_of(Full(), temperature=1.5, seed=seed)
        list(chat.answer("Hello.", 20))
        return chat.ids

    assert said(1) == said(1) != said(2)


def test_an_answer_can_be_stopped_and_the_talk_goes_on():
    chat = chat_of(Sinks(20, 4))
    with interruptible() as stopped:
        for n, _ in enumerate(chat.answer("Hello.", 1000, stopped)):
            if n == 2:
                os.kill(os.getpid(), signal.SIGINT)
        assert stopped()
    assert 3 <= len(chat.ids) < 20
    assert {int(cache.seen) for cache in chat.caches} == {chat.seen}
    before = chat.seen
    list(chat.answer("Go on.", 4))
    assert chat.seen > before
    with interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_drift_is_a_line_through_medians():
    steps = [Step(100 + n, 7, 0.010 + 0.002 * n / 1000, 1, 0.005) for n in range(1000)]
    steps[500] = steps[500]._replace(seconds=9.0)  # one step that waited for something
    found = drift([Step(100, 7, 3.0, 100, 3.0), *steps])
    assert found.tokens == 1000
    assert found.clock.slope_ms == pytest.approx(2.0, abs=0.01)
    assert str(found.clock) == "11.0 ms, slope +2.00 ms (+18.2 %)"
    assert str(found.cpu) == "5.0 ms, slope +0.00 ms (+0.0 %)"
    assert drift(steps[:199]) is None
    rate = 20 / sum(step.seconds for step in steps[-20:])
    assert cost(steps) == f"1,099 tokens | cache 7 bytes | {rate:.1f} tokens/s"


def test_chat_from_prompts(monkeypatch, capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    arguments = ["--window", "12", "--sinks", "2", "--new", "120", "--log", str(log)]
    arguments += ["--json", str(tmp_path / "talk.json")]
    status, out, err = ringkv(
        monkeypatch, capsys, "model", "chat", "--prompt", "Hi.", "--prompt", "More.", *arguments
    )
    assert status == 0
    assert out.startswith("> Hi.\n")
    assert "> More.\n" in out
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    assert sum(step["tokens"] for step in steps) == steps[-1]["seen"]
    bytes_kept = 2 * 2 * 2 * 14 * 16 * 4
    assert {step["bytes"] for step in steps} == {bytes_kept}
    assert f"{steps[-1]['seen']:,} tokens | cache {bytes_kept:,} bytes" in err
    assert "cache bytes: the same throughout" in err
    assert "by the clock a token took" in err
    record = json.loads((tmp_path / "talk.json").read_text())
    assert record["tokens"] == steps[-1]["seen"]
    assert record["least_bytes"] == record["most_bytes"] == bytes_kept
    assert sum(group["tokens"] for group in record["groups"]) == record["decoded"] == 240
    assert "\x1b" not in out + err  # no terminal, no codes for one


def test_chat_reads_lines_that_are_piped_in(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115
    status, out, _ = ringkv(monkeypatch, capsys, "model", "chat", "--new", "3")
    assert (status, out) == (0, "")


@pytest.mark.parametrize("policy", ["full", "window", "sinks-cache", "pooled"])
def test_chat_with_each_policy(monkeypatch, capsys, policy):
    arguments = ["--policy", policy, "--window", "40", "--new", "3", "--prompt", "Hi."]
    status, _, err = ringkv(monkeypatch, capsys, "model", "chat", *arguments)
    assert status == 0
    assert ("from" if policy == "full" else "the same throughout") in err


def test_a_right_ring_of_a_learner_in_the_chat(monkeypatch, capsys):
    arguments = ["--window", "12", "--new", "20", "--prompt", "Hi."]
    _, wanted, _ = ringkv(monkeypatch, capsys, "model", "chat", *arguments)
    status, out, _ = ringkv(
        monkeypatch, capsys, "model", "chat", "--cache", f"{OWN}:Right", *arguments
    )
    assert status == 0
    assert out.split("\n", 1)[1] == wanted
    assert out.startswith("Right holds in all")


def test_a_wrong_ring_of_a_learner_in_the_chat(monkeypatch, capsys):
    arguments = ["model", "chat", "--window", "12", "--new", "20", "--prompt", "Hi."]
    arguments += ["--cache", f"{OWN}:NeverWraps"]
    status, out, _ = ringkv(monkeypatch, capsys, *arguments)
    assert status == 1
    assert "NeverWraps is not right yet" in out
    assert "saw 0 1 2 4; expected 1 2 3 4" in out
    assert out.endswith("With --anyway you see what the model makes of it.\n")
    status, out, err = ringkv(monkeypatch, capsys, *arguments, "--anyway")
    assert status == 0
    own, right = out.split("your ring:\n")[1].split("a right ring:\n")
    assert own.strip() != right.strip()
    assert "your ring: " in err
    assert "a right ring: " in err


def test_perplexity(monkeypatch, capsys, tmp_path):
    text, out_file = tmp_path / "text.txt", tmp_path / "out.json"
    text.write_text("A ring keeps what it must. " * 12)
    arguments = ["model", "perplexity", str(text), "--window", "48", "--json", str(out_file)]
    status, out, _ = ringkv(monkeypatch, capsys, *arguments, "--tokens", "200")
    assert status == 0
    record = json.loads(out_file.read_text())
    rows = {row["key"]: row for row in record["rows"]}
    assert {"full", "window", "sinks", "sinks-cache", "sinks-small", "pooled"} <= set(rows)
    assert record["text"] | {"sha256": ""} == {"name": "text.txt", "tokens": 200, "sha256": ""}
    assert list(rows["full"]["perplexity"]) == ["0-24", "24-48", "48-96", "96-192", "192-200"]
    same = [rows[key]["perplexity"]["24-48"] for key in ("full", "window", "sinks", "sinks-cache")]
    assert max(same) - min(same) < 1e-3 * max(same)  # nothing has left any cache yet
    assert rows["window"]["perplexity_after"] != rows["full"]["perplexity_after"]
    assert rows["sinks"]["cache_bytes"] == rows["window"]["cache_bytes"] == 2 * 2 * 2 * 48 * 16 * 4
    assert len(rows["full"]["nll_bins"]) == 199 // 32
    assert len(out.splitlines()) == 3 + len(rows)


def test_perplexity_of_a_learners_ring(monkeypatch, capsys, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("A ring keeps what it must. " * 12)
    arguments = ["model", "perplexity", str(text), "--window", "30", "--tokens", "90"]
    status, out, _ = ringkv(monkeypatch, capsys, *arguments, "--cache", f"{OWN}:Right")
    assert status == 0
    full, right, own = (line.split("  ") for line in out.splitlines()[3:6])
    assert right[0] == "a right ring, window 26, 4 sinks"
    assert own[0].strip() == "Right, window 26, 4 sinks"
    numbers = [[float(x) for x in row[1:] if "." in x][:5] for row in (full, right, own)]
    assert numbers[2] == pytest.approx(numbers[1], rel=1e-4)
    assert numbers[2][3] != pytest.approx(numbers[0][3], rel=1e-2)  # 30-60: tokens have left
    status, out, _ = ringkv(monkeypatch, capsys, *arguments, "--cache", f"{OWN}:TooWide")
    assert status == 1
    assert "A ring" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["chat", "--policy", "ring"],
            "there is no policy 'ring'; give one of full, window, sinks",
        ),
        (["chat", "--window", "0"], "--window is 0; give 1 or more for the policy sinks"),
        (["chat", "--policy", "pooled", "--window", "32"], "--window is 32; give 33 or more"),
        (["chat", "--sinks", "-1"], "--sinks is -1; give 0 or more"),
        (["chat", "--new", "0"], "--new is 0; an answer has 1 token or more"),
        (["chat", "--temperature", "-1"], "--temperature is -1; give 0"),
        (["chat", "--cache", "nothing"], "'nothing' is no place: give path/to/file.py:Name"),
        (["chat", "--cache", f"{OWN}:Ring"], "has no 'Ring'; its classes are Right, RightRows"),
        (["chat", "--cache", f"{OWN}:RightRows", "--sinks", "2"], "RightRows does not take sinks"),
        (["chat", "--cache", f"{OWN}:FloatPositions"], "positions are torch.float16"),
        (["perplexity", "no-such-file"], "no-such-file: No such file or directory"),
        (["perplexity", OWN, "--tokens", "1"], "--tokens is 1; give 2 to 8192"),
        (["perplexity", os.devnull], "has 0 tokens; perplexity needs 2 or more"),
        (["perplexity", OWN, "--only", "ring"], "no row is called ring; there are full, window"),
        (["perplexity", OWN, "--window", "36"], "give a --window of 37 or more"),
        (["perplexity", OWN, "--sinks", "0"], "the table needs at least one sink"),
        (["perplexity", OWN, "--only", "full", "--cache", "x:y"], "--only chooses rows of the"),
        (["needle", "--window", "99999"], "there is nothing to find out"),
    ],
)
def test_wrong_calls(monkeypatch, capsys, arguments, words):
    status, _, err = ringkv(monkeypatch, capsys, "model", *arguments)
    assert status == 2
    assert words in err
    assert err.startswith("ringkv: ")
    assert len(err.splitlines()) == 1


def test_without_the_model(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("RINGKV_MODELS", str(tmp_path))
    for command in (["chat"], ["perplexity", OWN], ["needle"]):
        status, _, err = ringkv(monkeypatch, capsys, "model", *command)
        assert status == 2
        assert err == (
            f"ringkv: SmolLM2-135M-Instruct is not in {tmp_path}; get it once, 93 MB, with "
            f"`ringkv model fetch`\n"
        )


def test_needle(monkeypatch, capsys, tmp_path):
    out_file = tmp_path / "needle.json"
    arguments = ["--only", "full,sinks", "--json", str(out_file)]
    status, out, _ = ringkv(monkeypatch, capsys, "model", "needle", *arguments)
    assert status == 0
    record = json.loads(out_file.read_text())
    assert [row["key"] for row in record["rows"]] == ["full", "sinks"]
    assert all(row["codes"] == 10 for row in record["rows"])
    assert [q["place"] for q in record["questions"]] == ["at the start", "after a third"]
    assert "codes found" in out


def test_where_the_code_is_said():
    from ringkv_edu.real.needle import questions

    _, tokenizer = smollm2()
    for question in questions(tokenizer, words=60, codes=3):
        text = tokenizer.decode(question.prompts[0].tolist(), skip_special_tokens=False)
        code = tokenizer.decode(question.digits[0].tolist())
        at = text.index(f"the secret code is {code}.") + len("the secret code is ")
        assert len(tokenizer.encode(text[at:]).ids) == question.back
        assert text.endswith("assistant\nThe secret code is ")
        assert question.prompts.shape[0] == 3


def test_every_command_below_model_explains_itself(capsys):
    for what in ("fetch", "chat", "perplexity", "needle"):
        with pytest.raises(SystemExit):
            cli.main(["model", what, "--help"])
        assert f"example:\n  ringkv model {what}" in capsys.readouterr().out


TALK = 'He came at 9.30. "Is it late?" asked Dr. Marsh. J. R. said no!\n\nThen they left.'


def test_sentences():
    parts = sentences(TALK)
    assert "".join(parts) == TALK
    assert [part.strip() for part in parts] == [
        "He came at 9.30.", '"Is it late?"', "asked Dr. Marsh.", "J. R. said no!", "Then they left.",
    ]  # fmt: skip
    assert sentences("") == []
    assert sentences("no end") == ["no end"]
    assert sentences("一。二！三") == ["一。", "二！", "三"]


@pytest.mark.parametrize("budget", range(0, 90, 3))
def test_what_is_kept_is_whole_and_the_most_that_fits(budget):
    parts = sentences(TALK)
    kept = last_sentences(TALK, budget, len)
    assert TALK.endswith(kept)
    assert len(kept) <= budget
    longer = [text for text in ("".join(parts[i:]) for i in range(5)) if len(text) > len(kept)]
    assert all(len(text) > budget for text in longer)
    first = first_sentences(TALK, budget, len)
    assert TALK.startswith(first)
    assert first in ["".join(parts[:i]) for i in range(6)]


def budget_chat(over, budget):
    model, tokenizer = smollm2()
    return talk_of(model, tokenizer, Full(), (0.0, 0), over, budget)


@pytest.mark.parametrize(("over", "budget"), [("truncate", 420), ("summarise", 900)])
def test_a_talk_within_a_budget(over, budget, monkeypatch):
    chat, fed = budget_chat(over, budget), []
    own = Chat._fed
    monkeypatch.setattr(Chat, "_fed", lambda self, ids: (fed.extend(ids), own(self, ids))[1])
    for n in range(8):
        list(chat.answer(f"This is sentence {n}. And another one, number {n}.", 30))
        assert chat.held <= budget
        assert max(step.bytes for step in chat.steps) <= budget * 2 * 2 * 2 * 16 * 4
    assert chat.cut
    assert all(after < before for before, after in chat.cut)
    if over == "truncate":  # what is kept begins where a sentence begins
        text = chat.tokenizer.decode(fed, skip_special_tokens=False)
        kept = text.rsplit("The talk so far: ", 1)[1].split("<|im_end|>")[0]
        assert any(part.strip().startswith(kept[:12]) for part in sentences(chat.told))


def test_a_budget_that_is_too_small():
    with pytest.raises(Problem, match="give a larger --budget"):
        list(budget_chat("truncate", 60).answer("Hello.", 30))


def test_over_says_what_it_did(monkeypatch, capsys):
    said = [word for n in range(6) for word in ("--prompt", f"Sentence {n}. One more, {n}.")]
    how = "--over", "truncate", "--budget", "420", "--new", "30"
    status, _, err = ringkv(monkeypatch, capsys, "model", "chat", *how, *said)
    assert status == 0
    assert re.search(r"cut (once|\d+ times) \(truncate\); [\d,]+ tokens were read anew", err)
    status, _, err = ringkv(monkeypatch, capsys, "model", "chat", *how, "--policy", "sinks")
    assert status == 2
    assert "leave --cache and --policy out" in err
    status, _, err = ringkv(monkeypatch, capsys, "model", "chat", "--budget", "99")
    assert status == 2
    assert "add --over truncate or --over summarise" in err
