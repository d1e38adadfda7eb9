"""Points from `pytest --nbval`: the release's checks, run on a learner's answers.

``HIDDEN`` names the modules that hold answers. Graded cells never need them.
"""

HIDDEN = (
    "ringkv_edu.pure",
    "ringkv_edu.visibility",
    "ringkv_edu.rewind",
    "ringkv_edu.numpy_ring",
    "ringkv_edu.rope",
    "ringkv_edu.checks",
)
