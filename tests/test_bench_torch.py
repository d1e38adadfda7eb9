"""`ringkv bench torch`: what is measured is right, is what the report says, and is all of it.

No test here looks at how long anything took.
"""

from __future__ import annotations

import gc
import itertools
import json
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ringkv_edu import oracle_attention
from ringkv_edu.bench import machine, torch_alone, torch_compare
from ringkv_edu.bench.foreign_peers import Dynamic, MlxPeer, Static
from ringkv_edu.bench.measure import fastest, timings
from ringkv_edu.bench.torch_attentions import candidates
from ringkv_edu.bench.torch_compare import PEERS
from ringkv_edu.bench.torch_options import Options
from ringkv_edu.bench.torch_peers import DRIFT, Growing, Linear, Ring, Rolled, Sliced
from ringkv_edu.bench.torch_stage import report
from ringkv_edu.cli import main

HEADS, HEAD_DIM = 4, 8
TINY = [
    "--heads",
    "4",
    "--head-dim",
    "8",
    "--kv-heads",
    "2,4",
    "--windows",
    "8,128",
    "--seconds",
    "0.01",
]
NAMES = ["TorchRing", "cat, growing", "cat, last W kept", "roll of a static buffer", "2W linear buffer",
         "transformers, dynamic", "transformers, static", "mlx-lm RotatingKVCache"]  # fmt: skip
EVERY = list(candidates("cuda"))


