"""The recall task is what it says: facts early, questions late, chance 1 in 8."""

import numpy as np
import pytest

from ringkv_edu import recall


def test_the_worked_example_of_the_docstring():
    tokens, answers = recall.draw(1, seed=0)
    words = recall.words(tokens[0])
    facts = {p: w for p, w in enumerate(words) if w != "."}
    assert facts == {
        6: "k7=2", 11: "k3=4", 17: "k0=5", 20: "k4=2",
        56: "k3?", 57: "k7?", 58: "k0?", 59: "k4?", 60: "k0?", 61: "k3?", 62: "k3?", 63: "k7?",
    }  # fmt: skip
    assert recall.words(answers[0]) == ["4", "2", "5", "2", "5", "4", "4", "2"]
    for word in facts.values():
        assert word in recall.__doc__


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_text_keeps_the_rules(seed):
    tokens, answers = recall.draw(300, seed)
    assert tokens.shape == (300, 64)
    assert answers.shape == (300, 8)
    assert tokens.dtype == answers.dtype == np.int64
    for text, wanted in zip(tokens, answers):
        words = recall.words(text)
        facts = [p for p, w in enumerate(words) if "=" in w]
        told = dict(words[p][1:].split("=") for p in facts)
        assert len(facts) == len(told) == 4  # keys differ
        assert max(facts) < 40
        assert [p for p, w in enumerate(words) if "?" in w] == list(range(56, 64))
        assert recall.words(wanted) == [told[w[1:-1]] for w in words[56:]]
        first_seen = 56 - recall.WINDOW + 1
        assert max(facts) < first_seen  # in no question's window


def test_values_keys_and_places_are_drawn_evenly():
    tokens, answers = recall.draw(4000, 0)
    facts = tokens[(tokens < recall.FILLER)]
    for shares, wanted, n in [
        (np.bincount(facts // 8) / 16000, 1 / 8, 16000),
        (np.bincount(facts % 8) / 16000, 1 / 8, 16000),
        (np.bincount(answers.ravel() - recall.ANSWER) / 32000, recall.CHANCE, 8000),
        ((tokens[:, :40] < recall.FILLER).mean(0), 4 / 40, 4000),
    ]:
        assert abs(shares - wanted).max() < 5 * np.sqrt(wanted / n)


def test_a_seed_gives_the_same_texts_and_training_texts_are_others():
    a, b, c = recall.draw(50, 3), recall.draw(50, 3), recall.draw(50, 4)
    assert np.array_equal(a.tokens, b.tokens)
    assert not np.array_equal(a.tokens, c.tokens)
    stream = recall.batches(50, 3)
    first, second = next(stream), next(stream)
    again = next(recall.batches(50, 3))
    assert np.array_equal(first.tokens, again.tokens)
    seen = [set(map(bytes, x.tokens)) for x in (a, first, second)]
    assert not seen[0] & seen[1]
    assert not seen[1] & seen[2]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: recall.draw(0, 1), ValueError, "n is 0"),
        (lambda: recall.draw(2, -1), ValueError, "seed is -1"),
        (lambda: recall.draw(2, 1.5), TypeError, "seed is 1.5"),
        (lambda: next(recall.batches(0, 1)), ValueError, "size is 0"),
        (lambda: recall.words([96]), ValueError, "no token 96; give tokens from 0 to 95"),
    ],
    ids=str,
)
def test_wrong_numbers_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_what_windows_can_relay():
    """Two layers of 16: the question at 56 sees to 41, and what stands there has seen to 26."""
    texts = recall.draw(1, seed=0)
    assert not recall.within_reach(texts, 2).any()  # its facts lie at 6, 11, 17 and 20
    tokens = np.full((2, 64), recall.FILLER)
    tokens[0, [25, 26, 33, 34]] = [0, 8, 16, 24]  # facts of keys 0 to 3
    tokens[0, 56:] = recall.QUESTION + np.array([1, 0, 2, 3, 1, 2, 3, 2])
    tokens[1] = tokens[0]
    texts = recall.Texts(tokens, tokens[:, :8])
    near = [True, False, True, True, False, True, True, True]  # 56 - 26 is 30
    assert recall.within_reach(texts, 2).tolist() == [near, near]
    assert not recall.within_reach(texts, 1).any()
    assert recall.within_reach(texts, 3).all()


def test_the_most_that_relays_can_reach():
    share = recall.within_reach(recall.draw(4000, 1), 2).mean()
    wanted = np.mean([(40 - (q - 30)) / 40 for q in range(56, 64)])
    assert wanted == 0.2625
    assert abs(share - wanted) < 0.01
    assert round(wanted + (1 - wanted) * recall.CHANCE, 3) == 0.355
