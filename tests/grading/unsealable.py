"""A pytest plugin for a machine on which nothing can seal: ``-p tests.grading.unsealable``."""

from __future__ import annotations

from dataclasses import replace

from ringkv_edu.grading.sealed import seal

seal._tried = lambda one: replace(one, why_not="not on this machine")
