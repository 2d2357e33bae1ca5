"""The executor `dask`: a Dask cluster that runs already, or one of its own on this machine."""

import logging
import re
from typing import Any

from compass import registry
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.execute.cluster import (
    NO_DASHBOARD,
    OnCluster,
    check_versions,
    connected,
    distributed,
    threads_of,
    tls_keys,
)
from compass.execute.options import count_of

_ADDRESS = re.compile(r"(tcp:|tls:|)//([^\s/:]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})")
_ARRIVAL = 30.0  # seconds for the scheduler to answer, and for a first worker to be there


@registry.add("executor", "dask")
class Dask(OnCluster):
    """A Dask cluster: `dask://host:8786`, `tls://host:8786`; `dask:4` starts one here."""

    name = "dask"

    def __init__(self, text: str = "") -> None:
        self.workers = 0
        address = _address(text) if "/" in text else None
        count = 0 if address else count_of(self.name, text)
        try:
            self._open(address, count)
        except BaseException:
            self.close()
            raise

    def _open(self, address: str | None, count: int) -> None:
        try:
            if address is None:
                self._cluster = _local(count)
            self._client = connected(address or self._cluster, seconds=_ARRIVAL)
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            where = f"at {address}" if address else "on this machine"
            raise EnvironmentProblem(
                f"there is no Dask scheduler {where}: {_first_line(error)}",
                hint="start one with: dask scheduler; dask worker HOST:PORT"
                if address
                else "in a script, put what runs below: if __name__ == '__main__':",
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_ARRIVAL)
        except TimeoutError as error:
            raise EnvironmentProblem(
                f"the Dask scheduler at {address} has no workers",
                hint="start some: dask worker HOST:PORT",
            ) from error
        check_versions(self._client)
        self.workers = threads_of(self._client)


def _address(text: str) -> str:
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise BadInput(
            f"'{text}' is no address of a Dask scheduler",
            hint="write dask://HOST:PORT, such as dask://login1:8786, or tls://HOST:PORT",
        )
    return text if found[1] else f"tcp:{text}"


def _local(count: int) -> Any:
    import dask

    package = distributed()
    # A second death is enough to suspect an item: it is then tried alone.
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        return package.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            protocol="tls://",
            security=tls_keys(),
            dashboard_address=None,
            scheduler_kwargs=NO_DASHBOARD,
            silence_logs=logging.CRITICAL,
        )


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
