"""What a cache must offer to be asked, and how one is found and wrapped."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

__all__ = ["ABILITIES", "Adapter", "Subject", "find", "load"]

Array = npt.NDArray[Any]
ABILITIES = {
    "sinks": "it keeps no sinks",
    "slack": "it has no slack",
    "attend": "it has no attend()",
    "state": "its state cannot be saved",
    "bytes": "it does not count its bytes",
    "storage": "its keys and values cannot be reached",
    "rotates": "it does not rotate queries and keys itself",
}
NEEDED = ("append", "step", "rewind", "reset")
METHODS = {
    "attend": ("attend",),
    "state": ("state_dict", "from_state_dict"),
    "bytes": ("nbytes",),
    "storage": ("keys", "values"),
}
SMALL = {"window": 4, "kv_heads": 2, "head_dim": 32, "sinks": 0, "slack": 0}


class Adapter(Protocol):
    """The five methods that the suite calls, in NumPy float32, one layer and one sequence.

    It is made as ``MyAdapter(window=4, kv_heads=2, head_dim=32)``, with ``sinks=`` and ``slack=``
    too if ``offers`` names them. ``window`` counts the query itself; sinks and slack come on top.

    ``offers`` may name: ``sinks``, ``slack``, ``attend`` (``attend(q)``, q (heads, head_dim)),
    ``state`` (``state_dict()`` and a class method ``from_state_dict(state)``), ``bytes``
    (``nbytes``), ``storage`` (``keys`` and ``values``, arrays (kv_heads, slots, head_dim) made
    once, that can be written to) and ``rotates`` (it turns queries and keys by RoPE itself, base
    10000, halves paired). A class without ``offers`` is asked for what it has.
    """

    offers: tuple[str, ...]

    def append(self, k: Array, v: Array) -> None:
        """Store n tokens: k and v (kv_heads, n, head_dim)."""

    def step(self, q: Array, k: Array, v: Array) -> Array:
        """Store n tokens and give what each query (heads, n, head_dim) sees."""

    def positions(self) -> npt.ArrayLike:
        """Give the position that each slot holds, in any order, -1 for an empty slot."""

    def rewind(self, n: int) -> None:
        """Take back the newest n tokens, or raise any exception and change nothing.

        A method that raises ``NotImplementedError`` is one that the cache does not have.
        """

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
        return [int(p) for p in list(held) if p >= 0]

    def nbytes(self, cache: Any) -> int:
        """Give the bytes of a cache that counts them."""
        return int(cache.nbytes() if callable(cache.nbytes) else cache.nbytes)

    def copy(self, cache: Any) -> Any:
        """Save a cache and load it again, as a new one."""
        return self.cache_class.from_state_dict(cache.state_dict())


def load(target: str) -> Subject:
    """Find a cache class by ``path/to/file.py:Name`` or ``module:Name``, and look at it.

    Raises ``ValueError`` saying what is missing. A file is run, as an import would run it.
    """
    subject: Subject = _told(target, lambda place, name: _subject(_class(place, name)))
    return subject


def find(target: str) -> Any:
    """Find a class by ``path/to/file.py:Name`` or ``module:Name``; else as ``load``."""
    return _told(target, _class)


def _told(target: str, use: Callable[[str, str], Any]) -> Any:
    """Let something use a place and a name; say whatever goes wrong as a ``ValueError``."""
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise ValueError(f"{target!r} is no place: give path/to/file.py:Name or module:Name")
    try:
        return use(place, name)
    except ValueError:
        raise
    except ModuleNotFoundError as error:
        raise ValueError(f"{target} needs {error.name}, which is not installed") from error
    except BaseException as error:  # a class may raise whatever it likes, SystemExit included
        if isinstance(error, KeyboardInterrupt):
            raise
        words = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ValueError(f"{target} cannot be used: it raised {words}") from error


def _class(place: str, name: str) -> Any:
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    if not hasattr(module, name):
        known = [n for n, x in vars(module).items() if inspect.isclass(x) and n[0] != "_"]
        raise ValueError(f"{place} has no {name!r}; its classes are {', '.join(known) or 'none'}")
    cache_class = getattr(module, name)
    if not inspect.isclass(cache_class):
        raise ValueError(f"{name} is no class but {type(cache_class).__name__}; give a class")
    return cache_class


def _subject(cache_class: Any) -> Subject:
    name = cache_class.__name__
    missing = [method for method in NEEDED if not callable(getattr(cache_class, method, None))]
    if missing:
        raise ValueError(f"{name} lacks {', '.join(missing)}; see ringkv_edu.cases.Adapter")
    subject = Subject(cache_class)
    cache = subject.make(SMALL)
    for ability in sorted(subject.offers & set(METHODS)):
        lacking = [method for method in METHODS[ability] if not hasattr(cache, method)]
        if lacking:
            raise ValueError(f"{name} offers {ability!r} and lacks {', '.join(lacking)}")
    try:
        subject.positions(cache)
    except Exception as error:
        raise ValueError(
            f"the positions of {name} cannot be read ({type(error).__name__}: {error}); "
            f"give whole numbers, -1 for an empty slot"
        ) from error
    return subject


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{path} does not exist")
    name = f"ringkv_cases_{path.stem}"  # never the name of an installed module
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    sys.path.insert(0, str(path.parent.resolve()))  # it may import its neighbours
    spec.loader.exec_module(module)
    return module


def _from_name(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ValueError(f"no module is called {error.name!r}") from None
        raise
    except TypeError:  # a relative name
        raise ValueError(f"{name!r} is no module's name") from None


def _offers(cache_class: Any) -> set[str]:
    declared = getattr(cache_class, "offers", None)
    if declared is None:
        return _found(cache_class)
    if isinstance(declared, str) or not isinstance(declared, tuple | list | set | frozenset):
        raise ValueError(f"offers is {declared!r}; give a tuple of names, such as ('sinks',)")
    unknown = [name for name in declared if name not in ABILITIES]
    if unknown:
        raise ValueError(f"offers names {unknown}; known are {', '.join(ABILITIES)}")
    return set(declared)


def _found(cache_class: Any) -> set[str]:
    """Look what a class without ``offers`` has."""
    accepted = inspect.signature(cache_class).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    found: set[str] = {name for name in ("sinks", "slack") if anything or name in accepted}
    for ability in ("attend", "state", "bytes"):
        if all(hasattr(cache_class, method) for method in METHODS[ability]):
            found.add(ability)
    if getattr(cache_class, "rotates", False):
        found.add("rotates")
    return found | ({"storage"} if _has_storage(cache_class) else set())


def _has_storage(cache_class: Any) -> bool:
    """Say whether keys and values are arrays of ``slots`` places, as in the course's rings."""
    try:
        cache = cache_class(window=1, kv_heads=1, head_dim=2)
        return all(getattr(cache, name).shape[1] == cache.slots for name in METHODS["storage"])
    except Exception:
        return False
