"""What `evaluate` says of contenders is what a slow and obvious computation says."""

import json
import math
from types import SimpleNamespace

import pytest
import torch

from ringkv_edu import policies
from ringkv_edu.evaluate import (
    Asked,
    Contender,
    contenders,
    evaluate,
    full_of,
    losses,
    name_of,
    needle,
    own_text,
    policies_of,
    policy_of,
    quality,
    speed,
)
from ringkv_edu.evaluate.mass import Looker, watching
from ringkv_edu.evaluate.plots import draw
from ringkv_edu.evaluate.speed import TURN
from ringkv_edu.evaluate.text import of_report, of_size
from ringkv_edu.model import Decoder
from ringkv_edu.monitor.troubles import random_model
from ringkv_edu.policies import Full, Pooled, Shape, Sinks, Window
from ringkv_edu.problem import Problem
from ringkv_edu.summaries import Fold, fold
from ringkv_edu.visibility import visible

SHAPE = Shape(heads=4, kv_heads=2, head_dim=8, base=10000.0)
POLICIES = [Full(), Window(5), Sinks(5, 2), Sinks(5, 2, "cache"), Pooled(5, 2, 3, 4)]
SINK = torch.tensor([0.5, -1.0, 0.0, 2.0])


@pytest.fixture(scope="module")
def model():
    return random_model()


@pytest.fixture(scope="module")
def text(model):
    return own_text(full_of(model), 120)


def tokens_of(n, seed=0, batch=2):
    """Draw queries, keys and values."""
    make = torch.Generator().manual_seed(seed)
    return [torch.randn(batch, h, n, 8, generator=make) for h in (4, 2, 2)]


# Attention: looking changes nothing, and what is seen is right.


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("sink", [None, SINK], ids=["", "sink"])
@pytest.mark.parametrize("cuts", [[1] * 30, [7, 1, 12, 1, 9]], ids=len)
def test_looking_changes_nothing(policy, sink, cuts):
    q, k, v = tokens_of(30)
    seen, plain = (policy.cache(SHAPE, 2, k, None, sink) for _ in range(2))
    looker = Looker(2)
    for one in zip(*(x.split(cuts, 2) for x in (q, k, v)), strict=True):
        with watching(looker):
            out = seen.step(*one)
        torch.testing.assert_close(out, plain.step(*one), atol=2e-6, rtol=1e-5)
    assert looker.queries == 2 * 4 * 30
    assert sum(looker.mass) == pytest.approx(1, abs=1e-5) if sink is None else sum(looker.mass) < 1


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_attention_mass_by_hand(policy):
    n, first = 30, 2
    q, k, v = tokens_of(n, batch=1)
    cache, looker = policy.cache(SHAPE, 1, k), Looker(first)
    for one in zip(*(x.split(1, 2) for x in (q, k, v)), strict=True):
        with watching(looker):
            cache.step(*one)
    expected, peak, weight = by_hand(policy, q, k, first)
    assert looker.peak == pytest.approx(peak, abs=1e-5)
    assert looker.weight == pytest.approx(weight, abs=1e-5)
    assert list(looker.mass) == pytest.approx(expected, abs=1e-5)


def by_hand(policy, q, k, first):
    """Weights of every query of every head, one at a time."""
    n, window, sinks = q.shape[2], getattr(policy, "window", 10**9), getattr(policy, "sinks", 0)
    sums, peak, top = [0.0, 0.0, 0.0], -math.inf, 0.0
    for head in range(4):
        keys = k[0, head // 2].double()
        for t in range(n):
            query = q[0, head, t].double()
            exact = [p for p in range(t + 1) if visible(t, p, window, sinks)]
            scores = [float(near(policy, query, t, p) @ keys[p]) / math.sqrt(8) for p in exact]
            members = folded(policy, t)
            scores += [
                float(query @ keys[some].mean(0)) / math.sqrt(8) + math.log(len(some))
                for some in members
            ]
            weights = torch.tensor(scores, dtype=torch.float64).softmax(0).tolist()
            peak, top = max(peak, *scores), max(top, *weights)
            for p, w in zip(exact, weights, strict=False):
                sums[p >= first] += w
            sums[2] += sum(weights[len(exact) :])
    return [x / (4 * n) for x in sums], peak, top


def near(policy, query, t, p):
    """Turn a query to where it meets a sink: StreamingLLM's distances."""
    if not isinstance(policy, Sinks) or policy.positions == "absolute" or p >= policy.sinks:
        return query
    back = max(0, t - (policy.sinks + policy.window - 1))
    angles = -back * 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    a, b = query[:4], query[4:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()])


