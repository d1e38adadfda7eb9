"""The rings of the course, as the shared tests meet them: one `Subject` for each stage.

A stage is added here and is then asked every case and lives through every random life. Its class
takes and gives NumPy float32, as `ringkv_edu.cases.Adapter` says.
"""

from __future__ import annotations

import pytest

from ringkv_edu import NumpyRing
from ringkv_edu.cases.adapter import Subject
from ringkv_edu.cases.rotating import RotatingRing
from ringkv_edu.cases.torch_row import TorchRow

SUBJECTS = [
    pytest.param(Subject(NumpyRing), id="numpy"),
    pytest.param(Subject(RotatingRing), id="numpy-rotating"),
    pytest.param(Subject(TorchRow), id="torch"),
]
each_ring = pytest.mark.parametrize("subject", SUBJECTS)
