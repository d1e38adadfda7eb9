"""The same jobs on a Dask cluster: its scheduler hands them out, its workers run them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..problem import Problem
from .jobs import Job, run_job

__all__ = ["LOCAL", "on_cluster"]

LOCAL = "local"
ADVICE = 'Dask is not installed; run: python -m pip install -c constraints.txt -e ".[cluster]"'
Run = Callable[[Job], dict[str, Any]]


@contextlib.contextmanager
def on_cluster(address: str, workers: int) -> Iterator[tuple[Run, int]]:
    """Give a function that runs a job on a cluster, and how many jobs it runs at a time.

    ``address`` is a scheduler's, as in ``tcp://host:8786``; "local" starts ``workers`` workers on
    this machine. Workers need the same release of the course, and a way to seal.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise Problem(ADVICE) from None
    with contextlib.ExitStack() as stack:
        if address == LOCAL:
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            address = stack.enter_context(cluster)
        try:
            client = stack.enter_context(Client(address, timeout=30))
        except (OSError, TimeoutError, ValueError) as error:
            raise Problem(f"no Dask scheduler answers at {address}: {error}") from None
        threads = sum(client.nthreads().values())
        if not threads:
            raise Problem(f"the scheduler at {address} has no workers yet")
        yield lambda job: dict(client.submit(run_job, job, pure=False).result()), threads
