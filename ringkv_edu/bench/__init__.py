"""Measurements on the machine at hand: what `ringkv bench` prints. Never part of a test."""
