"""Compares what policies cost and what they lose: speed, memory, perplexity, far recall."""

from .contender import Contender, contenders, full_of
from .guard import Creep, Guard, Rollout
from .names import name_of, policies_of, policy_of
from .quality import Quality, losses, quality
from .report import evaluate
from .speed import Speed, speed
from .sweep import Sweep, sweep
from .switch import Switch
from .tasks import Asked, Score, needle, own_text

__all__ = [
    "Asked", "Contender", "Creep", "Guard", "Quality", "Rollout", "Score", "Speed", "Sweep",
    "Switch", "contenders", "evaluate", "full_of", "losses", "name_of", "needle", "own_text",
    "policies_of", "policy_of", "quality", "speed", "sweep",
]  # fmt: skip
