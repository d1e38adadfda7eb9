"""Each log of a run that is really wrong gets its diagnosis and no other."""

import itertools
import re

import pytest

from ringkv_edu.monitor import diagnose, read_log
from ringkv_edu.monitor.rules import RULES
from ringkv_edu.monitor.triage import eviction, lines, speed
from ringkv_edu.monitor.troubles import MAKERS
from ringkv_edu.monitor.work import WorkClock

S40 = {"quality drops", "no speed-up", "memory does not fall", "summaries too often",
       "output jitters", "framework mismatch"}  # fmt: skip
S22 = {"out of memory", "slow while memory is free", "slow first token", "slows half way"}
EVICTION = {
    "quality drops": "it happens: layer 0 holds 16 of 199 tokens; after 17 one was gone",
    "no speed-up": "nothing has left yet: layer 0 keeps 1028, and the text has 199 tokens",
    "memory does not fall": "nothing leaves: layer 0 should keep 64 and holds 199 of 199",
    "out of memory": "no layer says that it evicts: everything is kept",
}
SHOWS = {
    "quality drops": r"full, at token 16, surprise is 2\.\d\d nats .* \(0\.00 before\); the first",
    "no speed-up": r"the text has 199 tokens and the smallest cache room for 1028: none has left",
    "memory does not fall": r"layer 0 says it keeps 64 tokens and holds 199 of 199",
    "memory does not fall, 2": r"report 32768 bytes and keep 1048576 bytes of storage alive",
    "summaries too often": r"began 179 summaries for 179 tokens that left; .* it would be 23",
    "output jitters": r"layer 0 holds 32 tokens after 32 and 17 after 33; that happens 11 times",
    "framework mismatch": r"after 12 tokens, when nothing had left, .* at most by \d\d %",
    "out of memory": r"take 82432 bytes of 81920 after 161 tokens, 512 bytes each; 160 tokens fit",
    "slow while memory is free": r"takes [1-9]\.\d times .* \d\.\d times the bytes; 94 % of the budget",
    "slow first token": r"took \d\d % of the time: 1200 tokens of prompt",
    "slows half way": r"after 100 tokens rows went from 1 to 128; a step takes \d\.\d times",
    "memory creeps": r"128 more with each token, 3 looks in a row; 16 tokens should have filled it",
    "score peaks": r"after 108 tokens the largest score is 17\.\d; before it was 1\.\d",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make each log once; time is counted work where time is the sign, else a step is a second."""
    folder, logs = tmp_path_factory.mktemp("logs"), {}

    def log_of(name):
        if name not in logs:
            path = folder / name
            if name in S22:
                with WorkClock() as clock:
                    MAKERS[name](path, clock)
            else:
                MAKERS[name](path, itertools.count().__next__)
            logs[name] = read_log(path)
        return logs[name]

    return log_of


@pytest.mark.parametrize("name", MAKERS)
def test_its_own_diagnosis_and_no_other(made, name):
    found = diagnose(made(name))
    expected = [name.split(",")[0]] if MAKERS[name].wrong else []
    assert [one.trouble for one in found] == expected
    for one in found:
        assert re.search(SHOWS[name], one.shows), one.shows
        assert one.reason
        assert one.advice
        assert one.source


def test_every_row_and_every_rule_has_a_log():
    made = {name.split(",")[0] for name, maker in MAKERS.items() if maker.wrong}
    assert made == {rule.trouble for rule in RULES} >= S40 | S22
    for rule in RULES:
        assert ("S40" in rule.source) == (rule.trouble in S40)
        assert ("S22" in rule.source) == (rule.trouble in S22)
        before = [other.trouble for other in RULES[: RULES.index(rule)]]
        assert set(rule.follows_from) <= set(before)
    assert [maker.wrong for maker in MAKERS.values()].count("") == 2


@pytest.mark.parametrize("name", EVICTION)
def test_first_it_is_proved_that_eviction_happens(made, name):
    log = made(name)
    assert eviction(log) == EVICTION[name]
    text = list(lines(log))
    assert text[1] == f"eviction: {EVICTION[name]}"
    assert max(map(len, text[1:])) <= 96
    assert any(line.startswith(f"{name} (S") for line in text)


def test_a_healthy_run_is_told_what_was_looked_for(made):
    text = list(lines(made("healthy")))
    assert text[1].startswith("eviction: it happens")
    assert text[2].startswith("speed: a late token takes 1.00 times as long")
    assert "\n".join(text).count("nothing wrong was found; looked for: out of memory") == 1


def test_speed_needs_both_runs(made):
    assert speed(made("slow first token")) is None
    (share,) = re.findall(r"cache is (\d+) % of what a step reads", speed(made("healthy")))
    weights = made("healthy").run.head["weight_bytes"]
    assert int(share) == round(100 * 199 * 512 / (199 * 512 + weights))