def history(kv_heads: int, n: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    made = torch.Generator().manual_seed(n)
    return [
        torch.randn(1, heads, n, HEAD_DIM, generator=made, dtype=torch.float64).to(dtype)
        for heads in (HEADS, kv_heads, kv_heads)
    ]


def expected(tokens: list[torch.Tensor], window: int, first: int) -> np.ndarray:
    return oracle_attention(*(x[0].double().numpy() for x in tokens), window, first=first)


def outputs(peer, tokens, window: int, attention: str = "sdpa", prepare: bool = True) -> np.ndarray:
    """Decode what follows the first ``window`` tokens."""
    out = []
    for t in range(window, tokens[0].shape[2]):
        if prepare:
            peer.prepare()
        token = (x[:, :, t : t + 1] for x in tokens)
        out.append(peer.step(*token, candidates("cuda")[attention])[0, :, 0].numpy())
    return np.stack(out, axis=1)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("window", [2, 3, 8])
@pytest.mark.parametrize("kind", [Ring, *PEERS])
def test_every_peer_is_a_window_over_several_rounds(kind, window: int, kv_heads: int) -> None:
    tokens = history(kv_heads, 5 * window)
    peer = kind(*(x[:, :, :window] for x in tokens[1:]))
    np.testing.assert_allclose(
        outputs(peer, tokens, window), expected(tokens, window, window), atol=1e-12
    )


@pytest.mark.parametrize("kind", [Ring, *PEERS])
def test_a_peer_is_a_copy(kind) -> None:
    tokens = history(2, 8)
    keys, values = (x[:, :, :4].clone() for x in tokens[1:])
    peer = kind(keys, values)
    keys.zero_(), values.zero_()
    np.testing.assert_allclose(outputs(peer, tokens, 4), expected(tokens, 4, 4), atol=1e-12)


def test_writes_alone_store_what_a_step_stores() -> None:
    tokens = history(2, 20)
    for kind in (Ring, *PEERS):
        peer = kind(*(x[:, :, :4] for x in tokens[1:]))
        for t in range(4, 17):
            peer.prepare()
            peer.write(*(x[:, :, t : t + 1] for x in tokens[1:]))
        rest = [x[:, :, :17] for x in tokens]
        late = [torch.cat([a, b[:, :, 17:]], dim=2) for a, b in zip(rest, tokens)]
        np.testing.assert_allclose(outputs(peer, late, 17), expected(tokens, 4, 17), atol=1e-12)


def test_a_growing_cache_grows_until_it_is_cut() -> None:
    window = 2 * DRIFT
    tokens = history(2, window + 5)
    peer = Growing(*(x[:, :, :window] for x in tokens[1:]))
    whole = [x[:, :, 1:] for x in tokens]  # it begins with the newest W - 1
    found = outputs(peer, whole, window - 1, prepare=False)
    np.testing.assert_allclose(found, expected(whole, 10**6, window - 1), atol=1e-12)
    assert peer.keys.shape[2] == window + 4
    newest = peer.keys[:, :, -window + 1 :].clone()
    peer.prepare()
    assert torch.equal(peer.keys, newest)
    assert peer.keys.is_contiguous()
    for length in (window, window + 1, window + 2):
        peer.prepare()
        peer.write(*(x[:, :, :1] for x in tokens[1:]))
        assert peer.keys.shape[2] == length
    peer.prepare()
    assert peer.keys.shape[2] == window - 1


def test_a_short_ring_is_held_where_it_is() -> None:
    tokens = history(2, 40)
    ring = Ring(*(x[:, :, :4] for x in tokens[1:]), window=16)
    for t in range(4, 40):
        ring.prepare()
        assert ring.ring.seen.tolist() == [3]
        seen = [torch.cat([x[:, :, :3], x[:, :, t : t + 1]], dim=2) for x in tokens]
        out = ring.step(*(x[:, :, t : t + 1] for x in tokens))
        np.testing.assert_allclose(out[0].numpy(), expected(seen, 16, 3), atol=1e-12)


def test_a_linear_buffer_moves_once_in_w_plus_1_steps() -> None:
    tokens = history(2, 40)
    peer = Linear(*(x[:, :, :4] for x in tokens[1:]))
    moves = []
    peer.move = lambda: moves.append(t) or Linear.move(peer)
    for t in range(4, 40):
        peer.write(*(x[:, :, t : t + 1] for x in tokens[1:]))
    assert moves == list(range(8, 40, 5))
    assert peer.share == 1 / 5
    peer.fill()
    last = peer.keys[:, :, -3:].clone()
    peer.move()
    assert torch.equal(peer.keys[:, :, :3], last)
    assert peer.next == 3


def test_bytes_moved() -> None:
    """W = 99 tokens of 100 bytes, counted by hand."""
    assert Ring.moved(99, 100) == (9900, 100)
    for kind in (Growing, Sliced, Dynamic):  # copy 98 and attend to 99; write 99
        assert kind.moved(99, 100) == (19700, 9900)
    for kind in (Rolled, Static):  # roll, copy back, attend; the roll, the copy and one token
        assert kind.moved(99, 100) == (29700, 19900)
    assert Linear.moved(99, 100) == (9998, 198)  # 98 of 99 + 1 moved each way in 100 steps
    assert MlxPeer.moved(99, 100) == (9900, 100)


@pytest.mark.parametrize("attention", EVERY)
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize(
    ("dtype", "off"),
    [(torch.float64, 1e-12), (torch.float32, 1e-6), (torch.bfloat16, 3e-2), (torch.float16, 3e-3)],
)
def test_every_attention_is_attention(attention: str, kv_heads: int, dtype, off: float) -> None:
    tokens = history(kv_heads, 33, dtype)
    held = torch.cat([x[:, :, :1] for x in tokens[1:]] + tokens[1:], dim=2)
    views = held[:, :, 2:35], held[:, :, 35:]  # as slices of a longer buffer are
    assert not views[0].is_contiguous() or kv_heads == 1
    for keys, values in (tokens[1:], views):
        out = candidates("cuda")[attention](tokens[0][:, :, -1:], keys, values)
        assert out.dtype == dtype
        np.testing.assert_allclose(out[0].double().numpy(), expected(tokens, 33, 32), atol=off)


def test_what_is_offered() -> None:
    assert list(candidates("cpu")) == ["sdpa", "K q^T", "q K^T", "course"]
    assert list(candidates("cuda")) == ["sdpa", "K q^T", "q K^T", "sdpa gqa", "course"]


def test_mlx_is_a_window_too() -> None:
    tokens = history(2, 20, torch.float32)
    each = [tuple(x[:, :, t : t + 1] for x in tokens) for t in range(4, 20)]
    peer = MlxPeer(*(x[:, :, :4] for x in tokens[1:]), each)
    found = [peer.given(peer.step()) for _ in each[:9]]
    peer.write()
    found += [torch.zeros_like(found[0])] + [peer.given(peer.step()) for _ in each[10:]]
    want = expected(tokens, 4, 4)
    want[:, 9] = 0  # was written only
    np.testing.assert_allclose(torch.cat(found, dim=2)[0].numpy(), want, atol=1e-6)


# Taking turns.


def test_timings_are_what_the_clock_says() -> None:
    seen = []
    ticks = {"a": iter([5e-6, 1e-6, 3e-6] * 9), "b": iter([2e-6] * 27)}

    def clock(call) -> float:
        return next(ticks[call()])

    found = timings(
        {"a": lambda: seen.append("a") or "a", "b": lambda: seen.append("b") or "b"}, 0,
        in_a_row=3, rounds=2, before={"a": lambda: seen.append("before a")}, clock=clock,
    )  # fmt: skip
    a, b = found["a"], found["b"]
    assert (round(a.least, 9), round(a.median, 9), a.calls) == (1, 3, 6)
    assert (round(b.least, 9), round(b.median, 9), b.calls) == (2, 2, 6)
    assert seen.count("a") == seen.count("before a") == 7  # once to warm up
    assert all(seen[i - 1] == "before a" for i, what in enumerate(seen) if what == "a")


def test_a_turn_after_a_move_does_not_count() -> None:
    """The move leaves its keys in a cache, and the ring has no such call before its own."""
    ticks, calls = itertools.cycle([1e-6, 1e-6, 5e-6, 4e-6]), itertools.count(-1)
    found = timings(
        {"": lambda: None}, 0.01, in_a_row=2, rounds=1,
        before={"": lambda: next(calls) % 4 == 0}, clock=lambda call: next(ticks),
    )[""]  # fmt: skip
    assert (round(found.least, 9), round(found.first, 9)) == (4, 5)
    always = timings({"": lambda: None}, 0, in_a_row=2, rounds=3, before={"": lambda: True})[""]
    assert always.calls == 6  # there are no others


def test_turns_change_and_all_have_as_many() -> None:
    seen = []
    timings({name: lambda n=name: seen.append(n) for name in "abcd"}, 0, rounds=20)
    rounds = {"".join(seen[i : i + 4]) for i in range(0, len(seen), 4)}
    assert all(sorted(one) == list("abcd") for one in rounds)
    assert len(rounds) > 5


def test_garbage_is_collected_again_after_an_error() -> None:
    def fails() -> None:
        if not gc.isenabled():
            raise ValueError

    with pytest.raises(ValueError):
        timings({"": fails}, 1)
    assert gc.isenabled()
    assert list(fastest({"x": lambda: None}, 0.001)) == ["x"]


def test_a_call_on_cuda_is_timed_between_two_events(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Event:
        def __init__(self, enable_timing: bool) -> None:
            self.name = "start" if not seen else "end"
            seen.append(self.name + " made")

        def record(self) -> None:
            seen.append(self.name)

        def synchronize(self) -> None:
            seen.append(self.name + " waited for")

        def elapsed_time(self, end: Event) -> float:
            return 2.5 if (self.name, end.name) == ("start", "end") else -1

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: seen.append("idle"))
    timed = machine.clock("cuda")
    assert timed(lambda: seen.append("call")) == 0.0025  # an event counts in milliseconds
    assert seen[2:] == ["idle", "start", "call", "end", "end waited for"]


def test_reading_reads_all_of_it() -> None:
    for dtype in (torch.float32, torch.float64):
        assert float(machine.read(torch.ones(3, 5, dtype=dtype))) == 15
    for dtype in (torch.bfloat16, torch.float16):  # two at a time, the last of an odd number left
        pairs = torch.zeros(7, dtype=dtype)
        pairs.view(torch.int16)[1:6:2] = torch.tensor([0x3F80] * 3, dtype=torch.int16)  # 1.0
        assert float(machine.read(pairs)) == 3


# The report.


@pytest.fixture(scope="module", autouse=True)
def _little_is_read() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "READ", 2**24)  # half a GiB takes a second to make
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("bench")
    options = Options(
        kv_heads=(2, 4), heads=4, head_dim=8, windows=(8, 128), seconds=0.01, threads=1,
        json=str(folder / "found.json"), plot=str(folder / "plot.png"),
    )  # fmt: skip
    threads, lines, said = torch.get_num_threads(), [], []
    torch.set_num_threads(2)
    try:
        found = report(options, lines.append, said.append)
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(threads)
    return SimpleNamespace(folder=folder, found=found, lines=lines, said=said, threads=after)


