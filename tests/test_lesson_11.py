"""What lesson 11 says in prose and in tables, computed again."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from ringkv_edu.checks.judge import WIDEST
from ringkv_edu.checks.lesson_11 import EXERCISES
from ringkv_edu.checks.lesson_11_duel import BARS, bar
from ringkv_edu.checks.lesson_11_predict import MEASURED, best_first, recalls
from ringkv_edu.duel.contest import play_rival
from ringkv_edu.duel.memory import Memory, entry_bytes
from ringkv_edu.duel.play import Play
from ringkv_edu.duel.rivals import RIVALS, best, keep_all
from ringkv_edu.duel.talk import NAMES, Token
from ringkv_edu.figures.duel import BUDGETS
from ringkv_edu.figures.duel import recalls as drawn
from ringkv_edu.given_duel import named_memory

ROOT = Path(__file__).resolve().parents[1]
LESSON = (ROOT / "course/lessons/11_capstone.py").read_text(encoding="utf-8")
PROSE = " ".join(LESSON.replace("\n#", " ").split())
REFERENCE = {name: value for e in EXERCISES for name, value in e.reference.items()}


def table_after(heading: str) -> list[list[str]]:
    text = LESSON[LESSON.index(heading) :]
    rows = re.search(r"((?:^# \|.*\n)+)", text, re.MULTILINE)[1].splitlines()
    cells = [[cell.strip() for cell in row[2:].strip("|").split("|")] for row in rows]
    return [row for row in cells if not set("".join(row)) <= set("-")]


@cache
def plays(name: str, kib: float) -> Play:
    make = {**RIVALS, "best": lambda: best}[name]
    return play_rival(make, int(kib * 1024), range(20))


def test_the_table_of_prices() -> None:
    for bits, cost, fit in table_after("# | bits of a number")[1:]:
        assert cost == f"{entry_bytes(int(bits))} bytes"
        assert int(fit) == 2048 // entry_bytes(int(bits))
    assert 4096 // entry_bytes(32) == 15
    assert "With 4 KiB 15 exact entries fit" in PROSE


def test_the_table_under_the_picture_is_the_picture() -> None:
    found, bound = drawn()
    head, *rows = table_after("# | KiB | 1 |")
    assert [int(kib) for kib in head[1:]] == list(BUDGETS)
    assert {row[0]: row[1:] for row in rows} == {
        name: [f"{share:.2f}" for share in shares] for name, shares in found.items()
    }
    assert f"Nobody is above {bound:.2f}" in PROSE
    assert max(max(shares) for shares in found.values()) <= bound + 0.005
    assert f"Keeping everything answers {bound:.2f} of the questions" in PROSE
    sinks = found["window + sinks"]
    assert sinks[4] < sinks[3]  # "even loses between 8 and 16 KiB"
    everything = play_rival(lambda: keep_all, 2**40, [0])
    assert round(everything.peak / 1024) == 102


def test_the_prediction_is_what_is_measured() -> None:
    assert best_first() == MEASURED
    shares = [f"{recalls()[name]:.2f}" for name in MEASURED]
    said = "Retrieval reaches {}, sinks {}, the window {}, summaries {}.".format(*shares)
    assert said in PROSE
    back = plays("retrieval", 4).moved / plays("retrieval", 4).questions / 1024
    assert f"It reads {back:.0f} KiB from the disk for each question, more than six times" in PROSE
    assert back / 4 > 6


def test_what_the_solutions_say() -> None:
    share = {
        (n, k): f"{plays(n, k).recall:.2f}"
        for n, k in [("window + sinks", 2), ("window + sinks", 4), ("window", 4), ("window", 1),
                     ("by score", 4), ("fewer bits", 1), ("fewer bits", 4)]
    }  # fmt: skip
    two, four = share["window + sinks", 2], share["window + sinks", 4]
    assert f"From 2 KiB to 4 KiB this policy goes from {two} to {four}" in PROSE
    assert f"{share['by score', 4]} against {share['window', 4]} in 4 KiB" in PROSE
    assert plays("by score", 16).recall > plays("window", 16).recall
    assert f"answers {share['fewer bits', 1]} in place of {share['window', 1]}" in PROSE
    assert plays("fewer bits", 4).recall - plays("window", 4).recall < 0.05
    assert (1024 - 260) // entry_bytes(4) + 1 == 18
    assert 1024 // entry_bytes(32) == 3
    assert NAMES * entry_bytes(4) == 1320
    assert plays("best", 2).recall == 1
    assert 0.85 < plays("best", 1).recall < 0.95  # nine in ten


def positions(memory: Memory) -> list[int]:
    return memory.positions()


def at(where: list[int], budget: int) -> Memory:
    memory, rng = Memory(budget), Random(0)
    vectors = named_memory(rng, ["x"] * len(where), 0).entries
    for position, entry in zip(where, vectors, strict=True):
        memory.write(Token(position, "x", entry.key, entry.value))
    return memory


def test_the_table_of_exercise_1() -> None:
    (_, before), (_, after), (_, short) = table_after("# | | positions |")[1:]
    for budget, expected in ((4 * 260, after), (2 * 260, short)):
        memory = at([int(p) for p in before.split()], budget)
        REFERENCE["keep_sinks"](memory, 2)
        assert positions(memory) == [int(p) for p in expected.split()]


def test_the_table_of_exercise_2() -> None:
    (_, *where), (_, *masses), (_, *said) = table_after(
        "# | position | 0 | 2 | 3 | 5 | 6 |\n# |---"
    )
    memory = at([int(p) for p in where], 3 * 260)
    for entry, mass in zip(memory.entries, masses, strict=True):
        entry.mass = float(mass)
    REFERENCE["keep_by_score"](memory, 2)
    gone = [int(p) for p, word in zip(where, said, strict=True) if word.startswith("goes")]
    assert positions(memory) == [int(p) for p in where if int(p) not in gone]
    assert memory.positions(memory.archive) == [3, 0]  # first, second
    assert (said[2], said[0]) == ("goes first", "goes second")


def test_the_table_of_exercise_3() -> None:
    (_, *where), (_, *texts), (_, *said) = table_after("# | position | 0 | 2 | 3 | 5 | 6 | 8 |")
    memory = at([int(p) for p in where], 9999)
    for entry, text in zip(memory.entries, texts, strict=True):
        entry.text = text
    expected = [int(p) for p, word in zip(where, said, strict=True) if word == "yes"]
    assert REFERENCE["stale"](memory.entries) == expected


def test_the_table_of_exercise_4() -> None:
    for budget, after in table_after("# | budget | after |")[1:]:
        memory = at([0, 3, 4, 7], int(budget.replace(",", "")))
        REFERENCE["fewer_bits"](memory)
        assert " ".join(f"{e.position}:{e.bits}" for e in memory.entries) == after


def test_the_bars_of_the_duel_are_below_everything() -> None:
    assert all(bar(*one) <= bar(2048, "everything") for one in BARS)
    assert "in 2 and in 4 KiB, as much as the first six tokens and the newest reach" in PROSE
    assert {b for b, rival in BARS if rival == "window + sinks"} == {2048, 4096}


def test_cases_fit_into_a_verdicts_line() -> None:
    for exercise in EXERCISES:
        for case in exercise.cases(Random(0)):
            assert len(case.given) <= WIDEST - 40, case.given
