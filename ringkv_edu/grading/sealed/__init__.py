"""Runs strangers' answers in a kernel that sees nothing but its lesson's given code.

course/threat_model.md says what that defends against, and what not.
"""
