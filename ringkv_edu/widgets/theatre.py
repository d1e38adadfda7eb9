"""The theatre: a live figure of what a cache did, fed once with traces and then on its own.

Four forms come from one source, `theatre.js`: a widget where anywidget is installed; a picture in
the same output, where one was made (`stills/`); a string of HTML that works without a kernel and
without a network; and a table and sentences inside all of them. Nothing calls back into Python.
"""

from __future__ import annotations

import hashlib
import html
import json
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from ..trace import Trace

__all__ = ["Theatre"]

ANGLES, GUESSES = ("position", "slot", "rank"), ("off", "slot", "seen", "wrong")


class Theatre:
    """The figure of some traces; see ``ringkv_edu.show``. ``html()``: as a page of its own."""

    def __init__(
        self, traces: Iterable[Trace], step: int | None = None, angle: str = "position",
        predict: str = "off", lang: str = "en", beside: bool = False,
    ) -> None:  # fmt: skip
        self.traces = tuple(traces)
        longest = max((len(trace.steps) for trace in self.traces), default=0)
        choices = ("angle", angle, ANGLES), ("predict", predict, GUESSES), ("lang", lang, _words())
        for name, given, known in choices:
            if given not in known:
                raise ValueError(f"{name} is {given!r}; give {', '.join(map(repr, known))}")
        if step is not None and not 0 <= step <= longest:
            raise ValueError(f"step is {step}; the traces have 0 to {longest}")
        start = (0 if predict != "off" else longest) if step is None else step
        self.state: dict[str, Any] = {
            "traces": [trace.to_dict() for trace in self.traces], "step": start, "chosen": 0,
            "angle": angle, "predict": predict, "lang": lang, "beside": beside, "speed": 2,
            "words": _words()[lang],
        }  # fmt: skip

    def __repr__(self) -> str:
        """Say which caches are shown and what is wrong first; no address, so it can be compared."""
        return "\n".join(f"<theatre: {trace}>" for trace in self.traces)

    def html(self) -> str:
        """Give HTML that works offline and without a kernel, to be put into any page."""
        state = html.escape(json.dumps(self.state, separators=(",", ":"), ensure_ascii=False))
        module = b64encode(_source("theatre.js").encode()).decode()
        return (
            f"<style>{_source('theatre.css')}</style>"
            f'<div class="ringkv-alone" data-state="{state}"></div>'
            f"<script>{_source('alone.js').replace('MODULE', module)}</script>"
        )

    def widget(self) -> Any:
        """Give the widget; needs anywidget."""
        return _widget_class(*self.state)(**self.state)

    @property
    def key(self) -> str:
        """The name of this figure's picture: it changes when anything that is shown does."""
        drawn = map(_source, ("theatre.js", "theatre.css"))
        text = json.dumps([self.state, *drawn], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data: dict[str, Any] = {"text/plain": repr(self)}
        meta: dict[str, Any] = {}
        still = resources.files(__package__).joinpath("stills", f"{self.key}.png")
        if still.is_file():
            data["image/png"] = b64encode(still.read_bytes()).decode()
            meta["image/png"] = {"alt": self.in_words()}
        try:
            live = self.widget()._repr_mimebundle_(**kwargs)
        except ImportError:
            return data, meta
        bundle = live[0] if isinstance(live, tuple) else live
        return (bundle or {}) | data, meta

    def in_words(self) -> str:
        """Say what each cache holds at the step where the figure starts."""
        return "\n".join(trace.in_words(self.state["step"]) for trace in self.traces)


@cache
def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@cache
def _words() -> dict[str, dict[str, str]]:
    return dict(json.loads(_source("words.json")))


@cache
def _widget_class(*names: str) -> Any:
    import anywidget
    import traitlets

    # No echo: what the kernel repeats, late, would take the figure back to a step already left.
    traits = {name: traitlets.Any().tag(sync=True, echo_update=False) for name in names}
    source = {"_esm": _source("theatre.js"), "_css": _source("theatre.css")}
    return type("LiveTheatre", (anywidget.AnyWidget,), traits | source)
