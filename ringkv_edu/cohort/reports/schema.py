"""The published schema of grades.json (JSON Schema, draft 2020-12)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from ...problem import Problem
from ..gradebook import SCHEMA

__all__ = ["check", "schema"]


def schema() -> dict[str, Any]:
    """Give the schema, as it lies in the package: ``ringkv_edu/cohort/gradebook.schema.json``."""
    package = __package__.rpartition(".")[0]
    text = resources.files(package).joinpath(SCHEMA).read_text(encoding="utf-8")
    return dict(json.loads(text))


def check(grades: Mapping[str, Any]) -> None:
    """Check what ``Book.to_dict`` gives, or grades.json holds; raises ``Problem``.

    It needs the package jsonschema, which nbformat brings.
    """
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema()).iter_errors(grades):
        raise Problem(
            f"the grades are not what the schema says: {error.json_path}: {error.message}"
        )
