"""Marks for a test that needs a CUDA device: skipped, with the reason, where there is none."""

from __future__ import annotations

from typing import Any

import pytest
import torch

CUDA = (
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
)


def needs_cuda(test: Any) -> Any:
    for mark in CUDA:
        test = mark(test)
    return test
