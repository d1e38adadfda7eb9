"""Points from `pytest --nbval`: the release's checks, run on a learner's answers.

``HIDDEN`` names the modules that hold answers. Graded cells never need them.
"""

HIDDEN = (
    "ringkv_edu.pure",
    "ringkv_edu.visibility",
    "ringkv_edu.rewind",
    "ringkv_edu.numpy_ring",
    "ringkv_edu.rope",
    "ringkv_edu.summaries",
    "ringkv_edu.numpy_summaries",
    "ringkv_edu.numpy_joint",
    "ringkv_edu.torch_summaries",
    "ringkv_edu.torch_summary_state",
    "ringkv_edu.torch_fold",
    "ringkv_edu.torch_joint",
    "ringkv_edu.policies",
    "ringkv_edu.model",
    "ringkv_edu.torch_ring",
    "ringkv_edu.torch_attention",
    "ringkv_edu.torch_bounds",
    "ringkv_edu.torch_inputs",
    "ringkv_edu.torch_state",
    "ringkv_edu.ragged",
    "ringkv_edu.capture",
    "ringkv_edu.paged",
    "ringkv_edu.paged_serving",
    "ringkv_edu.quantize",
    "ringkv_edu.quantized_ring",
    "ringkv_edu.tiers",
    "ringkv_edu.tiled",
    "ringkv_edu.adapters",
    "ringkv_edu.audit",
    "ringkv_edu.checks",
)
