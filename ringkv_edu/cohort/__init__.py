"""Grades many learners' notebooks: who handed in what, side by side, and reports of it all."""