def folded(policy, t):
    if not isinstance(policy, Pooled):
        return []
    counts = ()
    for _ in range(max(0, t + 1 - policy.window - policy.sinks)):
        counts, _ = fold(counts, Fold(policy.summaries, policy.block))
    out, at = [], policy.sinks
    for n in counts:
        out.append(list(range(at, at + n)))
        at += n
    return out


# Contenders.


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_policy_under_a_model_is_a_model_with_that_policy(model, text, policy):
    own = Decoder(model.config, policy)
    own.load_state_dict(model.state_dict())
    logs = own(text)[0].double().log_softmax(-1)
    expected = -logs[:-1].gather(-1, text[0, 1:, None])[:, 0]
    for chunk in (1, 7, 256):
        found = losses(Contender("", model, policy), text, chunk)
        torch.testing.assert_close(found[0], expected, atol=1e-3, rtol=1e-3)
    assert (losses(Contender("", own), text)[0] - expected).abs().max() < 1e-3


def test_policies_of_layers_that_differ(model, text):
    mixed = Decoder(model.config, [Window(9), Full()])
    mixed.load_state_dict(model.state_dict())
    found = losses(Contender("", model, [Window(9), Full()]), text)
    torch.testing.assert_close(found, losses(Contender("", mixed), text))
    with pytest.raises(ValueError, match="mine has 3 policies for 2 layers"):
        Contender("mine", model, [Full()] * 3).caches()


class Learning(Window):
    name = "learning"

    def parameters(self, shape):
        return torch.nn.Linear(1, 1)


def test_what_learns_needs_its_own_model(model):
    with pytest.raises(ValueError, match="mine: learning learns, and this model was not trained"):
        Contender("mine", model, Learning(4)).caches()
    trained = Decoder(model.config, Learning(4))
    assert len(Contender("mine", trained, Learning(4)).caches()) == 2
    assert len(Contender("mine", trained, Window(4)).caches()) == 2


# Quality.


def test_quality(model, text):
    who = [full_of(model), *contenders(model, [Window(16), Pooled(8, 4, 4, 4)])]
    found = quality(who, text)
    for one in who:
        nll = losses(one, text)[0]
        torch.testing.assert_close(torch.tensor(found[one.name].nll), nll, atol=1e-3, rtol=1e-3,
                                   check_dtype=False)  # fmt: skip
        assert found[one.name].perplexity() == pytest.approx(math.exp(nll.mean()), rel=1e-3)
        assert found[one.name].perplexity(60) == pytest.approx(math.exp(nll[59:].mean()), rel=1e-3)
        again = quality(who, text, chunk=11)[one.name]
        assert again.perplexity() == pytest.approx(found[one.name].perplexity(), rel=1e-3)
        assert again.agreed == found[one.name].agreed
    full, window, pooled = (found[one.name] for one in who)
    assert (full.agreement, full.mean_divergence) == (1, 0)
    assert full.peak_bytes == 119 * 2 * 2 * 2 * 16 * 4  # tokens, layers, K and V, heads, numbers
    assert window.peak_bytes == 16 * 512
    assert pooled.peak_bytes == 16 * 512
    assert window.perplexity() > pooled.perplexity() > full.perplexity()
    assert window.mean_divergence > pooled.mean_divergence > 0
    assert window.agreement < pooled.agreement < 1
    assert window.mass.sinks == window.mass.summaries == 0
    assert pooled.mass.summaries > 0
    assert sum(pooled.mass) == pytest.approx(1, abs=1e-5)


def test_agreement_and_divergence_by_hand(model, text):
    own = Decoder(model.config, Window(16))
    own.load_state_dict(model.state_dict())
    p, q = (m(text)[0, :-1].detach().double().log_softmax(-1) for m in (model, own))
    found = quality([full_of(model), *contenders(model, [Window(16)])], text)["window:16"]
    assert found.agreed == int((p.argmax(-1) == q.argmax(-1)).sum())
    assert found.mean_divergence == pytest.approx(
        float((p.exp() * (p - q)).sum(-1).mean()), rel=1e-3
    )


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (9,)])
def test_quality_takes_one_text(model, shape):
    with pytest.raises(ValueError, match=r"give one text, \(1, n\), n >= 2"):
        quality([full_of(model)], torch.zeros(shape, dtype=torch.int64))


