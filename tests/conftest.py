"""Tables that many tests share. All are generated from stated laws, so that truth is at hand."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
import postgres_lab
from compass.settings import ForestSettings, TrustSettings
from slurm_lab import NotHere, SlurmLab, borrowed


def cluster_columns(n: int = 1500, seed: int = 3) -> dict[str, list[object]]:
    """Jobs of two applications: runtime by Amdahl's law, power by nodes and cores."""
    rng = np.random.default_rng(seed)
    app = rng.choice(["lammps", "wrf"], n)
    size = rng.choice([100, 200, 400], n)
    nodes = rng.choice([1, 2, 4, 8], n)
    cores = nodes * rng.choice([8, 16, 32], n)
    gpus = rng.choice([0, 1, 2, 4], n)
    serial = np.where(app == "wrf", 0.2, 0.05)
    runtime = size * (serial + (1 - serial) / cores) / (1 + 0.3 * gpus)
    power = 100 * nodes + 2.0 * cores + 50 * gpus
    state = np.where(runtime > 60, "TIMEOUT", "COMPLETED")
    return {
        "app": app.tolist(),
        "size": size.tolist(),
        "nodes": nodes.tolist(),
        "cores": cores.tolist(),
        "gpus": gpus.tolist(),
        "runtime": (runtime * rng.normal(1, 0.01, n)).tolist(),
        "power": (power * rng.normal(1, 0.01, n)).tolist(),
        "state": state.tolist(),
    }


# Small forests, for tests that are not about how well something is learnt.
QUICK = cp.Settings(
    surrogate="forest", forest=ForestSettings(trees=10), trust=TrustSettings(trees=4)
)
ROLES = {
    "knobs": ["nodes", "cores", "gpus"],
    "context": ["app", "size"],
    "outcomes": ["runtime", "power", "state"],
}


# Tests of these files ask the same server: it is started once if one worker has them all.
ONE_SERVER = {
    f"tests/server/test_server_{name}.py"
    for name in ("about", "access", "bodies", "follow", "review", "routes")
}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Thousands of tests are found without looking for garbage among them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files stay whole, as `--dist loadfile` says, and those that share a server stay together."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "one server" if file in ONE_SERVER else file

    return Files(config, log)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of the tests, never a person's; commands of one worker share their models."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPASS_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def cluster() -> cp.Dataset:
    return cp.read(pa.table(cluster_columns())).roles(**ROLES)


@pytest.fixture(scope="session")
def engine(cluster: cp.Dataset) -> cp.Compass:
    rules = ["cores <= 32 * nodes", "cores >= 8 * nodes"]
    # Every worker learns it once: 30 trees tell the laws apart as well as 100.
    few = cp.Settings(surrogate="forest", forest=ForestSettings(trees=30))
    return cp.Compass(cluster, rules=rules, settings=few).fit()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public tables; tests that need it skip where it is absent."""
    here = Path(__file__).resolve().parent.parent
    folder = Path(os.environ.get("COMPASS_DATA", here.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no public tables at {folder}; set COMPASS_DATA to where they are")
    return folder


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmLab]:
    """A real one-node Slurm with accounting, shared by all test workers; `SLURM_CONF` names it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    before = os.environ.get("SLURM_CONF")
    try:
        with borrowed(shared) as lab:
            os.environ["SLURM_CONF"] = str(lab.conf)
            yield lab
    except NotHere as reason:
        pytest.skip(f"no Slurm: {reason}")
    finally:
        os.environ.pop("SLURM_CONF", None)
        if before is not None:
            os.environ["SLURM_CONF"] = before


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres_lab.PostgresLab]:
    """A real PostgreSQL, shared by all test workers; each test makes a database in it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    try:
        with postgres_lab.borrowed(shared) as lab:
            yield lab
    except postgres_lab.NotHere as reason:
        if "CI" in os.environ:
            pytest.fail(f"no PostgreSQL: {reason}")
        pytest.skip(f"no PostgreSQL: {reason}")


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder that others may enter, in memory where there is such: disks wait at every write."""
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_place(request: pytest.FixtureRequest, quick_folder: Path) -> str:
    """Where a store of experiments can be made: a file, and a database of a PostgreSQL."""
    if request.param == "sqlite":
        return str(quick_folder / "tune.experiment")
    lab: postgres_lab.PostgresLab = request.getfixturevalue("postgres")
    return lab.database()