def test_the_report_has_every_row(tiny: SimpleNamespace) -> None:
    heads = [i for i, line in enumerate(tiny.lines) if "key/value heads, window" in line]
    assert [tiny.lines[i].split(":")[0] for i in heads] == [
        f"{kv} key/value heads, window {w}" for kv in (2, 4) for w in (8, 128)
    ]
    for i in heads:
        rows = tiny.lines[i + 2 : i + 2 + len(NAMES)]
        assert all(row.startswith(name + "  ") for row, name in zip(rows, NAMES, strict=True))
        assert {row.rsplit("  ", 1)[1].strip() for row in rows[1:-1]} <= set(candidates("cpu"))
        assert [rows[0].split()[-1], rows[-1].split()[-1]] == ["own", "own"]
    assert max(map(len, tiny.lines)) <= 100
    text = "\n".join(tiny.lines)
    assert "most/least" in text
    assert "tokens seen" in text
    assert "left out" not in text
    assert "MiB are read at" in text
    assert "held at the length of the window" in text


def test_progress_counts_to_the_end(tiny: SimpleNamespace) -> None:
    assert [line.split(":")[0] for line in tiny.said] == [f"{i} of 8" for i in range(1, 9)]
    assert "5 of 8: 2 key/value heads, window 128" in tiny.said


