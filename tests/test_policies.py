"""Every policy gives the same over a whole sequence and step by step, in a decoder, too."""

import pytest
import torch

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

SHAPE = Shape(heads=4, kv_heads=2, head_dim=8, base=10000.0)
POLICIES = [
    Full(),
    Window(5),
    Sinks(5, 2),
    Sinks(5, 2, "cache"),
    Pooled(5, 1, 3, 4),
    Pooled(5, 2, 3, 4, "least", "centre"),
    Learned(5, 0, 3, 4),
    Learned(5, 2, 2, 3, "least"),
    State(5, 0),
    State(5, 2, 7),
    Scored(8, 3, 2),
    Scored(5, 5),
]


def learned_of(policy, seed=1):
    """Make what a policy learns, with numbers that are not those it starts from."""
    learned = policy.parameters(SHAPE)
    make = torch.Generator().manual_seed(seed)
    for p in learned.parameters() if learned else ():
        p.data.normal_(generator=make)
    return learned


def tokens_of(n, seed=0, batch=2):
    """Draw queries, keys and values."""
    make = torch.Generator().manual_seed(seed)
    return [torch.randn(batch, h, n, 8, generator=make) for h in (4, 2, 2)]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("sink", [None, torch.tensor([0.5, -1.0, 0.0, 2.0])], ids=["", "sink"])
@pytest.mark.parametrize("cuts", [[40], [1] * 40, [7, 1, 12, 1, 1, 18]], ids=len)
def test_whole_and_steps_agree(policy, sink, cuts):
    q, k, v = tokens_of(40)
    learned = learned_of(policy)
    whole = policy.whole(q, k, v, SHAPE, learned, sink).detach()
    cache = policy.cache(SHAPE, 2, k, learned, sink)
    out = [cache.step(*one) for one in zip(*(x.split(cuts, 2) for x in (q, k, v)), strict=True)]
    torch.testing.assert_close(torch.cat(out, 2), whole, atol=2e-6, rtol=1e-5)
    assert cache.seen.tolist() == [40, 40]
    cache.reset()
    torch.testing.assert_close(cache.step(q, k, v), whole, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("policy", [*POLICIES, Recompute(5, 3)], ids=repr)
def test_a_decoder_decodes_as_it_was_trained(policy):
    torch.manual_seed(0)
    sizes = {"dim": 32, "layers": 3, "heads": 4, "kv_heads": 2, "head_dim": 8, "hidden": 48}
    model = Decoder(Config(vocab=30, **sizes, sink_logit=True), [policy, Full(), policy])
    for p in model.parameters():
        p.data += 0.1 * torch.randn_like(p)  # what starts at 0 counts, too
    tokens = torch.randint(0, 30, (2, 33))
    whole = model(tokens).detach()
    caches = model.caches(2)
    out = [model.step(part, caches) for part in tokens.split([10, 1, 1, 20, 1], 1)]
    torch.testing.assert_close(torch.cat(out, 1), whole, atol=1e-5, rtol=1e-4)
    loss = model(tokens).square().mean()
    loss.backward()
    assert all(p.grad is not None for p in model.parameters())


def test_a_plan_made_without_gradients_serves_training() -> None:
    q, k, v = tokens_of(23)
    policy = Pooled(4, 0, 2, 5)
    with torch.inference_mode():
        policy.whole(q, k, v, SHAPE)
    policy.whole(q.requires_grad_(), k.requires_grad_(), v, SHAPE).sum().backward()
    assert k.grad is not None


def test_as_many_policies_as_layers():
    sizes = {"dim": 8, "layers": 3, "heads": 2, "kv_heads": 1, "head_dim": 4, "hidden": 8}
    with pytest.raises(ValueError, match="2 policies for 3 layers"):
        Decoder(Config(vocab=5, **sizes), [Full(), Window(3)])
