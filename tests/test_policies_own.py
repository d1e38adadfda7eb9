"""What is particular to each policy: what it sees, what it costs, what it refuses."""

import math

import pytest
import torch

from ringkv_edu import RewindError
from ringkv_edu.model import Config, Decoder
from ringkv_edu.policies import (
    Full,
    Learned,
    Pooled,
    Recompute,
    Scored,
    Shape,
    Sinks,
    State,
    Window,
)
from ringkv_edu.policies.learned import LearnedRing
from ringkv_edu.policies.recompute import cost
from ringkv_edu.summaries import Fold, fold, spans

from .test_policies import SHAPE, learned_of, tokens_of

GROUP = SHAPE.heads // SHAPE.kv_heads


def attention_of(q, rows):
    """One query, some (key, value, number to add): one softmax, in plain Python."""
    scores = [float(q @ k) * SHAPE.scale + extra for k, _, extra in rows]
    weights = [math.exp(s - max(scores)) for s in scores]
    return sum(w * v for w, (_, v, _) in zip(weights, rows)) / sum(weights)


# Learned pooling


@pytest.mark.parametrize("how", [Fold(3, 4), Fold(2, 3, "least"), Fold(1, 1)], ids=repr)
def test_learned_shares_are_a_softmax_over_the_members(how):
    window, sinks, n = 4, 1, 30
    policy = Learned(window, sinks, *how)
    q, k, v = (x.double() for x in tokens_of(n, batch=1))
    learned = learned_of(policy).double()
    got = policy.whole(q, k, v, SHAPE, learned).detach()
    counts = ()
    for t in range(n):
        if t - window >= sinks:
            counts, _ = fold(counts, how)
        for head in range(SHAPE.heads):
            kv = head // GROUP
            keys, values = k[0, kv], v[0, kv]
            rows = [(keys[p], values[p], 0.0) for p in range(t + 1) if t - p < window or p < sinks]
            for members in spans(counts, sinks):
                some = list(members)
                logits = values[some] @ learned.value[kv] * SHAPE.head_dim**0.5
                share = logits.softmax(0).detach()
                extra = math.log(len(some)) + learned.bias[head].item()
                rows.append((share @ keys[some], share @ values[some], extra))
            torch.testing.assert_close(got[0, head, t], attention_of(q[0, head, t], rows))


def test_a_summary_remembers_its_denominator():
    policy = Learned(3, 0, 2, 4)
    q, k, v = tokens_of(40)
    learned = learned_of(policy)
    ring = policy.cache(SHAPE, 2, k, learned)
    ring.step(q, k, v)
    logits = learned.logits(v)
    for place, members in enumerate(spans(tuple(ring.counts[0].tolist()), 0)):
        wanted = logits[:, :, list(members)].logsumexp(-1)
        torch.testing.assert_close(ring.summary_logs[:, :, place, 0], wanted)


def test_without_learned_numbers_it_is_pooled():
    q, k, v = tokens_of(40)
    plain = Pooled(5, 1, 3, 4)
    zeros = Learned(5, 1, 3, 4)
    wanted = plain.whole(q, k, v, SHAPE)
    got = zeros.whole(q, k, v, SHAPE, zeros.parameters(SHAPE)).detach()
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(zeros.cache(SHAPE, 2, k).step(q, k, v), wanted, atol=2e-6, rtol=1e-5)


def learned_ring(slack=0, batch=2):
    ring = LearnedRing(4, batch, 2, 8, 3, 2, "oldest", 1, slack)
    ring.pooling = learned_of(Learned(4))
    return ring


def test_a_learned_ring_takes_rows_of_any_length():
    q, k, v = tokens_of(24, batch=3)
    ring = learned_ring(batch=3)
    alone = [learned_ring(batch=1) for _ in range(3)]
    lengths, out = [[9, 0, 5], [2, 12, 12], [12, 12, 1]], []
    done = [0, 0, 0]
    for some in lengths:
        now = [torch.stack([x[r, :, d : d + 12].clone() if d + 12 <= 24 else torch.cat([x[r, :, d:], x[r, :, : d - 12]], 1) for r, d in enumerate(done)]) for x in (q, k, v)]  # fmt: skip
        out = ring.step(*now, lengths=some)
        for row, (one, length) in enumerate(zip(alone, some)):
            if length:
                wanted = one.step(*(x[row : row + 1, :, :length].clone() for x in now))
                torch.testing.assert_close(out[row : row + 1, :, :length], wanted)
        done = [d + length for d, length in zip(done, some)]
    assert ring.seen.tolist() == [23, 24, 18]