def test_threads_are_set_and_put_back(tiny: SimpleNamespace) -> None:
    assert tiny.found["environment"]["threads"] == 1
    assert tiny.threads == 2
    assert torch.is_grad_enabled()


def test_json_has_every_number(tiny: SimpleNamespace) -> None:
    found = json.loads((tiny.folder / "found.json").read_text(encoding="utf-8"))
    assert set(found) == {
        "format",
        "options",
        "environment",
        "bandwidth",
        "writes",
        "sizes",
        "growth",
    }
    assert set(found["environment"]["packages"]) == {"numpy", "transformers", "mlx", "mlx-lm"}
    assert found["environment"]["torch"] == torch.__version__
    assert found["environment"]["cpu"]
    assert [(w["peer"], w["kv_heads"], w["window"]) for w in found["writes"]] == [
        (peer, kv, w)
        for kv in (2, 4)
        for peer in ("TorchRing", "2W linear buffer")
        for w in (8, 128)
    ]
    for size in found["sizes"]:
        assert size["kv_bytes"] == 2 * size["kv_heads"] * size["window"] * 8 * 4
        assert [row["peer"] for row in size["rows"]] == NAMES
        assert size["rows"][0]["to_ring"] == 1
        assert set(size["attention_alone"]) == set(candidates("cpu"))
        memory = size["kv_bytes"] / found["bandwidth"]["gb_per_s"] / 1e3
        for row in size["rows"]:
            check_row(row, size, memory)


def check_row(row, size, memory: float) -> None:
    step, ring = row["step"]["least_us"], size["rows"][0]["step"]["least_us"]
    assert row["to_ring"] == pytest.approx(step / ring)
    assert row["to_read"] == pytest.approx(step / size["read"]["least_us"])
    assert row["to_memory"] == pytest.approx(step / memory)
    for timing in (row["write"], row["step"], size["read"]):
        assert 0 < timing["least_us"] <= timing["median_us"]
        assert timing["calls"] >= 7
    if row["attention"] != "own":
        assert set(row["tried"]) == set(candidates("cpu"))
    if row["peer"] == Linear.name:
        share = row["move"]["least_us"] / (size["window"] + 1)
        for what in ("step", "write"):
            alone = row[f"{what}_without_move"]["least_us"]
            assert row[what]["least_us"] == pytest.approx(alone + share)


def test_growth_is_measured_at_every_length(tiny: SimpleNamespace) -> None:
    grown = tiny.found["growth"]
    assert (grown["kv_heads"], grown["window"]) == (2, 128)
    assert [row["seen"] for row in grown["rows"]] == [64, 128]
    for row in grown["rows"]:
        assert row["TorchRing"]["calls"] == row["cat, growing"]["calls"] >= 15
        assert row["cat, growing"]["attention"] in candidates("cpu")


