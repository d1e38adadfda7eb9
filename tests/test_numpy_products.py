"""Products in tiles and pieces are the products; reading ahead changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ringkv_edu.numpy_products import read_ahead, scores_of, scores_read_ahead, values_of


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


def test_reading_ahead_changes_nothing() -> None:
    keys = np.arange(12.0).reshape(3, 4)
    read_ahead(keys[:, :2])
    assert keys.tolist() == np.arange(12.0).reshape(3, 4).tolist()