def test_a_learned_ring_takes_back_its_slack():
    q, k, v = tokens_of(30)
    ring, straight = learned_ring(slack=3), learned_ring()
    ring.step(q[:, :, :20], k[:, :, :20], v[:, :, :20])
    ring.step(*(-x[:, :, :3] for x in (q, k, v)))  # drafts, taken back
    ring.rewind(3)
    straight.step(q[:, :, :20], k[:, :, :20], v[:, :, :20])
    rest = [x[:, :, 20:] for x in (q, k, v)]
    torch.testing.assert_close(ring.step(*rest), straight.step(*rest))
    with pytest.raises(RewindError):
        ring.rewind(8)


def test_rows_of_a_learned_ring_can_be_moved_and_kept():
    q, k, v = tokens_of(20)
    ring = learned_ring()
    ring.step(q, k, v)
    more = [x[:, :, :1].clone() for x in (q, k, v)]
    copy = LearnedRing.from_state_dict(ring.state_dict())
    copy.pooling = ring.pooling
    both = LearnedRing.stack([ring.select([1]), ring.select([0])])
    wanted = ring.step(*more)
    torch.testing.assert_close(copy.step(*more), wanted)
    turned = [x.flip(0) for x in more]
    torch.testing.assert_close(both.step(*turned), wanted.flip(0))
    copy.reorder([1, 0])
    assert torch.equal(copy.summary_logs, ring.summary_logs.flip(0))
    copy.reset([0])
    assert not copy.summary_logs[0].any()
    assert copy.summary_logs[1].any()
    assert ring.nbytes == Pooled(4, 1, 3, 2).cache(SHAPE, 2, k).nbytes + ring.summary_logs.nbytes


# State


def test_the_state_is_what_has_left_and_nothing_else():
    policy, n = State(4, 1, 3), 15
    q, k, v = (x.double() for x in tokens_of(n, batch=1))
    learned = learned_of(policy).double()
    got = policy.whole(q, k, v, SHAPE, learned).detach()
    at = torch.arange(n)[None]
    asked, kept = (learned(x, at, SHAPE.base).detach() for x in (q, k))
    for t in range(n):
        left = [p for p in range(1, n) if t - p >= 4]
        for head in range(SHAPE.heads):
            kv = head // GROUP
            found = {p: float(asked[0, head, t] @ kept[0, kv, p]) for p in left}
            rows = [(k[0, kv, p], v[0, kv, p], 0.0) for p in range(t + 1) if p not in found]
            if left:
                mass = sum(found.values())
                value = sum(a * v[0, kv, p] for p, a in found.items()) / mass
                extra = math.log(mass) + learned.weight[head].item()
                rows.append((torch.zeros(8).double(), value, extra))
            torch.testing.assert_close(got[0, head, t], attention_of(q[0, head, t], rows))


def test_a_bucket_does_not_depend_on_the_place():
    learned = learned_of(State(4))
    from ringkv_edu import rotate

    x = torch.randn(1, 2, 1, 8)
    rows = [learned(rotate(x, [p], 10000.0), torch.tensor([[p]]), 10000.0) for p in (0, 7, 5000)]
    torch.testing.assert_close(rows[0], rows[1])
    torch.testing.assert_close(rows[0], rows[2], atol=1e-4, rtol=1e-3)


def test_a_state_cannot_be_taken_back():
    q, k, v = tokens_of(9)
    policy = State(4, 1)
    cache = policy.cache(SHAPE, 2, k, learned_of(policy))
    first = cache.step(*(x[:, :, :5] for x in (q, k, v)))
    cache.rewind(2)
    again = cache.step(*(x[:, :, 3:5] for x in (q, k, v)))
    torch.testing.assert_close(again, first[:, :, 3:])
    cache.step(*(x[:, :, 5:] for x in (q, k, v)))
    before = cache.sums.clone()
    with pytest.raises(RewindError, match="4 tokens have left the window and are in the state"):
        cache.rewind(1)
    assert torch.equal(cache.sums, before)
    assert cache.seen.tolist() == [9, 9]


def test_bytes_of_a_state_do_not_grow():
    q, k, v = tokens_of(300)
    policy = State(4, 1, 6)
    cache = policy.cache(SHAPE, 2, k, learned_of(policy))
    assert cache.nbytes == 4 * 2 * 2 * (2 * 5 * 8 + 6 * 8 + 6)
    cache.step(q, k, v)
    assert cache.nbytes == 4 * 2 * 2 * (2 * 5 * 8 + 6 * 8 + 6)


# Recompute


