"""What a cache must offer to be asked, and how one is found and wrapped."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["ABILITIES", "Adapter", "Subject", "load"]

Array = npt.NDArray[Any]
ABILITIES = {
    "sinks": "it keeps no sinks",
    "slack": "it has no slack",
    "attend": "it has no attend()",
    "state": "its state cannot be saved",
    "bytes": "it does not count its bytes",
    "storage": "its keys and values cannot be reached",
}


class Adapter(Protocol):
    """The five methods that the suite calls, in NumPy float32, one layer and one sequence.

    It is made as ``MyAdapter(window=4, kv_heads=2, head_dim=32)``, with ``sinks=`` and ``slack=``
    too if ``offers`` names them. ``window`` counts the query itself; sinks and slack come on top.

    ``offers`` may name: ``sinks``, ``slack``, ``attend`` (``attend(q)``, q (heads, head_dim)),
    ``state`` (``state_dict()`` and a class method ``from_state_dict(state)``), ``bytes``
    (``nbytes``) and ``storage`` (``keys`` and ``values``, arrays (kv_heads, slots, head_dim) that
    can be written to). A class without ``offers`` is asked for what it has.
    """

    offers: tuple[str, ...]

    def append(self, k: Array, v: Array) -> None:
        """Store n tokens: k and v (kv_heads, n, head_dim)."""

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Store n tokens and give what each query (heads, n, head_dim) sees."""

    def positions(self) -> npt.ArrayLike:
        """Give the position that each slot holds, in any order, -1 for an empty slot."""

    def rewind(self, n: int) -> None:
        """Take back the newest n tokens, or raise any exception and change nothing."""

    def reset(self) -> None:
        """Forget everything."""


class Subject:
    """Makes caches of one class and reads them, whichever way they spell a thing."""

    def __init__(self, cache_class: Any) -> None:
        self.cache_class = cache_class
        self.name = getattr(cache_class, "__name__", str(cache_class))
        self.offers = frozenset(_offers(cache_class))

    def make(self, sizes: dict[str, int]) -> Any:
        """Make a cache; sinks and slack are given only to one that offers them."""
        kept = {n: x for n, x in sizes.items() if n not in ("sinks", "slack") or n in self.offers}
        return self.cache_class(**kept)

    def positions(self, cache: Any) -> list[int]:
        """Give the stored positions in slot order, empty slots left out."""
        held = cache.positions() if callable(cache.positions) else cache.positions
        return [int(p) for p in np.asarray(held).reshape(-1).tolist() if p >= 0]

    def nbytes(self, cache: Any) -> int:
        """Give the bytes of a cache that counts them."""
        return int(cache.nbytes() if callable(cache.nbytes) else cache.nbytes)

    def copy(self, cache: Any) -> Any:
        """Save a cache and load it again, as a new one."""
        return self.cache_class.from_state_dict(cache.state_dict())


def load(target: str) -> Subject:
    """Find a cache class by ``path/to/file.py:Name`` or ``module:Name``.

    Raises ``ValueError`` saying what is missing. The file is run, as an import would run it.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(f"{target!r} is no place: give path/to/file.py:Name or module:Name")
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    if not hasattr(module, name):
        known = [n for n, x in vars(module).items() if inspect.isclass(x) and n[0] != "_"]
        raise ValueError(f"{place} has no {name!r}; its classes are {', '.join(known) or 'none'}")
    cache_class = getattr(module, name)
    needed = ("append", "step", "rewind", "reset")
    missing = [method for method in needed if not callable(getattr(cache_class, method, None))]
    if missing or not callable(cache_class):
        raise ValueError(f"{target} lacks {', '.join(missing) or 'a constructor'}; see Adapter")
    subject = Subject(cache_class)
    try:
        cache = subject.make({"window": 4, "kv_heads": 2, "head_dim": 32, "sinks": 0, "slack": 0})
        subject.positions(cache)
    except ModuleNotFoundError as error:
        raise ValueError(f"{name} needs {error.name}, which is not installed") from error
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{name}(window=4, kv_heads=2, head_dim=32) and its positions must work; "
            f"they gave {words}"
        ) from error
    return subject


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{path} does not exist")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{path} raises {type(error).__name__}: {error}") from error
    return module


def _from_name(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ValueError(f"no module is called {error.name!r}") from None
        raise


def _offers(cache_class: Any) -> set[str]:
    declared = getattr(cache_class, "offers", None)
    if declared is not None:
        unknown = sorted(set(declared) - set(ABILITIES))
        if unknown:
            raise ValueError(f"offers names {unknown}; known are {', '.join(ABILITIES)}")
        return set(declared)
    accepted = set(inspect.signature(cache_class).parameters)
    found: set[str] = {name for name in ("sinks", "slack") if name in accepted}
    has = {
        "attend": ["attend"],
        "state": ["state_dict", "from_state_dict"],
        "bytes": ["nbytes"],
    }
    found |= {n for n, names in has.items() if all(hasattr(cache_class, name) for name in names)}
    return found | ({"storage"} if _has_storage(cache_class) else set())


def _has_storage(cache_class: Any) -> bool:
    try:
        cache = cache_class(window=1, kv_heads=1, head_dim=2)
        return all(getattr(cache, name).ndim == 3 for name in ("keys", "values"))
    except Exception:
        return False
