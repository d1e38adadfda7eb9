"""The monitor writes what happens in a decode, and nothing that it does changes the decode."""

import itertools
import json
import math

import pytest
import torch

from ringkv_edu.evaluate import Contender, full_of, losses, own_text
from ringkv_edu.model import turn, turns_at
from ringkv_edu.monitor import draw_curves, read_log, record
from ringkv_edu.monitor.caches import capacity_of, counts_of, declared, held, reserved
from ringkv_edu.monitor.troubles import SURE, random_model
from ringkv_edu.monitor.work import ASKED, RATE, WorkClock
from ringkv_edu.policies import Full, Pooled, Shape, Sinks, Window
from ringkv_edu.problem import Problem

N, PROMPT, EVERY = 100, 10, 8


@pytest.fixture(scope="module")
def model():
    return random_model(*SURE)


@pytest.fixture(scope="module")
def text(model):
    return own_text(full_of(model), N)


@pytest.fixture(scope="module")
def log(model, text, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    clock = itertools.count().__next__
    record(Contender("mine", model, Pooled(16, 4, 4, 4)), text, path, PROMPT, every=EVERY,
           clock=clock)  # fmt: skip
    return read_log(path)


def test_every_step_is_in_the_log(log):
    run = log.run
    for one in (run, log.reference):
        assert [s["seen"] for s in one.steps] == [PROMPT, *range(PROMPT + 1, N)]
        assert [s["kind"] for s in one.steps] == ["prefill", *["decode"] * (N - PROMPT - 1)]
        assert one.event("end")["seen"] == N - 1
        assert one.event("alarm") is None
    assert [s["held"] for s in run.steps] == [[min(s["seen"], 20)] * 2 for s in run.steps]
    assert [s["bytes"] for s in run.steps] == [24 * 512] * len(run.steps)
    assert [s["bytes"] for s in log.reference.steps] == [512 * s["seen"] for s in run.steps]
    assert all(s["reserved"] >= s["bytes"] for s in run.steps + log.reference.steps)
    for s in run.steps:
        for counts in s["summaries"]:
            assert sum(counts) == max(0, s["seen"] - 20)
    assert log.reference.steps[-1]["summaries"] is None
    assert run.head["layers"][1] == {
        "policy": "pooled", "window": 16, "sinks": 4, "summaries": 4, "block": 4,
        "merge": "oldest", "pool": "rotated",
    }  # fmt: skip
    assert (run.capacities, run.bounded) == ([20, 20], [0, 1])
    assert (log.reference.capacities, log.reference.bounded) == ([None, None], [])
    assert run.head["token_bytes"] == 512
    assert run.head["weight_bytes"] == sum(4 * x.numel() for x in random_model().parameters())


def test_surprise_is_what_losses_say(log, model, text):
    for run, policy in ((log.run, Pooled(16, 4, 4, 4)), (log.reference, Full())):
        expected = losses(Contender("", model, policy), text)[0, PROMPT - 1 :].tolist()
        assert [s["nll"] for s in run.steps] == pytest.approx(expected, abs=2e-3)


def test_nothing_differs_before_the_first_eviction(log):
    early = [s["difference"] for s in log.run.steps if s["seen"] <= 20]
    late = [s["difference"] for s in log.run.steps if s["seen"] > 20]
    assert len(early) == 11
    assert max(early) < 1e-5
    assert max(late) > 1e-3


def test_steps_that_are_looked_into_are_not_timed(log):
    for run in (log.run, log.reference):
        looked = [i for i, s in enumerate(run.decode) if "inside" in s]
        assert looked == list(range(EVERY - 1, N - PROMPT - 1, EVERY))
        assert [i for i, s in enumerate(run.decode) if s["seconds"] is None] == looked
        assert all(s["seconds"] == 1 for s in run.timed)
        assert len(run.timed) == len(run.decode) - len(looked)


def test_what_is_inside(log, model, text):
    """Keys and values of layer 0 by hand; attention adds up to all."""
    layer = model.blocks[0].attention
    x = model.blocks[0].norm1(model.embed(text))
    keys = turn(layer._heads(layer.k(x)), turns_at(torch.arange(N), model.config, x)).double()
    values = layer._heads(layer.v(x)).double()
    first = log.run.first
    assert first["n"] == 4
    for name, whole in (("keys", keys), ("values", values)):
        some = whole[:, :, :4]
        expected = [some.mean(), some.std(correction=0), some.abs().max()]
        assert first[name][0] == pytest.approx([float(x) for x in expected], abs=1e-4)
        for s in log.run.decode:
            if "inside" in s:
                one = whole[:, :, s["seen"] - 1]
                assert s["inside"][name][0][2] == pytest.approx(float(one.abs().max()), abs=1e-4)
    for s in log.run.decode:
        if "inside" in s:
            assert all(sum(mass) == pytest.approx(1, abs=1e-5) for mass in s["inside"]["mass"])
            assert all(0 < weight <= 1 + 1e-6 for weight in s["inside"]["weights"])
            assert all(mass[2] > 0 for mass in s["inside"]["mass"]) or s["seen"] <= 20


def test_watching_changes_nothing(model, text, tmp_path):
    for every in (1, 0):
        record(Contender("", model, Sinks(16, 4)), text, tmp_path / f"{every}", PROMPT, every=every)
    looked, plain = (read_log(tmp_path / f"{every}").run for every in (1, 0))
    assert all("inside" in s for s in looked.decode)
    assert not any("inside" in s for s in plain.decode)
    for a, b in zip(looked.steps, plain.steps, strict=True):
        assert a["nll"] == pytest.approx(b["nll"], abs=1e-3)
        assert (a["bytes"], a["held"]) == (b["bytes"], b["held"])


def test_a_budget_stops_a_run(model, text, tmp_path):
    path = tmp_path / "a.jsonl"
    record(full_of(model), text, path, PROMPT, budget=512 * 40)
    log = read_log(path)
    assert log.run.seen == 41
    assert log.run.event("stop")["says"] == "out of memory: the caches take 20992 bytes of 20480"
    assert log.run.event("end") is None
    record(Contender("", model, Window(40)), text, tmp_path / "b", PROMPT, budget=512 * 40)
    assert read_log(tmp_path / "b").run.event("end")


@pytest.mark.parametrize("prompt", [0, N - 1, N, 500])
def test_a_prompt_leaves_something_to_decode(model, text, tmp_path, prompt):
    with pytest.raises(ValueError, match=f"prompt is {prompt} of {N} tokens"):
        record(full_of(model), text, tmp_path / "a", prompt)
    assert not (tmp_path / "a").exists()


# What caches tell.


@pytest.mark.parametrize(
    ("policy", "most", "size"),
    [(Full(), 30, None), (Window(7), 7, 7), (Sinks(7, 2), 9, 9), (Sinks(7, 2, "cache"), 9, 9),
     (Pooled(7, 2, 3, 4), 9, 9)],
)  # fmt: skip
def test_what_caches_tell(policy, most, size):
    shape = Shape(heads=2, kv_heads=1, head_dim=4, base=10000.0)
    x = torch.ones(1, 1, 1, 4)
    cache = policy.cache(shape, 1, x)
    assert capacity_of(declared(policy)) == size
    assert held(cache) == 0
    for n in range(1, 31):
        cache.step(torch.ones(1, 2, 1, 4), x, x)
        assert held(cache) == min(n, most)
        counts = counts_of(cache)
        assert counts is None or sum(counts) == n - held(cache)
    assert (counts is None) == (not isinstance(policy, Pooled))
    assert reserved([cache, cache]) == reserved([cache]) >= cache.nbytes


def test_reserved_counts_what_a_view_keeps_alive():
    class Cache:
        def __init__(self):
            self.keys = torch.zeros(100, 4)[-2:]
            self.inner = [self.keys[:1], {"v": torch.zeros(5)}]
            self.weight = torch.nn.Parameter(torch.zeros(1000))

    assert reserved([Cache()]) == 1600 + 20


def test_a_cache_that_tells_nothing():
    class Own:
        nbytes = 3

    assert held(Own()) is None
    assert counts_of(Own()) is None
    assert reserved([Own()]) == 0


# Reading.


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "holds no recorded steps"),
        ([{"event": "run", "run": "run"}], "holds no recorded steps"),
        ([{"event": "step", "run": "run"}], "line 1: no run has begun"),
        ([{"tokens": 4, "bytes": 9}], "line 1: no run has begun"),
        ([{"event": "run", "run": "run"}, {"event": "step", "run": "run", "n": 1}],
         "line 2: a step without kind, seen, seconds, bytes, batch, held"),
        ([{"event": "run", "run": "run"}] * 2, "line 2: a second 'run' begins"),
    ],
)  # fmt: skip
def test_files_that_are_no_logs(tmp_path, lines, says):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(Problem, match=says):
        read_log(path)