def test_own_text_is_the_models_own(model):
    text = own_text(full_of(model), 300, seed=3)
    assert torch.equal(text, own_text(full_of(model), 300, seed=3))
    assert not torch.equal(text, own_text(full_of(model), 300, seed=4))
    logs = model(text)[0, :-1].double().log_softmax(-1)
    entropy = -(logs.exp() * logs).sum(-1)
    surprise = -logs.gather(-1, text[0, 1:, None])[:, 0]
    noise = (surprise - entropy).std() / math.sqrt(len(entropy))
    assert abs(float((surprise - entropy).mean())) < 5 * float(noise)


# Tasks.


def test_asked(model, text):
    likeliest = model(text)[0].argmax(-1)
    answers = torch.full_like(text, -1)
    answers[0, [40, 70, 71, 100]] = likeliest[[40, 70, 71, 100]]
    answers[0, 71] = (answers[0, 71] + 1) % 64
    for chunk in (1, 9, 256):
        score = Asked("t", text, answers, 0.1).score(full_of(model), chunk)
        assert (score.right, score.asked, score.accuracy) == (3, 4, 0.75)
        logs = model(text)[0].double().log_softmax(-1)
        expected = sum(float(logs[t, answers[0, t]]) for t in (40, 70, 71, 100)) / 4
        assert score.log_probability == pytest.approx(expected, rel=1e-3)
        assert score.peak_bytes == 120 * 512
        assert sum(score.mass) == pytest.approx(1, abs=1e-5)


def test_needle():
    task = needle([1, 2, 3, 4], [7, 8], [9], [5, 6], depth=0.5)
    assert task.tokens.tolist() == [[1, 2, 7, 8, 3, 4, 9, 5]]
    assert task.answers.tolist() == [[-1, -1, -1, -1, -1, -1, 5, 6]]
    assert needle([1, 2], [7], [9], [5], 0).tokens.tolist() == [[7, 1, 2, 9]]
    assert needle([1, 2], [7], [9], [5], 1).tokens.tolist() == [[1, 2, 7, 9]]
    with pytest.raises(ValueError, match="depth is 2"):
        needle([1], [7], [9], [5], 2)
    with pytest.raises(ValueError, match="a question and an answer"):
        needle([1], [7], [], [5], 0)


def test_tasks_that_cannot_be():
    tokens = torch.zeros(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="asks nothing"):
        Asked("t", tokens, tokens - 1, 0)
    with pytest.raises(ValueError, match=r"tokens \(2, 3\) and answers \(2, 2\)"):
        Asked("t", tokens, tokens[:, :2], 0)
    with pytest.raises(ValueError, match=r"answers of t are torch\.float32"):
        Asked("t", tokens, tokens.float(), 0)


# Speed: who is called when, with a clock that counts.


class Tape:
    """A contender that notes whose turn it is."""

    def __init__(self, name, turns):
        self.name, self.turns, self.model = name, turns, self

    def caches(self, batch=1):
        self.turns.append((self.name, "caches"))
        return [SimpleNamespace(nbytes=10 * batch)]

    def step(self, tokens, caches, last=False):
        assert last
        caches[0].nbytes += tokens.numel()
        self.turns.append((self.name, tokens.shape[1]))
        return torch.zeros(*tokens.shape, 3)


