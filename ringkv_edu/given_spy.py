"""What watches torch in lesson 05: host reads, and a toy CUDA graph. Graded runs may read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["Recording", "Spy"]

Tensor = torch.Tensor
aten = torch.ops.aten
CALLS = {"__array__", "__repr__", "__format__", "cpu", "numpy", "tolist"}  # seen only in Python
READS = {
    aten._local_scalar_dense.default,  # item(), int(), bool(), `if`, a 0-d tensor as an index
    aten.allclose.default,
    aten.equal.default,
    aten.masked_select.default,
    aten.nonzero.default,  # how many there are is known to the device alone
    aten.repeat_interleave.Tensor,
    aten._unique2.default,
}
BY_MASK = {aten.index.Tensor, aten.index_put_.default, aten.index_put.default}


class Spy:
    """Watches the torch calls inside a ``with``: does the host read, and how much is made?

    ``reads`` counts the calls for which the host would wait for numbers of the device, wherever
    the tensors are; ``largest`` is the size in bytes of the largest memory that a call made.
    """

    def __init__(self) -> None:
        self.reads, self.largest = 0, 0
        self._modes = _Calls(self), _Operations(self)

    def __enter__(self) -> Spy:
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)  # type: ignore[no-untyped-call]


class Recording:
    """Records the operations of one call of ``work()`` while it runs; ``replay()`` runs them again.

    As in a CUDA graph, a replay runs none of the Python around them: each operation gets the same
    tensors, and each Python number is what it was. To read a tensor while recording is an error.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._made: list[tuple[Any, Any, Any, Any]] = []
        with Spy() as spy, _Recorder(self._made):
            work()
        if spy.reads:
            raise RuntimeError("a tensor was read by the host while recording; that is not allowed")

    def replay(self) -> None:
        """Run every operation again, on the same memory."""
        for operation, args, kwargs, made in self._made:
            out = operation(*args, **kwargs)
            for old, new in zip(_tensors(made), _tensors(out), strict=True):
                if old is not new and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


class _Calls(TorchFunctionMode):
    """Sees what no operation shows on a CPU: tolist(), numpy() and their like."""

    def __init__(self, spy: Spy) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.spy = spy

    def __torch_function__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before, name = self.spy.reads, getattr(call, "__name__", "")
        result = call(*args, **(kwargs or {}))
        if name == "one_hot":  # checks its numbers on a CPU only
            self.spy.reads = before
        from_tensors = call is torch.tensor and any(True for _ in _tensors(args))
        if name in CALLS or (name == "to" and "cpu" in args) or from_tensors:
            self.spy.reads = before + 1
        return result


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say no: to have the compiler skip it means to import the compiler, for seconds."""
        return False


class _Operations(_Mode):  # type: ignore[no-untyped-call]
    """Sees every operation on tensors."""

    def __init__(self, spy: Spy) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.spy = spy

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = call(*args, **(kwargs or {}))
        self.spy.reads += call in READS or (call in BY_MASK and _asks_the_mask(*args))
        given = {x.untyped_storage().data_ptr() for x in _tensors((args, kwargs))}
        for made in _tensors(result):
            if made.untyped_storage().data_ptr() not in given:
                self.spy.largest = max(self.spy.largest, made.untyped_storage().nbytes())
        return result


class _Recorder(_Mode):  # type: ignore[no-untyped-call]
    def __init__(self, made: list[tuple[Any, Any, Any, Any]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.made = made

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = call(*args, **(kwargs or {}))
        self.made.append((call, args, kwargs or {}, result))
        return result


def _asks_the_mask(x: Any, indices: Any, value: Any = None, *rest: Any) -> bool:
    """Say whether an index of True and False must be counted first; filling need not count."""
    masks = [index for index in indices if index is not None and index.dtype == torch.bool]
    return bool(masks) and (value is None or value.numel() != 1)


def _tensors(data: Any) -> Iterator[Tensor]:
    if isinstance(data, Tensor):
        yield data
    elif isinstance(data, list | tuple):
        for item in data:
            yield from _tensors(item)
    elif isinstance(data, dict):
        yield from _tensors(list(data.values()))
