"""The kit's pages: every figure is computed again, every name is one that the course has."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ringkv_edu import NumpyRing, ntk_base, slot_of, visibility_mask, visible
from ringkv_edu.audit.page import WORDS
from ringkv_edu.budget import Card, Plan
from ringkv_edu.budget_presets import MODELS
from ringkv_edu.cli import main
from ringkv_edu.kit.sheet import TOKENS, cards, sheet
from ringkv_edu.rewind import RewindError


def page(root: Path, name: str) -> str:
    return (root / "course" / name).read_text(encoding="utf-8")


def table(text: str, head: str) -> list[list[str]]:
    """Give the rows of the table whose first line holds these words."""
    lines = text[text.index(head) :].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells[0], *cells[2:]]


# ---- the cheat sheet


def test_the_sheet_has_the_slots_and_the_mask_of_the_package(root: Path) -> None:
    text = page(root, "cheat_sheet.md")
    positions, slots = table(text, "| position | 0 |")
    assert slots[1:] == [str(slot_of(int(p), ring=4 + 1, sinks=1)) for p in positions[1:]]
    held, *rows = table(text, "| | 8 | 9 |")
    ring = NumpyRing(4, kv_heads=1, head_dim=1)
    ring.append(*np.zeros((2, 1, 10, 1), np.float32))
    assert [int(p) for p in held[1:]] == [*ring.positions, 10, 11, 12]
    mask = visibility_mask(np.array([10, 11, 12]), np.array([int(p) for p in held[1:]]), 4)
    assert [row[1:] for row in rows] == [["#" if sees else "." for sees in row] for row in mask]


def test_the_sheets_rule_is_the_packages() -> None:
    for i in range(12):
        for j in range(-1, 12):
            for window, sinks in ((1, 0), (4, 0), (4, 2), (3, 1)):
                rule = 0 <= j <= i and (i - j < window or j < sinks)
                assert visible(i, j, window, sinks) == rule


def test_the_sheets_rewind(root: Path) -> None:
    text = page(root, "cheat_sheet.md")
    assert "up to `slack` tokens, or\nall of them" in text
    for seen in range(6, 20):  # full: window 4 and slack 2
        for n in range(seen + 1):
            ring = NumpyRing(4, kv_heads=1, head_dim=1, slack=2)
            ring.append(*np.zeros((2, 1, seen, 1), np.float32))
            held = set(ring.positions.tolist())
            m = seen - n
            allowed = set(range(max(0, m - 4), m)) <= held
            assert allowed or not (n <= 2 or n == seen)
            if allowed:
                ring.rewind(n)
                assert ring.seen == m
            else:
                with pytest.raises(RewindError):
                    ring.rewind(n)


def test_the_sheets_figures(root: Path) -> None:
    text = page(root, "cheat_sheet.md")
    plan = Plan(MODELS["llama-2-7b"])
    token, card = plan.token_bytes, Card("one TB/s", 80e9, 1e12)
    assert token == 2 * 32 * 32 * 128 * 2 == 512 * 2**10
    rows = table(text, "| | keeps everything |")
    assert rows[1][1] == f"{token / 2**10:g} KiB"
    assert rows[2][1] == rows[2][2] == rows[3][2] == f"{1024 * token / 2**20:g} MiB"
    assert rows[3][1] == f"{32768 * token / 2**30:g} GiB = {32768 * token / 1e9:.2f} GB"
    everything, ring = (
        1000 * each.step_seconds(card, 32768) for each in (plan, plan.with_window(1024))
    )
    assert f"{plan.weight_bytes / 1e9:.1f} GB and that cache" in text
    assert f"at 1 TB/s take {everything:.1f} ms, with\nthe ring {ring:.1f} ms" in text
    share = 3 / (3 + np.exp(0.3))
    assert f"three empty slots take {share:.0%}".replace("%", " %") in text
    assert np.isclose(ntk_base(1e4, 4, 128), 1e4 * 4 ** (128 / 126))


@pytest.mark.parametrize("window", [2, 3, 4, 8])
def test_a_slot_is_right_by_luck_where_the_sheet_says(window: int) -> None:
    for seen in range(window + 1, 5 * window):
        held = {p: slot_of(p, window) for p in range(seen - window, seen)}
        newest = held[seen - 1]
        right = all(newest - slot == seen - 1 - p for p, slot in held.items())
        assert right == (seen % window == 0)


def test_the_sheet_is_one_section_a_heading(root: Path) -> None:
    text = page(root, "cheat_sheet.md")
    html = sheet(text)
    assert html.count("<section>") == text.count("\n## ")
    assert "<script" not in html
    assert sheet("# A\n\nb\n\n## C <i>\n\nd\n").count("&lt;i&gt;") == 1


def test_the_cards() -> None:
    html = cards()
    assert re.findall(r'class="big">(\d)</p><p class="small">(\w+)<', html) == [
        (str(n), word) for n, word in enumerate(TOKENS)
    ]
    assert re.findall(r"slot (\d)", html) == ["0", "1", "2", "3"]


def test_the_command_writes_sheets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    assert main(["sheets", "--out", str(tmp_path / "p")]) == 0
    said = [f"wrote {tmp_path / 'p' / name}.html" for name in ("cheat_sheet", "cards")]
    assert capsys.readouterr().out.splitlines() == said
    assert (tmp_path / "p/cheat_sheet.html").read_text("utf-8") == sheet(
        page(root, "cheat_sheet.md")
    )


# ---- the glossary

TERM = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
MUST = """slot position window sinks slack ring evict summary prefill decode step policy
kv_heads heads head_dim batch""".split()
ALSO = {"kv_heads": "key/value head", "retrieval": "retrieve", "NTK-aware scaling": "NTK-aware*",
        "evict": "overwritten", "eviction": "overwritten", "ring buffer": "ring", "quantisation": "fewer bits", "prefix caching": "prefix", "global layer": "global",
        "rotary position embedding": "RoPE"}  # fmt: skip


def terms(root: Path) -> dict[str, tuple[str, str, str]]:
    found = TERM.findall(page(root, "glossary.md"))
    rows = {name: rest for name, *rest in found if name not in ("term", "---")}
    return {term: rest for names, rest in rows.items() for term in names.split(", ")}


def prose(root: Path, number: str) -> str:
    (path,) = (root / "course/lessons").glob(f"{number}_*.py")
    return re.sub(r"\s+(# )?", " ", path.read_text(encoding="utf-8").casefold())


def test_the_glossary_has_every_word_of_the_course(root: Path) -> None:
    known = terms(root)
    assert set(MUST) <= set(known)
    assert {english: known[english][0] for english, _ in WORDS} == dict(WORDS)
    rows = TERM.findall(page(root, "glossary.md"))
    chinese = [row[1] for row in rows if row[1] not in ("中文", "---")]
    assert len(set(chinese)) == len(chinese) >= 60


def test_each_term_has_one_sentence_and_is_taught_where_it_says(root: Path) -> None:
    for term, (chinese, sentence, taught) in terms(root).items():
        assert re.search(r"[\u4e00-\u9fff]", chinese), term
        assert sentence.endswith("."), term
        assert ". " not in sentence, term
        if re.fullmatch(r"\d\d", taught):
            words = ALSO.get(term, term).casefold().rstrip("*")
            assert words in prose(root, taught), (term, taught)
        else:
            (file, anchor) = re.findall(r"\]\((\w+\.md)(?:#([\w-]+))?\)", taught)[0]
            heads = re.findall(r"^#+ (.+)$", page(root, file), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
            assert not anchor or anchor in anchors, (term, taught)
