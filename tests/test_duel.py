"""The budget duel: talks, the memory's prices, the referee, the leaderboard, the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ringkv_edu.duel import talk as talks
from ringkv_edu.duel.board import lines
from ringkv_edu.duel.contest import play_file, play_rival
from ringkv_edu.duel.memory import Memory, entry_bytes
from ringkv_edu.duel.play import OverBudget, play, together
from ringkv_edu.duel.rivals import RIVALS, best, keep_all
from ringkv_edu.duel.talk import FIRST, Token, answer_of, codes, draw_talk
from ringkv_edu.quantize import quantize
from ringkv_edu.visibility import oracle_attention

ANYTHING = 2**40


def ringkv(*arguments: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "ringkv_edu.cli", *arguments]
    return subprocess.run(call, capture_output=True, text=True, encoding="utf-8", check=False)


def tokens(n: int, seed: int = 0) -> list[Token]:
    rng = np.random.default_rng(seed)
    return [Token(p, f"t{p}", *rng.standard_normal((2, 32)).astype(np.float32)) for p in range(n)]


def filled(n: int, budget: int = ANYTHING, seed: int = 0) -> Memory:
    memory = Memory(budget)
    for token in tokens(n, seed):
        memory.write(token)
    return memory


@pytest.mark.parametrize("seed", range(30))
def test_a_talk_is_what_it_promises(seed: int) -> None:
    talk = draw_talk(seed)
    assert [token.position for token in talk] == list(range(talks.TOKENS))
    assert [token.text.split("=")[0] for token in talk[:FIRST]] == [f"k{n}" for n in range(FIRST)]
    said: dict[str, int] = {}
    for token in talk:
        if token.query is not None:
            assert token.answer == said[token.text.rstrip("?")]
        elif "=" in token.text:
            name, value = token.text.split("=")
            assert said.get(name) != int(value)  # said anew is said otherwise
            said[name] = int(value)
            assert answer_of(token.value) == int(value)


def test_questions_ask_for_first_old_and_recent_facts() -> None:
    ages: list[int] = []
    first = asked = 0
    for talk in map(draw_talk, range(40)):
        said: dict[str, int] = {}
        for token in talk:
            name = token.text.rstrip("?").split("=")[0]
            if token.query is not None:
                asked += 1
                first += int(name[1:]) < FIRST
                ages.append(token.position - said[name])
            elif "=" in token.text:
                said[name] = token.position
    assert 0.23 < first / asked < 0.29  # a quarter, and what nothing else can be asked for
    assert 0.42 < np.mean([age <= talks.RECENT for age in ages]) < 0.55
    assert 0.4 < np.mean([age >= talks.OLD for age in ages]) < 0.5  # old ones, and the first


def test_scores_are_what_the_lesson_says() -> None:
    found, small = [], []
    for talk in map(draw_talk, range(10)):
        facts = {t.text: t for t in talk if "=" in t.text}
        for token in talk:
            if token.query is not None:
                fact = facts[f"{token.text.rstrip('?')}={token.answer}"]
                found.append(float(fact.key @ token.query) / 32**0.5)
            elif "=" not in token.text:
                question = next(t for t in talk if t.query is not None)
                small.append(float(token.key @ question.query) / 32**0.5)
    np.testing.assert_allclose(found, talks.SCORE, rtol=1e-5)
    assert abs(np.mean(small)) < 0.2
    assert float(np.std(small)) == pytest.approx(2.5, abs=0.1)


def test_the_same_seed_is_the_same_talk_and_another_is_not() -> None:
    one, same, other = draw_talk(3), draw_talk(3), draw_talk(4)
    assert [t.text for t in one] == [t.text for t in same] != [t.text for t in other]
    assert all((a.key == b.key).all() for a, b in zip(one, same, strict=True))
    with pytest.raises(ValueError, match="100 or more"):
        draw_talk(0, 99)


def test_values_are_eight_directions_at_right_angles() -> None:
    np.testing.assert_allclose(codes() @ codes().T, np.eye(8), atol=1e-6)


@pytest.mark.parametrize(("bits", "cost"), [(32, 260), (8, 76), (4, 44)])
def test_an_entry_costs_its_numbers_scales_and_position(bits: int, cost: int) -> None:
    assert entry_bytes(bits) == cost
    memory = filled(3)
    if bits < 32:
        memory.shrink(memory.entries[0], bits)
        assert memory.entries[0].nbytes == cost
        kept = quantize(np.zeros((1, 1, 32), np.float32), bits)
        assert 2 * kept.nbytes + 4 == cost


@pytest.mark.parametrize("bits", [8, 4])
def test_rounding_is_the_packages_quantisation(bits: int) -> None:
    token = tokens(1)[0]
    memory = Memory(ANYTHING)
    memory.shrink(memory.write(token), bits)
    (entry,) = memory.entries
    for mine, given in ((entry.key, token.key), (entry.value, token.value)):
        theirs = quantize(given[None, None], bits, "token").restored()[0, 0]
        np.testing.assert_array_equal(mine, theirs)


def test_attention_is_the_oracles_and_masses_add_up_to_one() -> None:
    memory = filled(9)
    query = tokens(1, seed=5)[0].key
    keys, values = (
        np.stack([getattr(e, name) for e in memory.entries])[None] for name in ("key", "value")
    )
    queries = np.repeat(query[None, None], 9, axis=1)
    expected = oracle_attention(queries, keys, values, window=9)[0, -1]
    np.testing.assert_allclose(memory.attend(query), expected, rtol=1e-5, atol=1e-6)
    assert sum(entry.mass for entry in memory.entries) == pytest.approx(1)


def test_folding_equal_keys_changes_nothing() -> None:
    """The mean of n equal keys, counted n times, is what the n were (lesson 06)."""
    key, values = tokens(1)[0].key, [t.value for t in tokens(4, seed=2)]
    memory = filled(3)
    for position, value in enumerate(values, 3):
        memory.write(Token(position, "same", key, value))
    query = tokens(1, seed=5)[0].key
    before = memory.attend(query)
    memory.fold(memory.entries[3:5])
    folded = memory.fold(memory.entries[3:])
    assert (folded.count, folded.position, len(memory.entries)) == (4, 6, 4)
    np.testing.assert_allclose(memory.attend(query), before, rtol=1e-5, atol=1e-6)


def test_what_is_dropped_can_be_found_and_brought_back() -> None:
    memory = filled(5)
    second = memory.entries[1]
    memory.drop(memory.entries[0])
    memory.drop(second)
    scores = memory.search(second.key)
    assert scores.argmax() == 1
    assert memory.moved == 2 * 128
    memory.fetch(second)
    assert memory.positions() == [1, 2, 3, 4]
    assert memory.moved == 2 * 128 + 260
    assert memory.positions(memory.archive) == [0]


def test_what_cannot_be_is_said() -> None:
    memory = filled(3)
    entry = memory.entries[0]
    with pytest.raises(ValueError, match="give fewer, 8 or 4, not 16"):
        memory.shrink(entry, 16)
    memory.shrink(entry, 4)
    with pytest.raises(ValueError, match="has 4 bits"):
        memory.shrink(entry, 8)
    with pytest.raises(ValueError, match="two different entries"):
        memory.fold([entry])
    with pytest.raises(ValueError, match="two different entries"):
        memory.fold([entry, entry])
    with pytest.raises(ValueError, match="is not in the archive"):
        memory.fetch(entry)
    memory.drop(entry)
    for call in (memory.drop, lambda e: memory.shrink(e, 4), lambda e: memory.fold([e, e])):
        with pytest.raises(ValueError, match="is not in the memory"):
            call(entry)
    with pytest.raises(ValueError):
        memory.entries[0].key[0] = 1  # read-only
    assert memory.positions() == [1, 2]


def test_the_referee_counts_and_ends_who_holds_too_much() -> None:
    talk = draw_talk(0)
    whole = play(keep_all, talk, ANYTHING)
    assert whole.questions == sum(token.query is not None for token in talk)
    assert whole.peak == 260 * len(talk)
    with pytest.raises(
        OverBudget, match="2,080 bytes are held after position 7, 2,048 are allowed"
    ):
        play(keep_all, talk, 2048)


def test_a_policy_that_fetches_too_much_is_ended_too() -> None:
    class Greedy:
        def __call__(self, memory: Memory) -> None:
            RIVALS["window"]()(memory)

        def fetch(self, memory: Memory, query: object) -> None:
            memory.fetch(memory.archive[0])

    with pytest.raises(OverBudget, match="having fetched for position"):
        play(Greedy(), draw_talk(0), 1040)


def test_a_policy_that_writes_a_larger_budget_is_ended_too() -> None:
    def generous(memory: Memory) -> None:
        memory.budget = ANYTHING

    with pytest.raises(OverBudget, match="1,040 bytes are held after position 3, 1,024"):
        play(generous, draw_talk(0), 1024)


def test_plays_add_up() -> None:
    plays = [play(best, draw_talk(seed), 2048) for seed in range(3)]
    both = together(plays)
    assert both.right == sum(one.right for one in plays)
    assert both.recall == pytest.approx(both.right / both.questions)
    assert both.recall_per_kib == pytest.approx(both.recall / (both.peak / 1024))


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_keeps_its_budget_and_plays_the_same_again(name: str) -> None:
    for budget in (512, 1024, 4096):
        one, two = (play_rival(RIVALS[name], budget, range(2)) for _ in range(2))
        assert one.peak <= budget
        assert (one.right, one.moved, one.error) == (two.right, two.moved, two.error)


def test_a_policy_that_reads_the_text_can_beat_keeping_everything() -> None:
    seeds = range(6)
    bound = play_rival(lambda: keep_all, ANYTHING, seeds)
    assert bound.recall < 0.85  # stale facts
    assert play_rival(lambda: best, 2048, seeds).recall == 1
    assert play_rival(lambda: best, 1024, seeds).recall > 0.85


def test_the_board_ranks_by_recall_and_says_who_did_not_finish() -> None:
    bound = play_rival(lambda: keep_all, ANYTHING, [0])
    board = {
        "window": play_rival(RIVALS["window"], 2048, [0]),
        "best": play_rival(lambda: best, 2048, [0]),
        "lazy": "too much",
    }
    text = list(lines(2048, board, bound))
    assert text[0].startswith("2 KiB; keeping everything (102 KiB)")
    assert [line.split()[:2] for line in text[2:]] == [
        ["1", "best"],
        ["2", "window"],
        ["-", "lazy"],
    ]


FILE = """
from ringkv_edu.duel.memory import Memory
print("noise")
def my_policy(memory):
    print("more noise")
    while memory.used > memory.budget:
        memory.drop(memory.entries[0])
