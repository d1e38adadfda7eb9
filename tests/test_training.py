"""Training by name, the shipped weights, and `ringkv train`."""

import json
import math
from pathlib import Path

import pytest
import torch

from ringkv_edu import recall, training
from ringkv_edu.cli import main
from ringkv_edu.training import NAMED, TRAINED, accuracy, build, load, save, train
from ringkv_edu.training_report import averages, bar, curve

RESULTS = json.loads((TRAINED / "results.json").read_text(encoding="utf-8"))
FRESH = 12345  # a seed of texts that nothing else here uses


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """One thread, and a run's own accuracy on few texts."""
    monkeypatch.setattr(training, "TEXTS", 40)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", NAMED)
def test_a_seed_gives_the_same_run(name):
    told = []
    a = train(name, 5, 3, lambda *given: told.append(given))
    before = torch.random.get_rng_state()
    b = train(name, 5, 3)
    assert torch.equal(torch.random.get_rng_state(), before)  # torch's own stream is left alone
    assert a.losses == b.losses
    assert a.accuracy == b.accuracy
    assert told == [(i + 1, 3, loss) for i, loss in enumerate(a.losses)]
    assert a.losses != train(name, 6, 3).losses
    assert [block.attention.policy for block in a.model.blocks] == list(NAMED[name].policies)
    assert a.cpu_seconds > 0


def test_training_moves_every_number():
    for name in NAMED:
        start, run = build(name, 1), train(name, 1, 2)
        for key, x in run.model.state_dict().items():
            assert not torch.equal(x, start.state_dict()[key]), (name, key)


def test_only_answers_count_in_the_accuracy():
    class Oracle(torch.nn.Module):
        """Says the answer to a question that it looked up, and is wrong in every ``miss``-th text."""

        def __init__(self, miss):
            super().__init__()
            self.miss = miss

        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, recall.VOCAB)
            for row, text in enumerate(tokens.tolist()):
                words = recall.words(text)
                told = dict(w[1:].split("=") for w in words if "=" in w)
                for p, w in enumerate(words):
                    if "?" in w:
                        value = int(told[w[1:-1]]) if row % self.miss else 9
                        logits[row, p, (recall.ANSWER + value) % recall.VOCAB] = 1
            return logits

    assert accuracy(Oracle(10**9), 0, 300) == 1 - 8 * 2 / (300 * 8)  # row 0 of both portions
    assert accuracy(Oracle(5), 0, 300) == 0.8


@pytest.mark.parametrize("name", NAMED)
def test_shipped_weights_are_as_good_as_they_are_said_to_be(name):
    """On fresh texts, to within 8 standard errors of as many single answers.

    The 8 answers of a text go together, so that is 3 or more of the errors there are.
    """
    model, said = load(name), RESULTS["shipped"][name]["accuracy"]
    error = math.sqrt(max(said * (1 - said), 0.002) / (300 * recall.QUESTIONS))
    assert abs(accuracy(model, FRESH, 300) - said) < 8 * error
    assert [block.attention.policy for block in model.blocks] == list(NAMED[name].policies)


@pytest.mark.parametrize("name", NAMED)
def test_caches_give_the_answers_that_were_trained(name):
    model = load(name)
    assert abs(accuracy(model, FRESH, 60) - accuracy(model, FRESH, 60, decode=True)) < 0.005
    said = RESULTS["shipped"][name]
    assert abs(said["accuracy"] - said["accuracy through caches"]) < 0.001
    tokens = torch.from_numpy(recall.draw(8, FRESH).tokens)
    caches = model.caches(8)
    whole = model(tokens).detach()
    steps = torch.cat([model.step(some, caches) for some in tokens.split([40, 1, 15, 8], 1)], 1)
    torch.testing.assert_close(steps, whole, atol=1e-4, rtol=1e-4)


def test_what_is_shipped_is_small_and_accounted_for():
    files = {file.name for file in TRAINED.iterdir()}
    assert files == {f"{name}.safetensors" for name in NAMED} | {"results.json"}
    assert sum(file.stat().st_size for file in TRAINED.iterdir()) <= 2_000_000
    runs = {(run["policy"], run["seed"]) for run in RESULTS["runs"]}
    assert runs == {(name, seed) for name in NAMED for seed in (100, 101, 102)}
    for run in RESULTS["runs"]:
        assert run["steps"] == NAMED[run["policy"]].steps
        assert run["cpu_seconds"] < 180
    assert not set(RESULTS["tuned on"]) & set(RESULTS["seeds"])


