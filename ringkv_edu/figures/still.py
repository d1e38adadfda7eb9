"""A still picture and what it shows in words, so that neither is kept without the other."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

__all__ = ["Still", "save_small", "words_in"]

DPI, PALETTE = 100, 64
KEYWORD = "Description"  # under which a PNG keeps the words


@dataclass(frozen=True)
class Still:
    """A matplotlib figure and its alt text; a notebook shows the one and keeps both."""

    figure: Any
    alt: str

    def png(self) -> bytes:
        """Give a PNG of 64 colours, under 40 kB for pictures of lines, with the words inside."""
        from PIL import Image
        from PIL.PngImagePlugin import PngInfo

        raw, small, words = BytesIO(), BytesIO(), PngInfo()
        self.figure.savefig(
            raw, format="png", dpi=DPI, facecolor="white", metadata={"Software": None}
        )
        raw.seek(0)
        image = Image.open(raw).convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
        words.add_itxt(KEYWORD, self.alt)
        image.save(small, format="PNG", optimize=True, pnginfo=words)
        return small.getvalue()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
        data = {"text/plain": self.alt, "image/png": b64encode(self.png()).decode()}
        return data, {"image/png": {"alt": self.alt}}


def save_small(still: Still, path: Path) -> None:
    """Write a still as a small PNG that carries its alt text; the same still, the same bytes."""
    path.write_bytes(still.png())


def words_in(path: Path) -> str:
    """Give the alt text that a picture's file carries, empty where it carries none."""
    from PIL import Image

    with Image.open(path) as image:
        return str(image.info.get(KEYWORD, ""))