def test_growth_holds_both_at_the_length_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = {Ring: [], Growing: []}

    def watched(kind):
        class Watched(kind):
            def step(self, *given):
                out = super().step(*given)
                held = self.ring.size.item() if kind is Ring else self.keys.shape[2]
                lengths[kind].append(held)
                return out

        return Watched

    for kind in lengths:
        monkeypatch.setattr(torch_alone, kind.__name__, watched(kind))
    options = Options(heads=4, head_dim=8, kv_heads=(2,), windows=(128, 512), seconds=0.01)
    grown = torch_alone.growth(options)
    seen = [row["seen"] for row in grown["rows"]]
    assert (grown["window"], seen) == (512, [64, 128, 256, 512])
    longest = [n + n // DRIFT for n in seen]
    allowed = {length for n, most in zip(seen, longest) for length in range(n, most + 1)}
    assert set(lengths[Growing]) == allowed  # 64, 65; 128 to 130 ...
    assert set(lengths[Ring]) == {length for length in allowed if length <= 512}


def test_lengths() -> None:
    assert torch_alone.lengths(Options(windows=(16,))) == [16]
    assert torch_alone.lengths(Options(windows=(64,))) == [64]
    assert torch_alone.lengths(Options(windows=(16, 100))) == [64, 100]
    assert torch_alone.lengths(Options()) == [2**i for i in range(6, 15)]


def test_the_plot_is_what_was_measured(tiny: SimpleNamespace) -> None:
    from ringkv_edu.bench.torch_plot import draw_growth

    assert (tiny.folder / "plot.png").read_bytes().startswith(b"\x89PNG\r\n")
    axes = draw_growth(tiny.found).axes[0]
    drawn = {tuple(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 2}
    for name in ("TorchRing", "cat, growing"):
        assert tuple(row[name]["least_us"] for row in tiny.found["growth"]["rows"]) in drawn
    assert {"TorchRing", "cat, growing", "window 128"} <= {text.get_text() for text in axes.texts}
    assert "1 thread" in axes.get_title()


def test_json_alone_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "torch", *TINY, "--dtype", "float64", "--json", "-"]) == 0
    seen = capsys.readouterr()
    found = json.loads(seen.out)
    assert seen.err == ""  # no progress where there is no terminal
    assert found["options"]["dtype"] == "float64"
    for size in found["sizes"]:
        assert [row["peer"] for row in size["rows"]] == NAMES[:-1]
        assert size["left_out"] == ["mlx-lm RotatingKVCache: not for float64"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves(capsys: pytest.CaptureFixture[str], dtype: str) -> None:
    assert main(["bench", "torch", *TINY, "--windows", "16", "--dtype", dtype]) == 0
    seen = capsys.readouterr().out
    assert all(seen.count(f"\n{name}  ") >= 2 for name in NAMES)
    assert "left out" not in seen


def test_progress_is_shown_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["bench", "torch", *TINY, "--windows", "8"]) == 0
    seen = capsys.readouterr()
    assert "\r4 of 6: 2 key/value heads, window 8 " in seen.err
    assert seen.err.endswith(" " * 70 + "\r")
    assert " of 6" not in seen.out


# What is left out, and why.


def compared(**changes) -> dict:
    plain = {"heads": 4, "head_dim": 8, "kv_heads": (2,), "windows": (8,), "seconds": 0.01}
    options = Options(**(plain | changes))
    return torch_compare.compare(options, options.kv_heads[0], options.windows[0])


def test_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(torch_compare, "version", none)
    size = compared()
    assert [row["peer"] for row in size["rows"]] == NAMES[:5]
    assert size["left_out"] == [
        "transformers, dynamic: transformers is not installed (pip install transformers)",
        "transformers, static: transformers is not installed (pip install transformers)",
        "mlx-lm RotatingKVCache: mlx-lm is not installed (pip install mlx-lm)",
    ]


def test_a_peer_that_is_wrong_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Backwards(Rolled):
        name = "backwards"

        def write(self, k, v):
            keys, values = super().write(k, v)
            return keys.flip(2), values  # each value is another key's

    class Broken(Rolled):
        name = "broken"

        def write(self, k, v):
            raise AttributeError("this release has no update")

    monkeypatch.setattr(torch_compare, "PEERS", (Backwards, Broken, Sliced))
    size = compared()
    assert [row["peer"] for row in size["rows"]] == ["TorchRing", Sliced.name, MlxPeer.name]
    assert size["left_out"][0].startswith("backwards: its output is off by ")
    assert size["left_out"][1] == "broken: AttributeError: this release has no update"


def test_what_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 2 * 2 * 8 * 8 * 4
    monkeypatch.setattr(torch_compare, "room", lambda device: 4.5 * size)  # data, ring, 2.5 more
    found = compared()
    assert [row["peer"] for row in found["rows"]] == [
        "TorchRing",
        "cat, growing",
        "roll of a static buffer",
    ]
    assert found["left_out"][0] == "cat, last W kept: it needs 0.00 GiB, and 0.00 GiB are left"
    assert len(found["left_out"]) == 5


