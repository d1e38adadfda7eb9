"""Products in tiles and pieces are the products; reading ahead changes no bit of a step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import ringkv_edu.torch_host as host
from ringkv_edu import TorchRing
from ringkv_edu.numpy_products import Ahead, read_ahead, scores_of, scores_read_ahead, values_of


@pytest.mark.parametrize("m", [1, 255, 256, 257, 1024, 2500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products(m: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    rows, keys, values = (
        rng.standard_normal((2, 3, n, d)).astype(dtype) for n, d in ((4, 128), (m, 128), (m, 128))
    )
    right = np.einsum("bhgd,bhmd->bhgm", rows, keys)
    within = {"rtol": 1e-4 if dtype == np.float32 else 1e-9, "atol": 1e-4}
    np.testing.assert_allclose(scores_of(rows, keys), right, **within)
    np.testing.assert_allclose(scores_read_ahead(rows, keys), right, **within)
    part = np.concatenate([keys, keys], 2)[:, :, 1 : m + 1]  # whose heads do not lie together
    np.testing.assert_array_equal(
        scores_read_ahead(rows, part), scores_read_ahead(rows, part.copy())
    )
    summed = np.einsum("bhgm,bhmd->bhgd", right, values)
    np.testing.assert_allclose(values_of(right, values), summed, rtol=1e-3, atol=1e-2)


def test_reading_ahead_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One ring reads ahead at every second step, another never."""
    monkeypatch.setattr(host, "LEAST", 0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rings = [TorchRing(300, 1, 2, 16) for _ in range(2)]
        turns = iter(range(999))
        monkeypatch.setattr(rings[0]._host.ahead, "choose", lambda: next(turns) % 2 == 0)
        monkeypatch.setattr(rings[1]._host.ahead, "choose", lambda: False)
        for _ in range(320):
            q, k, v = (torch.randn(1, heads, 1, 16) for heads in (4, 2, 2))
            assert torch.equal(rings[0].step(q, k, v), rings[1].step(q, k, v))
        assert next(turns) > 300
    finally:
        torch.set_num_threads(threads)
    keys = np.arange(12.0).reshape(3, 4)
    read_ahead(keys[:, :2])
    assert keys.tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_the_quicker_way_is_found_and_the_other_tried_again() -> None:
    ahead = Ahead()
    took = {True: 1.0, False: 2.0}
    chosen = []
    for _ in range(64):
        chosen.append(ahead.choose())
        ahead.note(chosen[-1], took[chosen[-1]])
    assert chosen[32:].count(True) == 30
    took = {True: 2.0, False: 1.0}  # another program has left the caches
    for _ in range(200):
        chosen.append(ahead.choose())
        ahead.note(chosen[-1], took[chosen[-1]])
    assert chosen[-64:].count(False) == 60
    ahead.note(False, 1e9)  # a step that was interrupted
    assert ahead.choose() is False
