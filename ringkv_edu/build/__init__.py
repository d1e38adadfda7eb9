"""Builds `notebooks/`, `solutions/` and the packaged release from `course/lessons/`."""
