"""The catalogue: every entry is sound, and files come whole or not at all."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import compass as cp
from compass.domain.errors import DataProblem, EnvironmentProblem, StudyProblem, UnknownName
from compass.engine.rules import broken_by, standing
from compass.prepare.study_file import study_of
from compass.readers import read
from compass.readers.catalogue import (
    Piece,
    PreparedFile,
    PublicDataset,
    catalogue,
    entry,
    getting,
    known,
)
from compass.readers.catalogue.getting import obtain, sha256

CONTENT = b"nodes,gpus,runtime\n" + b"".join(
    b"%d,%d,%.1f\n" % (n, g, 100 / n + g) for n in (1, 2, 4, 8) for g in (0, 1) for _ in range(5)
)
SUM = hashlib.sha256(CONTENT).hexdigest()
NAMES = sorted(catalogue())


class Server(ThreadingHTTPServer):
    """Serves /jobs.csv whole, /cut.csv half, and nothing else."""

    asked = 0

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        self.server.asked += 1
        name = self.path.strip("/")
        if name not in ("jobs.csv", "cut.csv"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT if name == "jobs.csv" else CONTENT[:100])

    def log_message(self, *_: object) -> None:
        """Tests are silent."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COMPASS_DATA", raising=False)
    monkeypatch.setenv("COMPASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def toy(address: str, **fields: object) -> PublicDataset:
    """A dataset of one file at this address."""
    piece = {"path": address.rpartition("/")[2], "url": address, "sha256": SUM}
    study = {
        "columns": {
            "nodes": {"role": "knob"},
            "gpus": {"role": "knob"},
            "runtime": {"role": "outcome", "unit": "s"},
        },
        "rules": ["gpus <= nodes"],
        "drop": ["not_here"],
    }
    pieces = (Piece(**{**piece, **fields}),)
    return PublicDataset(
        name="toy", about="a toy", licence="none", rows=40, files=pieces, study=study
    )


def holding(monkeypatch: pytest.MonkeyPatch, one: PublicDataset) -> None:
    monkeypatch.setattr(known, "catalogue", lambda: {one.name: one})


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_sound(name: str) -> None:
    one = entry(name)
    assert one.about
    assert one.licence
    assert one.downloads or one.instructions, "there must be a way to get it"
    assert one.repository or one.doi or one.page
    assert one.repository is None or len(one.commit or "") == 40
    assert len({piece.name for piece in one.files}) == len(one.files)
    for piece in one.files:
        parts = urlsplit(one.address(piece))
        assert parts.scheme == "https"
        assert parts.netloc
        assert piece.sha256 is None or len(bytes.fromhex(piece.sha256)) == 32
        assert piece.sha256 is not None or piece.mirror is None or not one.repository
    study = study_of(one.study)
    assert set(study.columns).isdisjoint(study.drop)
    if one.study:
        assert one.columns("outcome")
    assert not one.table or one.rows


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_that_is_here_is_read_with_its_study(
    name: str, real_data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(real_data))
    one = entry(name)
    held = [piece.mirror for piece in one.files]
    places = [one.prepared.path] if one.prepared else [place for place in held if place]
    if not places or not all((real_data / place).is_file() for place in places):
        pytest.skip(f"{name} is not in {real_data}")
    if not one.table:
        assert len(obtain(one).paths) == len(one.files)
        return
    if (one.rows or 0) > 40_000 and name.startswith("rodinia"):
        pytest.skip("its columns are those of the smaller kernels")
    data = cp.read(f"dataset:{name}")
    assert data.table.rows == one.rows
    space = data.prepared.space
    for role in ("knob", "context", "outcome"):
        for column in one.columns(role):
            assert space[column].role.value == role
    broken = broken_by(data.prepared, standing(data))
    assert len(broken) == len(one.rules)
    assert not any(broken.values())


def test_a_file_is_downloaded_once_and_checked(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding(monkeypatch, toy(server.address("jobs.csv")))
    before = server.asked
    seen: list[tuple[str, int, int]] = []
    found = obtain(entry("toy"), progress=lambda *step: seen.append(step))
    assert found.paths == (cache / "toy" / "jobs.csv",)
    assert found.paths[0].read_bytes() == CONTENT
    assert seen[-1][1:] == (len(CONTENT), len(CONTENT))
    assert obtain(entry("toy")) == found
    assert server.asked == before + 1
    found.paths[0].write_bytes(CONTENT[:-3])  # damaged on disk: it is fetched again
    assert sha256(obtain(entry("toy")).paths[0]) == SUM
    assert server.asked == before + 2
    assert files(cache) == ["toy/jobs.csv"]


def test_its_study_is_known_and_yours_has_the_last_word(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding(monkeypatch, toy(server.address("jobs.csv")))
    data = cp.read("dataset:toy")
    assert data.study.rules == ("gpus <= nodes",)
    assert data.study.drop == ()
    assert data.prepared.space["runtime"].unit == "s"
    assert data.table.parts[0].file == str(cache / "toy" / "jobs.csv")
    mine = cp.read("dataset:toy", study={"columns": {"gpus": {"role": "context"}}})
    assert mine.prepared.space["gpus"].role.value == "context"
    assert mine.prepared.space["nodes"].role.value == "knob"
    with pytest.raises(StudyProblem, match="coulmns"):
        cp.read("dataset:toy", study={"coulmns": {}})


def test_an_unknown_checksum_is_recorded_and_held_to(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = toy(server.address("jobs.csv"), sha256=None)
    assert obtain(one).recorded == ("jobs.csv",)
    assert (cache / "toy" / "jobs.csv.sha256").read_text() == SUM
    assert obtain(one).recorded == ()
    (cache / "toy" / "jobs.csv.sha256").write_text("0" * 64)
    with pytest.raises(DataProblem, match="is not the file that the catalogue knows"):
        obtain(one)


def test_another_file_than_the_known_one_is_not_kept(server: Server, cache: Path) -> None:
    with pytest.raises(DataProblem) as caught:
        obtain(toy(server.address("jobs.csv"), sha256="0" * 64))
    assert "0" * 64 in caught.value.message
    assert "nothing was kept" in caught.value.message
    assert files(cache) == []


def test_a_cut_connection_leaves_nothing(server: Server, cache: Path) -> None:
    before = server.asked
    with pytest.raises(EnvironmentProblem) as caught:
        obtain(toy(server.address("cut.csv"), sha256=None))
    assert "the connection was cut" in caught.value.message
    assert server.asked == before + getting.TRIES
    assert files(cache) == []


def test_a_file_that_is_gone(server: Server, cache: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="answers 404"):
        obtain(toy(server.address("gone.csv")))
    assert files(cache) == []


def test_without_network_the_host_and_a_way_out_are_named(cache: Path) -> None:
    address = "http://127.0.0.1:1/jobs.csv"  # nobody listens there
    with pytest.raises(EnvironmentProblem) as caught:
        obtain(toy(address))
    assert "127.0.0.1:1: there is no connection" in caught.value.message
    assert address in caught.value.hint
    assert "COMPASS_DATA" in caught.value.hint
    with pytest.raises(EnvironmentProblem, match=r"no-such-host\.invalid"):
        obtain(toy("https://no-such-host.invalid/jobs.csv"))
    assert files(cache) == []


def test_a_mirror_needs_no_network(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = toy("http://127.0.0.1:1/jobs.csv", mirror="old/place.csv")
    mirror = tmp_path / "mirror"
    for place in ("old/place.csv", "toy/jobs.csv"):
        (mirror / place).parent.mkdir(parents=True)
        (mirror / place).write_bytes(CONTENT)
        monkeypatch.setenv("COMPASS_DATA", str(mirror))
        assert obtain(one).paths == (mirror / place,)
    (mirror / "toy" / "jobs.csv").write_bytes(CONTENT + b"9,9,9\n")
    with pytest.raises(DataProblem) as caught:
        obtain(one)
    assert SUM in caught.value.message
    assert str(mirror / "toy" / "jobs.csv") in caught.value.message
    assert not cache.exists()


def test_a_prepared_table_is_used_where_a_mirror_has_it(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = PublicDataset(
        name="toy",
        about="a toy",
        licence="none",
        rows=40,
        prepared=PreparedFile(path="toy/table.csv", sha256=SUM),
        instructions="ask for it",
    )
    with pytest.raises(EnvironmentProblem, match="cannot be downloaded") as caught:
        obtain(one)
    assert caught.value.hint == "ask for it"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "table.csv").write_bytes(CONTENT)
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    assert obtain(one).prepared
    holding(monkeypatch, one)
    assert read("dataset:toy").rows == 40


def test_headers_and_file_names_are_put_right(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = tuple(
        Piece(
            path=f"{gpu}/{name}",
            url=server.address("jobs.csv"),
            names=("n", "g", "t"),
            constants={"gpu": gpu, "watts": 250},
        )
        for gpu, name in (("a40", "a.csv"), ("v100", "b.csv"))
    )
    one = PublicDataset(name="toy", about="a toy", licence="none", rows=80, files=pieces)
    holding(monkeypatch, one)
    table = read("dataset:toy")
    assert table.names == ("n", "g", "t", "gpu", "watts")
    assert table.row(40) == {"n": 1, "g": 0, "t": 100.0, "gpu": "v100", "watts": 250}
    assert files(cache) == ["toy/a.csv", "toy/a.csv.sha256", "toy/b.csv", "toy/b.csv.sha256"]


def test_a_folder_of_ones_own(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = toy(server.address("jobs.csv"))
    folder = tmp_path / "mine"
    assert obtain(one, folder).paths == (folder / "toy" / "jobs.csv",)
    assert not cache.exists()
    monkeypatch.setenv("COMPASS_DATA", str(folder))  # it serves as a mirror from now on
    assert obtain(toy("http://127.0.0.1:1/jobs.csv")).paths == (folder / "toy" / "jobs.csv",)
    other = tmp_path / "other"
    assert obtain(one, other).paths == (other / "toy" / "jobs.csv",)
    assert files(other) == ["toy/jobs.csv"]


def test_a_cache_that_cannot_be_written(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = toy(server.address("jobs.csv"))
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", Path("/proc/compass")):
        monkeypatch.setenv("COMPASS_CACHE", str(place))
        with pytest.raises(EnvironmentProblem, match="cannot write to") as caught:
            obtain(one)
        assert "COMPASS_CACHE=DIR" in caught.value.hint
    if os.geteuid() == 0:
        return  # the superuser may write everywhere
    cache.mkdir()
    cache.chmod(0o500)
    monkeypatch.setenv("COMPASS_CACHE", str(cache))
    with pytest.raises(EnvironmentProblem, match="Permission denied"):
        obtain(one)


def test_a_full_disk_leaves_nothing(server: Server, cache: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "from compass.readers.catalogue import Piece, PublicDataset, obtain\n"
        "piece = Piece(path='jobs.csv', url=sys.argv[1])\n"
        "one = PublicDataset(name='toy', about='a', licence='n', rows=1, files=(piece,))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n    obtain(one)\nexcept Exception as problem:\n"
        "    print(type(problem).__name__, problem.message)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, server.address("jobs.csv")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("EnvironmentProblem cannot write to"), done
    assert files(cache) == []


def test_unknown_names_offer_the_nearest(cache: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        read("dataset:kripk")
    assert "kripke" in caught.value.hint


def test_what_is_not_one_table_is_got_but_not_read(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = toy(server.address("jobs.csv")).model_copy(update={"table": False})
    holding(monkeypatch, one)
    assert len(obtain(one).paths) == 1
    with pytest.raises(DataProblem, match="not one table"):
        read("dataset:toy")


def test_the_authors_file_gives_the_same_table_as_the_prepared_one(
    real_data: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(real_data))
    wanted = read("dataset:kripke-test")
    prepared = (real_data / "stampede2_apps" / "kripke_test.csv").read_text()
    place = tmp_path / "mirror" / "kripke-test"
    place.mkdir(parents=True)
    # The authors' header has one name too few.
    (place / "kt0_nnodes1_test.csv").write_text(prepared.removeprefix("idx,"))
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path / "mirror"))
    found = read("dataset:kripke-test")
    assert found.parts[0].file == str(place / "kt0_nnodes1_test.csv")
    assert found.fingerprint == wanted.fingerprint


def test_no_rows_are_shipped() -> None:
    folder = Path(known.__file__).parent
    assert {path.suffix for path in folder.iterdir() if path.is_file()} <= {".py", ".yaml"}
    assert (folder / "entries.yaml").stat().st_size < 100_000