class Both:
    def __init__(self): self.calls = 0
    def __call__(self, memory):
        self.calls += 1
        my_policy(memory)
def endless(memory):
    while True: pass
def raising(memory):
    raise RuntimeError("no idea")
def leaving(memory):
    raise SystemExit(3)
number = 3
"""


def test_files_play_as_the_same_policy_does_here(tmp_path: Path) -> None:
    path = tmp_path / "my_ringkv.py"
    path.write_text(FILE, encoding="utf-8")
    here = play_rival(RIVALS["window"], 1024, [0, 1])
    for name in ("my_policy", "Both"):
        (there,) = play_file(str(path), name, [1024], [0, 1], 60)
        assert (there.right, there.peak, there.error) == (here.right, here.peak, here.error)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("endless", "not done after 3 s"),
        ("raising", "raised RuntimeError: no idea"),
        ("leaving", "raised SystemExit: 3"),
        ("number", "number is no function and no class"),
        ("missing", "defines no 'missing'"),
    ],
)
def test_a_file_that_does_not_play_spoils_nothing(tmp_path: Path, name: str, why: str) -> None:
    path = tmp_path / "my_ringkv.py"
    path.write_text(FILE, encoding="utf-8")
    found = play_file(str(path), name, [1024, 2048], [0], 3 if name == "endless" else 60)
    assert len(found) == 2
    assert all(isinstance(one, str) and why in one for one in found)


def test_the_command_prints_a_board_and_writes_it(tmp_path: Path) -> None:
    mine, out = tmp_path / "my_ringkv.py", tmp_path / "board.json"
    mine.write_text(FILE, encoding="utf-8")
    done = ringkv("duel", str(mine), "--kib", "1", "--talks", "1", "--json", str(out))
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path.name}:my_policy"[:25] in done.stdout
    (board,) = json.loads(out.read_text(encoding="utf-8"))["boards"]
    assert board["budget_bytes"] == 1024
    assert len(board["policies"]) == len(RIVALS) + 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["--kib", "much"], "give numbers, as 1,2,4"),
        (["--kib", "0.1"], "give numbers from 0.5"),
        (["--talks", "0"], "--talks is 0"),
        (["--seed", "-1"], "--seed is -1"),
        (["--seconds", "0"], "--seconds is 0"),
    ],
)
def test_wrong_calls_are_answered(arguments: list[str], said: str) -> None:
    done = ringkv("duel", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