def test_a_ring_that_does_not_fit_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch_compare, "room", lambda device: 2**29)
    assert main(["bench", "torch"]) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert (
        "window 16384 with 32 key/value heads needs 1.00 GiB, and 0.50 GiB may be used" in seen.err
    )


def test_writes_and_growth_keep_to_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(heads=4, head_dim=8, kv_heads=(2,), windows=(8, 1000), seconds=0.01)
    token = options.token(2)
    assert token == 2 * 2 * 8 * 4
    monkeypatch.setattr(torch_alone, "room", lambda device: 2 * 1008 * token)
    assert {row["peer"] for row in torch_alone.writes(options, 2)} == {"TorchRing"}
    assert torch_alone.lengths(options) == [64, 128, 256, 504]


def test_bandwidth_says_of_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "room", lambda device: 2**23)
    found = machine.read_bandwidth("cpu", 0.01)
    assert found["bytes"] == 2**22
    assert found["gb_per_s"] == pytest.approx(2**22 / found["least_us"] / 1e3)


# Wrong calls.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--device tpu", "--device is tpu; give one of cpu, cuda"),
        ("--dtype int8", "--dtype is int8; give one of float32, bfloat16, float16, float64"),
        ("--threads 0", "--threads is 0; give 1 to "),
        ("--threads 100000", "--threads is 100000; give 1 to "),
        ("--kv-heads 8,x", "--kv-heads is 8,x; give whole numbers with commas between"),
        ("--kv-heads 0", "--kv-heads is 0; give whole numbers with commas between"),
        ("--kv-heads 8,12", "--kv-heads has 12 and --heads is 32; --heads must be a multiple"),
        ("--heads 0", "--heads is 0; give a whole number from 1 to"),
        ("--head-dim -3", "--head-dim is -3; give a whole number from 1 to"),
        ("--windows=", "--windows is empty; give whole numbers"),
        ("--windows 1,256", "--windows is 1,256; give whole numbers with commas between, such as 256,1024, from 2"),
        ("--windows 256,99999999", "--windows is 256,99999999; give"),
        ("--windows 256;512", "--windows is 256;512; give"),
        ("--seconds 0", "--seconds is 0; give more than 0, at most 600"),
        ("--seconds nan", "--seconds is nan; give more than 0, at most 600"),
        ("--seconds 601", "--seconds is 601; give more than 0, at most 600"),
        ("--json no/such/file.json", "--json is no/such/file.json, and there is no folder no/such"),
        ("--json .", "--json is .; give the name of a file"),
        ("--json=", "--json is empty; give the name of a file"),
        ("--plot picture.svg", "--plot is picture.svg; give a file that ends in .png"),
        ("--plot no/picture.png", "and there is no folder no; make it first"),
    ],
)  # fmt: skip
def test_a_wrong_option_says_what_to_give(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "torch", *arguments.split()]) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert words in seen.err


def test_options_of_torch_are_not_for_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--device cpu", "--threads 0", "--kv-heads 8", "--json="):
        assert main(["bench", "numpy", *option.split()]) == 2
        name = option.split()[0].rstrip("=")
        assert f"{name} is for `ringkv bench torch`; leave it out" in capsys.readouterr().err


def test_no_cuda_device_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["bench", "torch", "--device", "cuda"]) == 2
    assert (
        "--device is cuda and torch finds no CUDA device here; give --device cpu"
        in capsys.readouterr().err
    )


def test_a_plot_needs_matplotlib(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ringkv_edu.bench.torch_options.find_spec", lambda name: None)
    assert main(["bench", "torch", "--plot", "x.png"]) == 2
    assert "--plot needs matplotlib" in capsys.readouterr().err


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_run_on_cuda(capsys: pytest.CaptureFixture[str]) -> None:
    for dtype in ("float16", "float32"):
        assert (
            main(["bench", "torch", *TINY, "--device", "cuda", "--dtype", dtype, "--json", "-"])
            == 0
        )
        found = json.loads(capsys.readouterr().out)
        assert found["environment"]["gpu"]
        for size in found["sizes"]:
            assert [row["peer"] for row in size["rows"]] == NAMES[:-1]
            assert size["left_out"] == ["mlx-lm RotatingKVCache: it is measured on the CPU only"]
