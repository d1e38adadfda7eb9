"""Roll-out and tuning: a guard that trips when it must, a fall-back that is exact, a full log."""

import json
import math

import pytest
import torch

from ringkv_edu.evaluate import (
    Contender,
    Creep,
    Guard,
    Rollout,
    Sweep,
    Switch,
    full_of,
    losses,
    own_text,
    sweep,
)
from ringkv_edu.evaluate.guard import passes
from ringkv_edu.evaluate.lines import Lines, read_lines
from ringkv_edu.evaluate.sweep import smallest_within
from ringkv_edu.monitor.troubles import CALM, FAR, SURE, random_model
from ringkv_edu.policies import Full, Pooled, Sinks, Window
from ringkv_edu.problem import Problem

N = 160


@pytest.fixture(scope="module")
def far():
    model = random_model(*FAR)
    return model, own_text(full_of(model), N)


@pytest.fixture(scope="module")
def sure():
    model = random_model(*SURE)
    return model, own_text(full_of(model), N)


def guard_for(model, **sizes):
    """Give a guard made from other texts of a model than the one it will watch."""
    full = full_of(model)
    return Guard.calibrated(full, [own_text(full, N, seed) for seed in (7, 8)], **sizes)


def run(switch, text, size=1, **how):
    return [switch.step(part, **how) for part in torch.split(text, size, dim=1)]


# The guard.


def test_a_guard_trips_on_the_mean_of_its_span():
    guard = Guard(margin=0.5, span=4, expected=1.0)
    assert not any(guard.note(nll) for nll in (9.0, 0.0, 0.0))  # not a whole span yet
    assert guard.excess is None
    guard.note(-6.0)
    assert (guard.excess, guard.tripped) == (-0.25, False)
    assert [guard.note(1.5) for _ in range(4)] == [False] * 4  # 0.5 is not over the margin
    assert guard.note(1.6)
    assert guard.at == pytest.approx(0.525)
    assert guard.note(-100.0)  # once tripped it stays
    assert guard.at == pytest.approx(0.525)


def test_a_reference_goes_before_what_is_expected():
    guard = Guard(margin=0.5, span=2, expected=0.0)
    assert not any(guard.note(7.0, 6.9) for _ in range(9))
    guard.note(7.0, 6.0)
    assert guard.note(7.0, 6.0)


def test_no_number_is_as_bad_as_can_be():
    guard = Guard(span=2, expected=1.0)
    assert not guard.note(math.nan)
    assert guard.note(0.0)


def test_a_guard_made_from_a_regression_set(far):
    model, text = far
    nll = losses(full_of(model), text)[0].tolist()
    most = max(sum(nll[i : i + 16]) / 16 for i in range(len(nll) - 15))
    guard = Guard.calibrated(full_of(model), [text[:, :9], text], margin=0.1, span=16)
    assert guard.expected == pytest.approx(most)
    assert not any(map(guard.note, nll))
    with pytest.raises(ValueError, match="no text has 16 predicted tokens"):
        Guard.calibrated(full_of(model), [text[:, :16]], span=16)


def test_guards_that_cannot_be():
    with pytest.raises(ValueError, match="nothing to compare with"):
        Guard().note(1.0)
    for wrong in ({"margin": 0}, {"span": 0}, {"margin": math.nan}):
        with pytest.raises(ValueError, match="give a margin of more than 0 nats"):
            Guard(**wrong)


# The switch.


@pytest.mark.parametrize("size", [1, 5])
def test_a_quality_drop_trips_the_guard_and_everything_is_kept_again(far, size):
    model, text = far
    guard = guard_for(model, margin=0.5, span=16)
    switch = Switch(Contender("window", model, Window(16)), guard, clock=iter(range(99)).__next__)
    before = switch.nbytes
    assert before == 16 * 512
    logits = torch.cat(run(switch, text, size), 1)
    fell = switch.fell
    assert fell is not None
    assert 16 < fell.seen < N
    assert (fell.tokens_again, fell.seconds) == (fell.seen, 1)
    assert fell.excess > 0.5
    assert fell.bytes_before == before + 8 * fell.seen
    assert fell.bytes_after == (512 + 8) * fell.seen
    assert switch.nbytes == (512 + 8) * N
    assert switch.now.name == "full"
    whole = model(text)
    torch.testing.assert_close(logits[:, fell.seen - size :], whole[:, fell.seen - size :],
                               atol=1e-3, rtol=1e-3)  # fmt: skip
    torch.testing.assert_close(logits[:, :16], whole[:, :16], atol=1e-3, rtol=1e-3)
    middle = slice(16, fell.seen - size)
    assert (logits[:, middle] - whole[:, middle]).abs().max() > 1  # it was wrong in between


@pytest.mark.parametrize("shadow", [False, True])
def test_a_healthy_run_trips_nothing(sure, shadow):
    model, text = sure
    guard = guard_for(model, margin=0.25, span=64)
    switch = Switch(Contender("sinks", model, Sinks(60, 4)), guard, shadow=shadow)
    logits = torch.cat(run(switch, text), 1)
    assert switch.fell is None
    assert len(guard.last) == 64
    own = Contender("sinks", model, Sinks(60, 4))
    torch.testing.assert_close(logits, model.step(text, own.caches()), atol=1e-3, rtol=1e-3)
    assert switch.nbytes == 64 * 512 + 8 * N + shadow * 512 * N