def test_a_log_that_was_cut_off_can_be_read(log, tmp_path):
    with pytest.raises(Problem, match="is no file"):
        read_log(tmp_path / "none")
    data = log.path.read_bytes()
    path = tmp_path / "a.jsonl"
    path.write_bytes(data[: len(data) // 2])
    cut = read_log(path)
    assert 20 < cut.run.seen < N - 1
    assert cut.run.steps == log.run.steps[: len(cut.run.steps)]


# Curves.


def test_curves_show_the_log(log, tmp_path):
    figure = draw_curves(log)
    memory, rate, surprise, peaks, mass, spread = figure.axes
    own, full = memory.lines
    assert own.get_ydata() == pytest.approx([24 / 2] * len(log.run.steps))
    assert full.get_ydata()[-1] == pytest.approx((N - 1) / 2)
    assert list(rate.lines[0].get_ydata()) == [1.0] * (len(log.run.timed) // 16)
    assert surprise.lines[0].get_ydata()[0] == log.run.steps[0]["nll"]
    last = [s["nll"] for s in log.run.steps][-17:]
    assert surprise.lines[0].get_ydata()[-1] == pytest.approx(sum(last) / len(last))
    assert surprise.lines[2].get_xdata() == [20, 20]
    looked = [s for s in log.run.decode if "inside" in s]
    assert list(peaks.lines[1].get_ydata()) == [s["inside"]["peaks"][1] for s in looked]
    shares = [line.get_ydata()[-1] for line in mass.lines]
    assert sum(shares) == pytest.approx(100)
    labels = [line.get_label() for line in spread.lines]
    assert labels == ["keys", "keys of the first 4", "values", "values of the first 4"]
    figure.savefig(tmp_path / "a.png")


# The clock that counts work.


def test_work_is_what_is_read_and_written():
    x, w = torch.ones(3, 10), torch.ones(10, 20)
    with WorkClock() as clock:
        x.t(), x[1:], x.view(30)
        assert clock() == 0
        x @ w
    assert clock() == pytest.approx(ASKED + 4 * (30 + 200 + 60) / RATE)


def test_the_same_work_takes_the_same_time(model, text):
    def took(policy):
        with WorkClock() as clock:
            model.step(text, Contender("", model, policy).caches())
        return clock()

    took(Full())  # tables that are made once
    assert took(Full()) == took(Full()) > 0
    assert math.isfinite(took(Sinks(16, 4)))
