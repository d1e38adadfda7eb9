"""`ringkv evaluate`, `ringkv monitor` and `ringkv diagnose`, as a person runs them."""

import json

import pytest

from ringkv_edu.cli import main
from ringkv_edu.monitor.troubles import MAKERS

SMALL = ["random", "--tokens", "80", "--policies", "full,window:16"]
TIMED = ["--lengths", "20,60", "--new", "2", "--repeats", "1"]


def run(capsys, *arguments):
    """Give the exit status and what was printed; nothing else may be."""
    status = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("command", ["evaluate", "monitor", "diagnose"])
def test_every_command_explains_itself(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"example:\n  ringkv {command}" in capsys.readouterr().out


def test_evaluate_prints_writes_and_draws(capsys, tmp_path):
    plot, file = tmp_path / "a.png", tmp_path / "a.json"
    status, out, err = run(capsys, "evaluate", *SMALL, *TIMED, "--json", file, "--plot", plot)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "a decoder with random weights, on a text of its own: seed 0"
    assert lines[1] == "80 tokens of text"
    assert "after 60 tokens, 1 row" in out
    found = json.loads(file.read_text())
    assert [row["name"] for row in found["rows"]] == ["full", "window:16"]
    assert [one["prompt"] for one in found["rows"][1]["speed"]] == [20, 60]
    assert f"{found['rows'][1]['perplexity']:.2f}" in out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_json_alone(capsys):
    status, out, err = run(capsys, "evaluate", *SMALL, "--lengths", "0", "--json", "-")
    assert (status, err) == (0, "")
    assert "speed" not in json.loads(out)["rows"][0]


def test_sweep(capsys, tmp_path):
    path = tmp_path / "s.jsonl"
    again = [run(capsys, "evaluate", "random", "--tokens", 80, "--sweep", path) for _ in range(2)]
    assert again[0] == again[1]  # the second was read from the log, times and all
    status, out, _ = again[0]
    assert status == 0
    assert "full" in out
    assert "large window" in out
    assert out.splitlines()[-1].startswith("the least memory within 5 % of full: ")
    assert len(path.read_text().splitlines()) == len(out.splitlines()) - 2  # and a head, no sums
    status, out, err = run(capsys, "evaluate", "random", "--tokens", 81, "--sweep", path)
    assert (status, out) == (2, "")
    assert "is the log of another sweep (text differ)" in err


def test_monitor_then_diagnose(capsys, tmp_path):
    path, plot = tmp_path / "run.jsonl", tmp_path / "run.png"
    how = ["monitor", "random", "--policy", "window:16", "--tokens", 100, "--log", path]
    status, out, err = run(capsys, *how, "--plot", plot)
    assert (status, err) == (1, "")
    assert "eviction: it happens: layer 0 holds 16 of 99 tokens" in out
    assert "quality drops (S40, S23)" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert run(capsys, "diagnose", path) == (1, out, "")
    status, out, _ = run(capsys, "diagnose", path, "--json")
    assert [one["trouble"] for one in json.loads(out)] == ["quality drops"]
    status, out, err = run(capsys, *how)
    assert (status, out) == (2, "")
    assert "is there already" in err
    status, out, _ = run(capsys, *how[:-1], tmp_path / "b", "--budget", 9999, "--alone")
    assert status == 0
    assert "nothing wrong was found" in out
    full = ["monitor", "random", "--policy", "full", "--tokens", 100, "--log", tmp_path / "c"]
    status, out, _ = run(capsys, *full, "--budget", 9999)
    assert status == 1
    assert "the caches take 10240 bytes of 9999 after 20 tokens" in out


def test_examples_are_written(capsys, tmp_path, monkeypatch):
    few = {name: MAKERS[name] for name in ("output jitters", "memory does not fall, 2")}
    monkeypatch.setattr("ringkv_edu.monitor.troubles.MAKERS", few)
    folder = tmp_path / "logs"
    status, out, err = run(capsys, "diagnose", "--examples", folder)
    assert (status, err) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == [
        "memory_does_not_fall_2.jsonl", "output_jitters.jsonl",
    ]  # fmt: skip
    assert f"{folder / 'output_jitters.jsonl'}: half of the window leaves at once" in out
    assert run(capsys, "diagnose", folder / "output_jitters.jsonl")[0] == 1
    assert "is not empty; give a new folder" in run(capsys, "diagnose", "--examples", folder)[2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate", "huge"], "no model is called 'huge'; give one of tiny, random, smollm2"),
        (["evaluate", "random", "--policies", "windw:4"], "no policy is called 'windw:4'"),
        (["evaluate", "random", "--text", "a.txt"], "--text is for smollm2"),
        (["evaluate", "smollm2"], "smollm2 needs --text FILE"),
        (["evaluate", "smollm2", "--text", "none.txt"], "none.txt is no file"),
        (["evaluate", "random", "--tokens", "1"], "--tokens is 1; give 2 to"),
        (["evaluate", "random", "--repeats", "0"], "--repeats is 0; give 1 to"),
        (["evaluate", "random", "--lengths", "4,x"], "--lengths is '4,x'; give whole numbers"),
        (["evaluate", "random", "--lengths", "0,4"], "--lengths is '0,4'; give whole numbers"),
        (["evaluate", *SMALL, "--lengths", "900"], "--lengths has 900 tokens and the text 80"),
        (["evaluate", "random", "--plot", "a.pdf"], "--plot is a.pdf; give a file that ends in"),
        (["evaluate", "random", "--json", "none/a"], "there is no folder none; make it first"),
        (["evaluate", "random", "--json", "."], "--json is .; give the name of a file"),
        (["evaluate", "tiny", "--sweep", "s"], "--sweep puts policies under one model"),
        (["evaluate", *SMALL, "--sweep", "s"], "leave --policies out"),
        (["evaluate", "random", "--tokens", "9", "--sweep", "s"], "the text has 9 tokens; a sweep"),
        (["evaluate", "random", "--sweep", "s", "--tolerance", "-1"], "--tolerance is -1"),
        (["monitor", "random", "--policy", "full,window:4", "--log", "a"], "give one --policy"),
        (["monitor", "random", "--policy", "full", "--log", "a", "--prompt", "1023"],
         "--prompt is 1023 of 1024 tokens; give fewer"),
        (["monitor", "random", "--policy", "full", "--log", "a", "--every", "0"], "--every is 0"),
        (["diagnose"], "give a LOG that `ringkv monitor` has written"),
        (["diagnose", "none.jsonl"], "none.jsonl is no file"),
        (["diagnose", "a", "--examples", "b"], "--examples writes logs and reads none"),
    ],
)  # fmt: skip
def test_wrong_calls(capsys, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    small = {"own_text": lambda one, n, *more: __import__("torch").zeros(1, n, dtype=int)}
    monkeypatch.setattr("ringkv_edu.evaluate.models.own_text", small["own_text"])
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("ringkv: ")
    assert says in err
    assert list(tmp_path.iterdir()) == []