def decoder(policies, vocab=40, seed=0):
    torch.manual_seed(seed)
    sizes = {"dim": 32, "heads": 4, "kv_heads": 2, "head_dim": 8, "hidden": 48}
    model = Decoder(Config(vocab=vocab, layers=len(policies), **sizes), policies).double()
    for p in model.parameters():
        p.data += 0.2 * torch.randn_like(p)
    return model


def keys_of(model, tokens):
    """Every layer's keys and values of a whole text."""
    found = []
    for block in model.blocks:
        block.attention.register_forward_pre_hook(
            lambda module, given: found.append(torch.cat(module.key_values(given[0], given[1]), -1))
        )
    with torch.no_grad():
        model(tokens)
    return found


@pytest.mark.parametrize("windows", [[4, 3, 5], [4, None, 3]], ids=repr)
def test_exactly_so_many_tokens_change_a_key(windows):
    """Change each token in turn: those that change the keys of one are those it costs."""
    model = decoder([Full() if w is None else Window(w) for w in windows])
    n, position = 20, 15
    tokens = torch.randint(0, 40, (1, n))
    changed = tokens.repeat(n, 1)
    changed[range(n), range(n)] = (changed[range(n), range(n)] + 7) % 40
    found = keys_of(model, torch.cat([tokens, changed]))
    for layer, keys in enumerate(found):
        moved = (keys[1:, :, position] - keys[0, :, position]).abs().amax((1, 2)) > 1e-9
        needed = cost(layer + 1, windows, position)
        assert moved.nonzero()[:, 0].tolist() == list(range(position + 1 - needed, position + 1))


def test_the_highest_score_of_any_head_of_a_group_chooses():
    q = torch.tensor([[3.0, 0.0], [-9.0, 1.0], [0.0, -1.0], [0.0, -2.0]])[None, :, None]
    index = torch.eye(2).expand(1, 2, 2, 2)  # a head scores token 0 by its first number, 1 by its
    left = torch.ones(1, 2, dtype=torch.bool)
    best, found = Recompute(4, 1).choose(q, index, left)
    assert best[0, :, 0, 0].tolist() == [0, 0]  # 3 is the most of the first group, 0 of the second
    assert found.all()
    best, found = Recompute(4, 3).choose(q, index, torch.tensor([[False, True]]))
    assert best[0, :, 0, 0].tolist() == [1, 1]
    assert found[0, :, 0].tolist() == [[True, False], [True, False]]


def test_what_a_key_costs():
    assert [cost(layer, [16] * 4, 1000) for layer in (1, 2, 3, 4)] == [1, 16, 31, 46]
    assert cost(3, [16] * 4, 9) == 10
    assert [cost(2, [None, 16], p) for p in (5, 500)] == [6, 501]
    with pytest.raises(ValueError, match="layer is 4 and there are 2 windows"):
        cost(4, [16, 16], 3)
    with pytest.raises(ValueError, match="layer is 0"):
        cost(0, [16], 3)


@pytest.mark.parametrize(
    "below", [[], [Window(4)], [Window(4), Window(3)], [Sinks(4, 1)]], ids=repr
)
def test_recomputed_keys_are_the_evicted_ones(below):
    model = decoder([*below, Recompute(4, 3)])
    tokens = torch.randint(0, 40, (2, 20))
    wanted = keys_of(model, tokens)[-1]
    caches = model.caches(2)
    model.step(tokens, caches)
    cache = caches[-1]
    cache.recomputed = 0
    rows, places = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 3, 11, 15])
    got = torch.cat(cache._run(rows, places), -1)
    torch.testing.assert_close(got, wanted[rows, :, places])
    bounded = all(type(policy) is Window for policy in below)
    windows = [policy.window if bounded else None for policy in below]
    assert cache.recomputed == sum(cost(len(below) + 1, windows, int(p)) for p in places)


def test_recomputing_is_counted_and_ids_are_all_it_keeps():
    model = decoder([Window(4), Recompute(4, 2)])
    caches = model.caches(1)
    tokens = torch.randint(0, 40, (1, 12))
    model.step(tokens[:, :4], caches)
    assert (caches[1].scanned, caches[1].recomputed) == (0, 0)
    grown = []
    for token in tokens[:, 4:].split(1, 1):
        scanned, recomputed = caches[1].scanned, caches[1].recomputed
        model.step(token, caches)
        grown.append((caches[1].scanned - scanned, caches[1].recomputed - recomputed))
    assert [one for one, _ in grown] == [1, 2, 3, 4, 5, 6, 7, 8]  # every evicted token, each step
    assert all(0 < more <= 2 * 2 * 4 for _, more in grown)  # key/value heads, chosen, cost
    assert grown[0][1] == 1  # both heads chose the only token there is, the text's first
    assert caches[1].nbytes == caches[0].nbytes + 2 * 12