def test_a_shadow_makes_falling_back_cost_nothing_then(far):
    model, text = far
    switch = Switch(Contender("window", model, Window(16)), Guard(0.5, 16), shadow=True)
    logits = torch.cat(run(switch, text, given=False), 1)  # a shadow may judge its own words
    fell = switch.fell
    assert fell is not None
    assert fell.tokens_again == 0
    assert fell.bytes_before == 16 * 512 + (512 + 8) * fell.seen
    assert fell.bytes_after == (512 + 8) * fell.seen
    torch.testing.assert_close(logits[:, fell.seen - 1 :], model(text)[:, fell.seen - 1 :],
                               atol=1e-3, rtol=1e-3)  # fmt: skip


def test_own_words_are_not_judged(far):
    model, text = far
    guard = guard_for(model, margin=0.5, span=16)
    switch = Switch(Contender("window", model, Window(16)), guard)
    run(switch, text, given=False)
    assert switch.fell is None
    assert not guard.last


def test_the_guard_is_told_the_surprise_at_every_token(far):
    model, text = far
    one = Contender("window", model, Window(16))
    expected = losses(one, text)[0].tolist()
    for size in (1, 7):
        guard = Guard(margin=1e9, span=10**6, expected=0.0)
        run(Switch(one, guard), text, size)
        assert list(guard.last) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("shape", [(2, 3), (1, 0), (3,)])
def test_a_switch_takes_one_row(far, shape):
    model, _ = far
    switch = Switch(full_of(model), Guard(expected=1.0))
    with pytest.raises(ValueError, match=r"give one row, \(1, n\)"):
        switch.step(torch.zeros(shape, dtype=torch.int64))


# Roll-out.


def test_a_regression_set(far, sure):
    model, text = far
    assert passes(full_of(model), [text], 0.01) == (True, 0.0)
    passed, excess = passes(Contender("window", model, Window(16)), [text, text[:, :80]], 0.5)
    assert not passed
    assert excess > 0.5
    assert passes(Contender("sinks", sure[0], Sinks(60, 4)), [sure[1]], 0.1)[0]
    with pytest.raises(ValueError, match="regression set is empty"):
        passes(full_of(model), [], 1)


def test_a_rollout_grows_with_good_requests_and_stops_at_a_bad_one():
    rollout = Rollout(shares=(0.1, 1.0), enough=3)
    assert not any(map(rollout.chosen, range(999)))
    rollout.begin(True)
    some = [n for n in range(2000) if rollout.chosen(n)]
    assert 140 < len(some) < 260  # 200, give or take four standard deviations
    assert some == [n for n in range(2000) if rollout.chosen(n)]
    assert some != [n for n in range(2000) if Rollout((0.1,), seed=1, stage=0).chosen(n)]
    for n in some[:3]:
        rollout.report(n, tripped=False)
    assert rollout.share == 1
    assert all(map(rollout.chosen, range(99)))
    rollout.report(7, tripped=True)
    assert rollout.stopped == "the guard tripped in request 7"
    assert not any(map(rollout.chosen, range(999)))


def test_a_rollout_does_not_begin_without_its_regression_set():
    rollout = Rollout()
    rollout.begin(False)
    assert rollout.share == 0
    rollout.begin(True)
    assert rollout.share == 0


# Memory.


