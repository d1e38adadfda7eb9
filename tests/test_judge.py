"""What a learner reads when something other than a wrong value happens."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ringkv_edu.checks import exercise, guard
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
    assert "This case is what happens when" in str(verdict)
    assert "Other cases do not fit that." in str(verdict)


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


HOSTILE = {
    "repr-raises": "class X:\n    def __repr__(self): raise ValueError('no')\ndef last(t, w): return X()",
    "repr-loops": "class X:\n    def __repr__(self):\n        while True: pass\ndef last(t, w): return X()",
    "len-raises": "class X(list):\n    def __len__(self): raise ValueError\ndef last(t, w): return X(t)[:1]",
    "iter-loops": "class X(list):\n    def __iter__(self):\n        while True: yield 1\ndef last(t, w): return X()",
    "holds-itself": "def last(t, w):\n    r = []\n    r.append(r)\n    return r",
    "endless-generator": "def last(t, w):\n    while True: yield 1",
    "endless-c-iterator": "import itertools\ndef last(t, w): return itertools.count()",
    "huge-numbers": "def last(t, w): return [10 ** 400] * len(t)",
    "huge-list": "def last(t, w): return [0] * 10 ** 7",
    "bad-str": "class E(Exception):\n    def __str__(self): raise ValueError\ndef last(t, w): raise E",
    "base-exception": "def last(t, w): raise BaseException('x')",
    "interrupt": "def last(t, w): raise KeyboardInterrupt",
    "group": "def last(t, w): raise ExceptionGroup('many', [ValueError(1)])",
    "surrogate": "def last(t, w): raise ValueError('\\ud800 \\r\\n' * 500)",
    "small-stack": "import sys\ndef last(t, w):\n    return last(t, w)",
    "decimal": "from decimal import Decimal\ndef last(t, w): return [Decimal('sNaN')]",
    "odd-callable": "class X:\n    __code__ = 3\n    def __call__(self, t, w): return 1\nlast = X()",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_odd_answer_is_judged_like_any_other(name: str) -> None:
    verdict = verdict_on(HOSTILE[name])
    assert not verdict.right
    text = str(verdict)
    assert len(text.splitlines()) <= 6
    assert all(character.isprintable() or character == "\n" for character in text)


def test_a_call_that_sleeps_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LONGEST", 0.2)
    monkeypatch.setattr(guard, "PATIENCE", 0.1)
    verdict = verdict_on("import time\ndef last(t, w): time.sleep(3)")
    assert "does not end, and cannot be stopped: restart the kernel" in str(verdict)


def test_an_import_inside_an_answer_is_no_endless_loop() -> None:
    """A fresh interpreter, since numpy is loaded here: importing it takes over a million steps."""
    code = (
        "from ringkv_edu.lesson import check\n"
        "def last(tokens, window):\n"
        "    import matplotlib.pyplot, asyncio, numpy as np\n"
        "    return np.array(tokens)[-window:]\n"
        "check('ex00-last')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ex00-last: right" in done.stdout


def test_an_answer_that_checks_itself(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"check": check}
    exec("def last(t, w):\n    check('ex00-last')\n    return t[-w:]\ncheck('ex00-last')", names)
    assert capsys.readouterr().out.count("ex00-last") == 1


def test_a_check_shows_no_warnings() -> None:
    import warnings

    source = (
        "import numpy as np\ndef last(tokens, window):\n    return list(np.zeros(1) / np.zeros(1))"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "[nan]" in str(verdict_on(source))


def test_prints_are_counted_not_shown() -> None:
    verdict = verdict_on(
        "def last(tokens, window):\n    print('here')\n    return tokens[-window:]"
    )
    assert verdict.right
    assert "It printed 17 lines of its own: take the print calls out." in str(verdict)


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("ex03-visible", "def visible(ring): return [(1, 2)]", "your result: [[1, 2]], which is a list"),
        ("ex03-visible", "def visible(ring): return 3", "your result: 3, which is a whole number"),
        ("ex04-attend", "import numpy as np\ndef attend(q, e): return np.zeros(len(q))",
         "your result: [0, 0]"),
        ("ex08-shift", "class ShiftBuffer:\n    def __init__(self, w):\n        self.keys = self.values"
         " = self.positions = []\n    def append(self, *t): pass\ndef entries_moved(t, w): return 0",
         "your positions: []"),
    ],
)  # fmt: skip
def test_what_was_returned_is_shown(name: str, source: str, words: str) -> None:
    assert words in str(verdict_on(source, name))
