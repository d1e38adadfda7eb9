"""Marks a test that needs a CUDA device: skipped, with the reason, where there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch


def needs_cuda(test: Any) -> Any:
    skipped = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    return pytest.mark.cuda(skipped(test))