@pytest.mark.parametrize(
    ("sizes", "alarms"),
    [
        (lambda t: 1000, False),
        (lambda t: 1000 + 8 * t, True),
        (lambda t: min(8 * t, 8 * 64), False),  # fills, then stays
        (lambda t: 1000 + 100 * (t % 64), False),  # a saw
        (lambda t: 1000 + 100 * (t // 96), False),  # rises with pauses between
    ],
)
def test_creeping_memory(sizes, alarms):
    creep = Creep(after=64)
    rang = [creep.note(t, sizes(t)) for t in range(1, 400)]
    assert (creep.alarm is not None) == alarms
    if alarms:
        first = next(t for t, says in enumerate(rang, 1) if says)
        assert first == 65 + 3 * 32
        assert (
            f"{1000 + 8 * first:,} bytes after {first} tokens, 8 more with each token" in rang[-1]
        )


def test_what_is_known_to_grow_is_allowed():
    creep = Creep(after=64, allowed=8)
    assert not any(creep.note(t, 1000 + 8 * t) for t in range(1, 400))
    assert any(creep.note(t, 1000 + 9 * t) for t in range(400, 800))
    with pytest.raises(ValueError, match="give 0, 1, 1 or more"):
        Creep(after=-1)


def test_real_caches_do_not_creep(sure):
    model, text = sure
    for policy, alarms in ((Sinks(12, 4), False), (Pooled(8, 4, 4, 4), False), (Full(), True)):
        caches, creep = Contender("", model, policy).caches(), Creep(after=16, every=8)
        for part in torch.split(text, 1, dim=1):
            model.step(part, caches)
            creep.note(int(caches[0].seen[0]), sum(cache.nbytes for cache in caches))
        assert (creep.alarm is not None) == alarms


# The sweep.

SHORT = Sweep(tolerance=0.05, smallest=8, summaries=4, blocks=(4, 2), timed=0)


@pytest.fixture(scope="module")
def calm():
    model = random_model(*CALM)
    return model, own_text(full_of(model), N)


def test_the_path_goes_from_full_to_smaller_windows_to_summaries(calm, tmp_path):
    model, text = calm
    runs = sweep(model, text, tmp_path / "a.jsonl", SHORT)
    stages = [run.stage for run in runs]
    windows = [run for run in runs if "window" in run.stage]
    assert stages[:2] == ["full", "large window"]
    assert windows[0].policy == "sinks:64+4"
    assert stages == sorted(stages, key=["full", "large window", "smaller window",
                                         "summary interval"].index)  # fmt: skip
    assert [run.within for run in windows] == [True] * (len(windows) - 1) + [False]
    last = int(windows[-1].policy.split(":")[1].split("+")[0])
    assert [run.policy for run in runs if run.stage == "summary interval"] == [
        f"pooled:{last - 4}+4+4x{block}" for block in (4, 2)
    ]
    for run in runs:
        assert run.more == pytest.approx(run.perplexity / runs[0].perplexity - 1)
    assert all(run.cache_bytes == windows[-1].cache_bytes for run in runs[-2:])  # equal memory
    best = smallest_within(runs)
    assert best.within
    assert all(run.cache_bytes >= best.cache_bytes for run in runs if run.within)


def test_no_summaries_are_tried_where_every_window_does(calm, tmp_path):
    model, text = calm
    runs = sweep(model, text, tmp_path / "a.jsonl", Sweep(tolerance=9, smallest=16, timed=0))
    assert [run.policy for run in runs] == ["full", "sinks:64+4", "sinks:32+4", "sinks:16+4"]
    assert smallest_within(runs) == runs[-1]


def test_a_sweep_that_was_stopped_goes_on(calm, tmp_path, monkeypatch):
    model, text = calm
    whole = sweep(model, text, tmp_path / "whole.jsonl", SHORT)
    import importlib

    module = importlib.import_module("ringkv_edu.evaluate.sweep")
    real, done, path = module._run, [], tmp_path / "stopped.jsonl"

    def run_two(*given):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given[3])
        return real(*given)

    monkeypatch.setattr(module, "_run", run_two)
    with pytest.raises(KeyboardInterrupt):
        sweep(model, text, path, SHORT)
    assert len(read_lines(path)[0]) == 3  # the head and two runs
    with path.open("a") as file:
        file.write('{"event":"run","stage":"smal')  # the machine stopped while it wrote
    done.clear()
    monkeypatch.setattr(module, "_run", lambda *given: done.append(given[3]) or real(*given))
    assert sweep(model, text, path, SHORT) == whole
    assert done == [run.stage for run in whole[2:]]
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    done.clear()
    assert sweep(model, text, path, SHORT) == whole
    assert done == []


def test_a_log_belongs_to_one_sweep(calm, far, tmp_path):
    model, text = calm
    path = tmp_path / "a.jsonl"
    sweep(model, text[:, :64], path, SHORT)
    before = path.read_bytes()
    for other, says in (
        ((model, text[:, 1:65], SHORT), "text"),
        ((far[0], text[:, :64], SHORT), "weights"),
        ((model, text[:, :64], Sweep(tolerance=0.5)), "settings"),
    ):
        with pytest.raises(Problem, match=rf"another sweep \({says} differ\)"):
            sweep(other[0], other[1], path, other[2])
    assert path.read_bytes() == before
    with pytest.raises(Problem, match="needs 64 or more"):
        sweep(model, text[:, :30], path)


def test_a_sweep_times_its_runs(calm, tmp_path):
    model, text = calm
    runs = sweep(model, text[:, :64], tmp_path / "a.jsonl", Sweep(timed=2, smallest=16))
    assert all(run.speed["steps"] == 2 and run.speed["prompt"] == 64 for run in runs)


# Files of lines.


def test_lines_survive_what_tears_them(tmp_path):
    path = tmp_path / "a.jsonl"
    with Lines(path) as log:
        log.write({"a": 1})
        assert path.read_text() == '{"a":1}\n'  # there at once
        log.write({"b": float("nan")})
    with path.open("a") as file:
        file.write('{"c":')
    with Lines(path, sync=True) as log:
        assert log.kept[0] == {"a": 1}
        assert math.isnan(log.kept[1]["b"])
        log.write({"d": 4})
    assert [json.loads(line) for line in path.read_text().splitlines()][2] == {"d": 4}


@pytest.mark.parametrize("line", ["{", "[1]", "3", "\x00", ""])
def test_a_broken_line_is_named(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(Problem, match=r"a\.jsonl, line 2: no JSON object"):
        read_lines(path)
