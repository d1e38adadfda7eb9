"""What a learner reads when something other than a wrong value happens."""

from __future__ import annotations

import pytest

from ringkv_edu.checks import exercise
from ringkv_edu.checks.judge import Verdict, judge
from ringkv_edu.lesson import check

LAST = exercise("ex00-last")


def verdict_on(source: str, name: str = "ex00-last") -> Verdict:
    names: dict = {}
    exec(compile(source, "<answer>", "exec"), names)
    return judge(exercise(name), names)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('oh')", "your code raised ValueError: oh"),
        ("return undefined_name", "your code raised NameError: name 'undefined_name'"),
        ("return tokens[1/2]", "your code raised TypeError"),
        ("raise NotImplementedError", "this part is not written yet"),
        ("raise SystemExit", "your code raised SystemExit"),
        ("return last(tokens, window)", "your code raised RecursionError"),
        ("while True: pass", "a loop that never ends"),
        ("while True:\n        tokens = list(tokens)", "a loop that never ends"),
        ("while True:\n        try:\n            x = 1\n        except Exception:\n            pass",
         "a loop that never ends"),
        ("while True:\n        try:\n            x = 1\n        except BaseException:\n            pass",
         "a loop that never ends"),
        ("tokens.clear()\n    return []", "your code changed what it was given: `tokens` was"),
        ("tokens.append(1)", "your code changed what it was given"),
        ("x = tokens[-window:]", "None (is a `return` missing?)"),
        ("return {'a': 1}", "which is a dict, not a list"),
        ("return str(tokens)", "which is a text, not a list"),
        ("return 3", "which is a whole number, not a list"),
    ],
)  # fmt: skip
def test_what_happened_is_said_plainly(body: str, words: str) -> None:
    verdict = verdict_on(f"def last(tokens, window):\n    {body}\n")
    assert not verdict.right
    assert words in str(verdict)
    assert "Traceback" not in str(verdict)
    assert "ringkv_edu" not in str(verdict)
    assert len(verdict.lines) <= 6


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "`last` is not defined. Run the answer cell"),
        ("last = 3", "`last` is a whole number; it should be a function"),
        ("last = ...", "`last` is not written yet"),
        ("def last(tokens, window):\n    ...", "`last` is not written yet"),
        ("def last(tokens, window):\n    'doc'\n    ...", "`last` is not written yet"),
        ("def last(tokens, window):\n    pass", "`last` is not written yet"),
        ("def last(tokens): return tokens", "last() takes 1 positional argument but 2 were given"),
    ],
)
def test_names_that_are_not_as_asked(source: str, words: str) -> None:
    assert words in str(verdict_on(source))


def test_where_the_error_is() -> None:
    verdict = verdict_on("def last(tokens, window):\n    return tokens[99]\n")
    assert "IndexError" in str(verdict)


def test_two_mistakes_name_the_first_and_say_there_is_more() -> None:
    names = {**exercise("ex00-diagnostic").reference, "negative_wrap": -1, "keys_seen": 8}
    verdict = judge(exercise("ex00-diagnostic"), names)
    assert verdict.mistake == "c-modulo"
    assert "It differs in other cases, too." in str(verdict)


def test_an_unknown_mistake_is_not_given_a_name() -> None:
    verdict = verdict_on("def last(tokens, window):\n    return [7]\n")
    assert verdict.mistake == ""
    assert "This is what happens" not in str(verdict)


def test_an_unknown_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    check("ex99-nothing")
    assert "no exercise is called 'ex99-nothing'" in capsys.readouterr().out


def test_check_finds_the_callers_names(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"check": check}
    exec("def last(tokens, window): return tokens[-window:]\ncheck('ex00-last')", names)
    assert "ex00-last: right" in capsys.readouterr().out


def test_the_same_answer_gets_the_same_message() -> None:
    source = "def last(tokens, window):\n    return tokens[:window]\n"
    assert str(verdict_on(source)) == str(verdict_on(source))
