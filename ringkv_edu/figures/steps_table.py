"""The text form of a trace: one line a step, one column a slot."""

from __future__ import annotations

from ..trace import EMPTY, Step, Trace

WIDEST_TOKEN = 12
WIDEST_TABLE = 100


def steps_table(trace: Trace) -> str:
    """Draw a trace as text: what each slot holds after each step, and which token left.

    ``>`` marks the slot that was written; ``.`` is an empty slot. A table that would be wider
    than 100 columns leaves out the words and shows positions alone.
    """
    if not trace.steps:
        return trace.problem or "nothing was appended"
    texts = [_short(step.text) for step in trace.steps]
    width = max(
        len(f"{step.position} {text}") for step, text in zip(trace.steps, texts, strict=True)
    )
    if trace.slot_count * (width + 3) > WIDEST_TABLE:
        texts = [""] * len(texts)
        width = len(str(trace.steps[-1].position))
    width = max(width, len(f"slot {trace.slot_count - 1}"))
    heads = [f" {'slot ' + str(slot):<{width}}" for slot in range(trace.slot_count)]
    lines = ["step " + " ".join(heads) + "  leaves"]
    lines += [_line(step, texts, width, trace.slot_count) for step in trace.steps]
    if trace.problem:
        lines.append(f"stopped at {trace.problem}")
    return "\n".join(line.rstrip() for line in lines)


def _line(step: Step, texts: list[str], width: int, slot_count: int) -> str:
    def cell(slot: int) -> str:
        if slot >= len(step.slots):  # it does not exist yet
            return " " * (width + 1)
        held = step.slots[slot]
        text = "." if held == EMPTY else _label(held, texts)
        return f"{'>' if slot in step.written else ' '}{text:<{width}}"

    cells = " ".join(cell(slot) for slot in range(slot_count))
    return f"{step.position:4} {cells}  {', '.join(_label(p, texts) for p in step.evicted)}"


def _label(position: int, texts: list[str]) -> str:
    text = texts[position] if 0 <= position < len(texts) else "?"
    return f"{position} {text}" if text and text != str(position) else str(position)


def _short(text: str) -> str:
    return text if len(text) <= WIDEST_TOKEN else text[: WIDEST_TOKEN - 1] + "…"
