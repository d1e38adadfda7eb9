"""Where attention rests, and which of the first tokens a model cannot do without.

    python -m ringkv_edu.real.sinks TEXT_FILE sinks.json

One text, read whole under masks that no cache would have: so that what is lost is one thing at a
time. All have as many places as a window of 256: the last 256 - n tokens and n others. Lesson 07
shows the record.

Source: StreamingLLM (arXiv 2309.17453); S23, S43, S45.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..model import Decoder
from ..policies import Full, Policy, Shape, Sinks, Window
from ..policies.window import turned_nearer
from ..torch_joint import Part, joint_attention
from .load import smollm2
from .perplexity import ppl
from .record import about, write

__all__ = ["Kept", "Ranked", "Watched", "mass_of", "measured"]

Tensor = torch.Tensor
PLACES, TOKENS = 256, 1024
GLOBAL_EVERY = 6


@dataclass(frozen=True)
class Kept(Policy):
    """The last tokens, and those at positions ``first`` to ``last`` (not included) for ever.

    ``silent``: from query ``places`` on their values are taken for zeros, so that the weight they
    get is all that is left of them.
    """

    first: int = 0
    last: int = 0
    silent: bool = False
    places: int = PLACES
    name = "kept"

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        at = torch.arange(k.shape[2])
        query, key = at[:, None], at[None]
        near = query - key < self.places - (self.last - self.first)
        kept = (key >= self.first) & (key < self.last)
        part = Part(k, v, ((key <= query) & (near | kept))[None])
        out = joint_attention(q, [part], shape.scale, sink)[0]
        if self.silent:
            quiet = v.clone()
            quiet[:, :, self.first : self.last] = 0
            late = joint_attention(q, [part._replace(values=quiet)], shape.scale, sink)[0]
            out = torch.where(query >= self.places, late, out)
        return out


@dataclass(frozen=True)
class Foreign(Policy):
    """The last tokens and token 0: from query ``places`` on the token 0 of the next row's text."""

    places: int = PLACES
    name = "foreign"

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        kept = Kept(0, 1, places=self.places)
        own = kept.whole(q, k, v, shape, learned, sink)
        keys, values = (torch.cat([x.roll(1, 0)[:, :, :1], x[:, :, 1:]], dim=2) for x in (k, v))
        other = kept.whole(q, keys, values, shape, learned, sink)
        return torch.where(torch.arange(k.shape[2])[:, None] >= self.places, other, own)


@dataclass(frozen=True)
class Ranked(Sinks):
    """Sinks as in lesson 07's case file: queries turned to their rank, keys to their positions."""

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``."""
        at = torch.arange(k.shape[2])[None]
        q = turned_nearer(q, at, self.window, self.sinks, shape.base)
        return Sinks(self.window, self.sinks).whole(q, k, v, shape, learned, sink)


@dataclass(frozen=True)
class Watched(Full):
    """Everything is kept, and what the first token gets is written into ``seen``."""

    seen: Any = None

    def whole(
        self, q: Tensor, k: Tensor, v: Tensor, shape: Shape, learned: Any = None, sink: Any = None
    ) -> Tensor:
        """See ``Policy.whole``; notes weights of queries from ``PLACES`` on, norms of values."""
        n = k.shape[2]
        mask = torch.arange(n) <= torch.arange(n)[:, None]
        out, (weights,) = joint_attention(q, [Part(k, v, mask[None])], shape.scale, sink)
        late, norms = weights[0, :, PLACES:], v[0].norm(dim=-1)
        self.seen.append(
            {
                "token_0": late[:, :, 0].mean().item(),
                "tokens_1_to_3": late[:, :, 1:4].sum(-1).mean().item(),
                "value_norm_0": norms[:, 0].mean().item(),
                "value_norm_others": norms[:, 4:].mean().item(),
            }
        )
        return out


def rows() -> Iterator[tuple[str, str, list[Policy]]]:
    """Give what is measured: a key, words, the policies of 30 layers."""
    one: list[tuple[str, str, Policy]] = [
        ("full", "everything", Full()),
        ("window", "the last 256", Window(PLACES)),
        ("sinks-1", "the last 255 and token 0", Kept(0, 1)),
        ("sinks-4", "the last 252 and tokens 0 to 3", Kept(0, 4)),
        ("next-4", "the last 252 and tokens 4 to 7", Kept(4, 8)),
        ("other-4", "the last 252 and tokens 100 to 103", Kept(100, 104)),
        ("silent-1", "the last 255 and token 0, its value taken for zeros", Kept(0, 1, True)),
        ("foreign-1", "the last 255 and another text's token 0", Foreign()),
        ("cache", "252 and 4 sinks, distances in the cache", Sinks(252, 4, "cache")),
        ("ranked", "252 and 4 sinks, queries at ranks, keys at positions", Ranked(252, 4)),
    ]
    for key, words, policy in one:
        yield key, words, [policy] * 30
    last = GLOBAL_EVERY - 1
    mixed: list[Policy] = [
        Full() if i % GLOBAL_EVERY == last else Window(PLACES) for i in range(30)
    ]
    yield "mixed", "every sixth layer everything, the others the last 256", mixed


def mass_of(model: Decoder, tokens: Tensor) -> list[dict[str, float]]:
    """Give, for each layer, the mean share of attention on token 0, and the norms of values."""
    seen: list[dict[str, float]] = []
    _losses(model, tokens, [Watched(seen=seen)] * len(model.blocks))
    return [{name: round(x, 4) for name, x in layer.items()} for layer in seen]


def measured(model: Decoder, ids: Sequence[int], command: str) -> dict[str, Any]:
    """Measure everything over the first ``TOKENS`` tokens; the next ones are the other text."""
    tokens, other = torch.tensor(ids[: 2 * TOKENS]).view(2, 1, TOKENS)
    found = []
    for key, words, policies in rows():
        both = torch.cat([tokens, other]) if key == "foreign-1" else tokens
        nll = _losses(model, both, policies)
        after = round(ppl(nll, PLACES + 1), 4)
        found.append({"key": key, "label": words, "perplexity": after})
        print(f"{words}: {after:.2f}", flush=True)
    how = {"tokens": TOKENS, "scored": f"{PLACES + 1}-{TOKENS}", "queries": f"{PLACES}-{TOKENS}"}
    return about(command) | how | {"rows": found, "layers": mass_of(model, tokens)}


@torch.no_grad()
def _losses(model: Decoder, tokens: Tensor, policies: Sequence[Policy]) -> Any:
    blocks: list[Any] = list(model.blocks)
    before = [block.attention.policy for block in blocks]
    try:
        for block, policy in zip(blocks, policies, strict=True):
            block.attention.policy = policy
        logits = model(tokens)[0, :-1]  # of the first row
    finally:
        for block, policy in zip(blocks, before, strict=True):
            block.attention.policy = policy
    found = torch.nn.functional.cross_entropy(logits, tokens[0, 1:], reduction="none")
    return found.double().numpy()


def main(text: Path, out: Path) -> None:
    """Measure a text of 1,024 tokens or more, and write the record."""
    model, tokenizer = smollm2()
    ids = tokenizer.encode(text.read_text(encoding="utf-8"), add_special_tokens=False).ids
    if len(ids) < 2 * TOKENS:
        raise SystemExit(f"{text.name} has {len(ids)} tokens; give a text of {2 * TOKENS} or more")
    command = f"python -m ringkv_edu.real.sinks {text.name} {out.name}"
    record = {"text": text.name} | measured(model, ids, command)
    write(out, record)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m ringkv_edu.real.sinks TEXT_FILE OUT.json")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