def test_large_vocabularies_have_larger_ids():
    assert decoder([Recompute(4)], 32768).caches()[0].ids.dtype == torch.int16
    assert decoder([Recompute(4)], 32769).caches()[0].ids.dtype == torch.int32


def test_with_all_chosen_nothing_is_lost():
    model, full = decoder([Window(4), Recompute(4, 50)]), decoder([Window(4), Full()])
    tokens = torch.randint(0, 40, (2, 20))
    torch.testing.assert_close(model(tokens), full(tokens))


def test_recompute_needs_a_decoder():
    q, k, v = tokens_of(3)
    with pytest.raises(
        ValueError, match="3 tokens came and this cache was told the ids of none; use it"
    ):
        Recompute(4).cache(SHAPE, 2, k).step(q, k, v)


# Score-based keeping


def test_scored_keeps_recent_tokens_sinks_and_those_most_looked_at():
    """The rule once more with lists: one sequence, each key/value head on its own."""
    policy, n = Scored(7, 3, 1), 40
    q, k, v = (x.double() for x in tokens_of(n, batch=1))
    got = policy.whole(q, k, v, SHAPE)
    for kv in range(SHAPE.kv_heads):
        score = {}
        for t in range(n):
            if len(score) == 7:
                leave = min((p for p in score if 1 <= p <= t - 3), key=score.__getitem__)
                del score[leave]
            score[t] = 0.0
            for head in range(kv * GROUP, (kv + 1) * GROUP):
                held = sorted(score)
                weights = (k[0, kv, held] @ q[0, head, t] * SHAPE.scale).softmax(0)
                torch.testing.assert_close(got[0, head, t], weights @ v[0, kv, held])
                for p, weight in zip(held, weights.tolist()):
                    score[p] += weight


def test_positions_travel_with_their_keys():
    q, k, v = tokens_of(40)
    cache = Scored(7, 3, 1).cache(SHAPE, 2, k)
    cache.step(q, k, v)
    for row in range(2):
        for kv in range(2):
            held = cache.positions[row, kv].tolist()
            assert {0, 37, 38, 39} <= set(held)
            assert len(set(held)) == 7
            assert torch.equal(cache.keys[row, kv], k[row, kv, held])
            assert torch.equal(cache.values[row, kv], v[row, kv, held])
    assert set(cache.positions[0, 0].tolist()) != set(cache.positions[0, 1].tolist())
    assert cache.nbytes == 2 * 2 * 7 * (2 * 8 * 4 + 8 + 4)


def test_scored_without_a_choice_is_the_window_with_its_sinks():
    q, k, v = tokens_of(40)
    for policy, same in [(Scored(7, 5, 2), Sinks(5, 2)), (Scored(40, 3), Full())]:
        torch.testing.assert_close(policy.whole(q, k, v, SHAPE), same.whole(q, k, v, SHAPE))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Scored(7, 6, 2), "budget is 7, less than 6 recent tokens and 2 sinks together"),
        (lambda: Scored(7, 0), "recent is 0"),
        (lambda: State(0), "window is 0"),
        (lambda: State(4, 0, 0), "features is 0"),
        (lambda: Recompute(4, 0), "chosen is 0"),
        (lambda: Learned(4, 0, 0).how, "summaries is 0"),
        (lambda: Learned(4, 0, 2, 2, "newest").how, "merge is 'newest'"),
    ],
    ids=str,
)
def test_sizes_that_cannot_be(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "policy", [Learned(40), State(40), Scored(40, 3), Scored(40, 40)], ids=repr
)
def test_with_a_window_as_long_as_the_text_nothing_is_lost(policy):
    q, k, v = tokens_of(40)
    got = policy.whole(q, k, v, SHAPE, learned_of(policy)).detach()
    torch.testing.assert_close(got, Full().whole(q, k, v, SHAPE))


def test_shapes_without_groups():
    shape = Shape(2, 2, 8, 10000.0)
    make = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 20, 8, generator=make) for _ in range(3))
    for policy in (Learned(4), State(4), Scored(6, 3)):
        learned = policy.parameters(shape)
        whole = policy.whole(q, k, v, shape, learned).detach()
        cache = policy.cache(shape, 1, k, learned)
        torch.testing.assert_close(cache.step(q, k, v), whole, atol=2e-6, rtol=1e-5)