def test_the_results_are_those_that_the_course_tells():
    mean = {
        name: sum(run["accuracy"] for run in RESULTS["runs"] if run["policy"] == name) / 3
        for name in NAMED
    }
    assert mean["full"] >= 0.99
    assert mean["pooled"] >= 0.88
    assert mean["learned"] >= 0.98
    assert abs(mean["window"] - recall.CHANCE) < 0.02
    for run in RESULTS["longer"]["runs"]:  # a relay helps nobody whose fact is out of its reach
        assert run["steps"] == NAMED["pooled"].steps == NAMED["learned"].steps
        assert abs(run["beyond reach"] - recall.CHANCE) < 0.02


def test_a_saved_model_is_loaded_again(tmp_path: Path):
    run = train("state", 3, 2)
    file = tmp_path / "mine.safetensors"
    save(run.model, "state", file, {"seed": 3})
    again = load(file)
    for key, x in run.model.state_dict().items():
        assert torch.equal(again.state_dict()[key], x.half().float())
    assert load(str(file)).state_dict().keys() == again.state_dict().keys()


def test_what_is_no_model_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"pool is neither a trained policy .* nor a file"):
        load("pool")
    wrong = tmp_path / "wrong.safetensors"
    wrong.write_bytes(b"no weights at all")
    with pytest.raises(ValueError, match=r"wrong.safetensors holds no model of `ringkv train`"):
        load(wrong)
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(2)}, wrong)
    with pytest.raises(ValueError, match=r"no policy is called ''"):
        load(wrong)
    save_file({"x": torch.zeros(2)}, wrong, {"policy": "full"})
    with pytest.raises(ValueError, match="holds no model"):
        load(wrong)
    with pytest.raises(ValueError, match="no policy is called 'ful'; give one of full, window"):
        train("ful", 0)
    with pytest.raises(ValueError, match="steps is 0"):
        train("full", 0, 0)
    with pytest.raises(ValueError, match="seed is -1"):
        train("full", -1, 1)


def test_the_curve_in_text():
    assert averages([4.0, 2.0, 1.0, 1.0], 2) == [3.0, 1.0]
    assert averages([], 5) == []
    assert averages([1.0, 2.0, 3.0], 9) == [1.0, 2.0, 3.0]
    assert curve([8.0, 4.0, 0.0]) == "█▅▁"
    assert curve([0.0, 0.0]) == "▁▁"
    assert curve([1.0, math.nan]) == "█?"
    assert bar("full", 3, 6, 1.234) == "full [############............] step 3 of 6, loss 1.23"


def test_ringkv_train_trains_writes_and_draws(tmp_path, capsys):
    file, plot = tmp_path / "m.safetensors", tmp_path / "loss.png"
    call = ["train", "learned", "--seed", "4", "--steps", "3"]
    assert main([*call, "--out", str(file), "--plot", str(plot), "--threads", "1"]) == 0
    shown = capsys.readouterr()
    assert "learned, seed 4, 3 steps" in shown.out
    assert "accuracy  0." in shown.out
    assert "CPU seconds" in shown.out
    assert shown.err == ""  # no terminal, no progress line
    assert load(file)
    assert plot.read_bytes()[:4] == b"\x89PNG"


def test_ringkv_train_all(tmp_path, capsys):
    out = tmp_path / "models"
    plot = tmp_path / "loss.svg"
    assert main(["train", "all", "--steps", "1", "--out", str(out), "--plot", str(plot)]) == 0
    assert {file.stem for file in out.iterdir()} == set(NAMED)
    shown = capsys.readouterr().out
    assert all(f"{name}, seed 0, 1 steps" in shown for name in NAMED)
    assert all(name in plot.read_text(encoding="utf-8") for name in NAMED)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["pool"], "no policy is called 'pool'; give full, window, pooled"),
        (["full", "--seed", "-1"], "--seed is -1"),
        (["full", "--steps", "0"], "--steps is 0; give a number from 1"),
        (["full", "--threads", "0"], "--threads is 0"),
        (["full", "--plot", "loss.gif"], "ends in .png, .svg or .pdf"),
        (["full", "--plot", "nowhere/loss.png"], "there is no folder nowhere"),
        (["full", "--out", "."], "a folder; give a file"),
        (["all", "--out", "README.md"], "a file; for all policies give a folder"),
    ],
    ids=" ".join,
)
def test_ringkv_train_says_what_is_wrong(given, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("x", encoding="utf-8")
    assert main(["train", *given]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert not shown.out


def test_ringkv_train_explains_itself(capsys):
    with pytest.raises(SystemExit) as left:
        main(["train", "--help"])
    assert left.value.code == 0
    assert "example:\n  ringkv train pooled" in capsys.readouterr().out


def test_a_terminal_sees_how_far_a_run_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["train", "full", "--steps", "2"]) == 0
    shown = capsys.readouterr()
    assert "full [########################] step 2 of 2, loss" in shown.err
    assert shown.err.endswith("\r")  # and is wiped away
    assert "\r" not in shown.out