def test_contenders_take_turns_in_a_shuffled_order():
    turns, clock = [], iter(range(10**6))
    who = [Tape(name, turns) for name in "abc"]
    found = speed(who, torch.zeros(2, 21, dtype=torch.int64), new=10, repeats=3, chunk=8,
                  clock=lambda: next(clock))  # fmt: skip
    for one in found.values():
        assert (len(one.prefills), len(one.steps), one.peak_bytes) == (3, 30, 20 + 42 + 20)
        assert one.as_dict() == {
            "prompt": 21, "batch": 2, "ttft_least_s": 1, "ttft_median_s": 1, "prefills": 3,
            "tpot_least_s": 1, "tpot_median_s": 1, "steps": 30, "tokens_per_s": 2, "peak_bytes": 82,
        }  # fmt: skip
    rounds = [turns[i : i + len(turns) // 4] for i in range(0, len(turns), len(turns) // 4)]
    orders = set()
    for one in rounds:
        prefill, decode = one[:12], one[12:]
        for name in "abc":
            at = prefill.index((name, "caches"))
            assert prefill[at : at + 4] == [(name, n) for n in ("caches", 8, 8, 5)]
        names = [name for name, _ in decode]
        while names:
            turn = names[: 3 * min(TURN, len(names) // 3)]
            each = len(turn) // 3
            order = turn[::each]
            assert sorted(order) == ["a", "b", "c"]
            assert turn == [name for name in order for _ in range(each)]
            orders.add("".join(order))
            names = names[3 * each :]
    assert len(orders) > 2


@pytest.mark.parametrize("wrong", [{"new": 0}, {"repeats": 0}])
def test_speed_measures_something(model, text, wrong):
    with pytest.raises(ValueError, match="give 1 or more of each"):
        speed([full_of(model)], text, **wrong)


# The whole.


@pytest.fixture(scope="module")
def found(model, text):
    answers = torch.full_like(text, -1)
    answers[0, -5:] = model(text)[0, -5:].argmax(-1)
    who = [full_of(model), *contenders(model, [Window(16), Pooled(8, 4, 4, 4)])]
    return evaluate(who, text, [Asked("recall", text, answers, 0.125)], [20, 100], new=2, repeats=1)


def test_a_report_is_json_and_complete(found):
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [row["name"] for row in found["rows"]] == ["full", "window:16", "pooled:8+4+4x4"]
    full, window, pooled = found["rows"]
    assert full["tasks"]["recall"]["accuracy"] == 1
    assert window["tasks"]["recall"]["accuracy"] < 1
    assert [one["prompt"] for one in pooled["speed"]] == [20, 100]
    assert [one["peak_bytes"] for one in full["speed"]] == [22 * 512, 102 * 512]
    assert [one["peak_bytes"] for one in window["speed"]] == [16 * 512] * 2


def test_the_table_says_what_was_found(found):
    lines = list(of_report(found))
    assert max(map(len, lines)) <= 100
    row = found["rows"][1]
    (line,) = [line for line in lines if line.startswith("window:16") and "8.0 KiB" in line and
               f"{row['perplexity']:.2f}" in line]  # fmt: skip
    assert line.split()[-6:] == ["0", "%", "100", "%", "0", "%"]
    assert any(line.startswith("after 100 tokens, 1 row:") for line in lines)
    assert "recall: 5 answers in 1 texts; guessing gets 12.5 %" in lines


@pytest.mark.parametrize(
    ("n", "says"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 * 2**20, "3.00 MiB")]
)
def test_sizes(n, says):
    assert of_size(n) == says


def test_the_picture_shows_what_was_found(found, tmp_path):
    figure = draw(found)
    memory, recall, time = figure.axes
    for row, line in zip(found["rows"], memory.lines, strict=True):
        assert line.get_label() == row["name"]
        assert line.get_xydata().tolist() == [[row["cache_bytes"] / 1024, row["perplexity"]]]
    for row, line in zip(found["rows"], time.lines, strict=True):
        assert list(line.get_xdata()) == [20, 100]
        assert line.get_ydata()[1] == pytest.approx(1e3 * row["speed"][1]["tpot_least_s"])
    assert [line.get_ydata()[0] for line in recall.lines[:3]] == [
        row["tasks"]["recall"]["accuracy"] for row in found["rows"]
    ]
    figure.savefig(tmp_path / "a.png")
    with pytest.raises(ValueError, match="nothing was measured"):
        draw({"rows": [{"name": "x"}], "options": {}})


def test_what_cannot_be_evaluated(model, text):
    one = full_of(model)
    with pytest.raises(ValueError, match="nothing is asked"):
        evaluate([one])
    with pytest.raises(ValueError, match="each its own name"):
        evaluate([one, one], text)
    with pytest.raises(ValueError, match="each its own name"):
        evaluate([], text)
    with pytest.raises(ValueError, match=r"lengths are \[5, 900\] and there are 120 tokens"):
        evaluate([one], text, lengths=[5, 900])


# Names.


@pytest.mark.parametrize(
    "name",
    ["full", "window:256", "sinks:252+4", "sinks-cache:252+4", "pooled:220+4+32x16",
     "pooled-centre:220+0+32x16", *(["scored:256/128+4"] if hasattr(policies, "Scored") else [])],
)  # fmt: skip
def test_names_are_read_and_written(name):
    assert name_of(policy_of(name)) == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("windows:4", "no policy is called 'windows:4'"),
        ("window", "write it like window:256"),
        ("window:4+2", "write it like window:256"),
        ("full:3", "write it like full"),
        ("pooled-centre:4", "write it like pooled-centre:220"),
        ("window:0", "has window 0; give 1 or more"),
        ("pooled:4+0+0x2", "has summaries 0; give 1 or more"),
        ("window:99999999999", "has window 99999999999"),
    ],
)
def test_names_that_are_none(text, says):
    with pytest.raises(Problem, match=says.replace("+", r"\+")):
        policy_of(text)
    with pytest.raises(Problem, match="no policies were given"):
        policies_of(" , ")


def test_a_policy_given_twice_runs_once():
    assert list(policies_of("full, window:4,full")) == ["full", "window:4"]
