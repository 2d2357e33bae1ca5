"""Files, names, paths and bodies that are made to hurt: each has a clear answer."""

import ast
import csv
import io
import os
import random
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from hostile_files import footed, lying, page_bomb, wide_parquet, written
from server_case import (
    API,
    Server,
    ask,
    csv_of,
    fair,
    fit,
    gone,
    jobs_csv,
    left_over,
    serving,
    shared_engine,
    upload,
)

from conftest import cluster_columns

pytest_plugins = ("server_fixtures",)
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the operator allows, beside one with secrets."""
    base = tmp_path_factory.mktemp("hostile")
    (base / "secret").mkdir()
    (base / "secret" / "keys.csv").write_bytes(b"user,password\nroot,zxqv\n" * 30)
    (base / "allowed").mkdir()
    (base / "allowed" / "jobs.csv").write_bytes(jobs_csv(60))
    return base


@pytest.fixture(scope="module")
def target(folder: Path, saved: Path) -> Iterator[Server]:
    words = ["--allow", str(folder / "allowed")]
    for limit in ("memory_bytes=1GiB", "upload_bytes=128MiB", "ask_workers=1"):
        words += ["--limit", limit]
    with serving(saved, folder / "state", *words) as running:
        with running.newcomer() as client:
            shared_engine(client)
        yield running
        # After everything below: nothing on its way, no process too many, and it still answers.
        assert left_over(running) == []
        workers = running.workers()
        assert len(workers) <= 2
        with running.newcomer() as client:
            assert ask(client, shared_engine(client)).status_code == 200
        kept = [path for path in (folder / "state").rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in kept) < 10_000_000
        bad = [one for one in running.events() if one.get("status", 0) >= 500 or "fault" in one]
        assert bad == []
    assert gone(workers)


@pytest.fixture
def villain(target: Server) -> Iterator[httpx.Client]:
    with target.newcomer() as client:
        yield client
        client.delete(f"{API}/workspaces/mine")


# Files


def test_pages_that_inflate(villain: httpx.Client) -> None:
    bomb = page_bomb()
    assert len(bomb) < 200_000
    assert "inflates" in fair(upload(villain, bomb, "x.parquet"), 413)["error"]
    fair(upload(villain, lying(bomb), "x.parquet"), 413)
    fair(upload(villain, bomb, "x.csv"), 413, 422)  # whatever it is called
    assert villain.get(f"{API}/datasets").json() == []


def test_labels_that_multiply(villain: httpx.Client) -> None:
    """Ten times 200 rows of one label of 2 MB: small in the file, 4 GB in memory."""
    label = pa.array(["x" * 2_000_000])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), label)
    content = written(pa.table({f"c{n}": column for n in range(10)}), compression="zstd")
    fair(upload(villain, content, "x.parquet"), 413)


def test_a_million_columns(villain: httpx.Client) -> None:
    header = b",".join(b"c%d" % n for n in range(10**6))
    told = fair(upload(villain, header + b"\n" + b"1," * 10**6 + b"1\n"), 413)
    assert "1,000,000 columns" in told["error"]
    assert (
        "100,000 columns" in fair(upload(villain, wide_parquet(10**5), "x.parquet"), 413)["error"]
    )
    fair(upload(villain, wide_parquet(10**6), "x.parquet"), 413, 422)


def test_many_columns_below_a_short_header(villain: httpx.Client) -> None:
    fair(upload(villain, b"a\n" + b"1," * 10**6 + b"1\n"), 413, 422)


def test_two_gigabytes_are_refused_unseen(villain: httpx.Client, target: Server) -> None:
    host, port = target.url.removeprefix("http://").split(":")
    piece = b"100000\r\n" + b"0,0\n" * 2**18 + b"\r\n"
    sent = 0
    with socket.create_connection((host, int(port)), timeout=60) as line:
        line.sendall(
            f"POST {API}/datasets/upload?name=x.csv HTTP/1.1\r\nHost: {host}\r\n"
            f"Compass-Workspace: {villain.headers['Compass-Workspace']}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        while sent < 2**31 and not select.select([line], [], [], 0)[0]:
            line.sendall(piece)
            sent += 2**20
        assert line.recv(4096).startswith(b"HTTP/1.1 413")
    assert 2**27 <= sent < 2**31
    assert left_over(target) == []
    assert villain.get(f"{API}/datasets").json() == []


def test_one_line_of_a_hundred_megabytes(villain: httpx.Client) -> None:
    fair(upload(villain, b"x" * 100_000_000), 413)
    fair(upload(villain, b"a,b\n" + b"x" * 60_000_000), 413, 422)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\r\r\r",
        b"PAR1",
        b"PAR1PAR1",
        footed(b""),
        footed(b"\xff" * 100),
        b"PAR1" + b"\0" * 100 + b"\xff\xff\xff\xff" + b"PAR1",
        b"\0" * 1000,
        b"\xff\xfe" + "a,b\n1,2\n".encode("utf-16-le"),
        b"\x1f\x8b\x08" + b"\0" * 50,
        b"PK\x03\x04" + b"\0" * 50,
        b"a\0b,c\n1,2\n",
        b'"' * 999,
        b'a,b\n"1,2\n' * 5,
        b"a,a,a\n1,2,3\n" * 3,
        b",,,\n1,2,3,4\n",
        b"a,b\n1\n1,2,3\n",
        b"=1+1,@x\n=cmd,2\n",
        b"a\xff,b\n\xfe,1\n",
        "größe,b\nü,1\n".encode("latin-1"),
        b"\xef\xbb\xbfa,b\n1,2\n",
        b"\xef\xbb\xbf",
        b"x" * 140_000 + b",b\n1,2\n",
        b"a,b\n" + b"9" * 5000 + b",1e999999\n",
        b"a,b\nNaN,inf\n-inf,nan\n",
    ],
    ids=lambda content: repr(content[:16]),
)
def test_odd_files(villain: httpx.Client, content: bytes) -> None:
    for name in ("x.csv", "x.tsv", "x.parquet"):
        answer = upload(villain, content, name)
        if answer.status_code != 201:
            fair(answer, 413, 422)
            continue
        # What was taken can be looked at.
        made = answer.json()["id"]
        assert villain.get(f"{API}/datasets/{made}/rows").status_code == 200
        told = villain.get(f"{API}/datasets/{made}/columns")
        assert told.status_code in {200, 422}


def test_damaged_parquet(villain: httpx.Client) -> None:
    whole = written(pa.table(cluster_columns(50)))
    rng = random.Random(5)
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            damaged[rng.randrange(len(whole))] = rng.randrange(256)
        cut = rng.randrange(8, len(whole)) if rng.random() < 0.3 else len(whole)
        answer = upload(villain, bytes(damaged[:cut]), "x.parquet")
        if answer.status_code != 201:
            fair(answer, 413, 422)


def test_damaged_models(villain: httpx.Client) -> None:
    for name in ("m.onnx", "m.txt", "m.json", "m.ubj", "m.skops", "m.keras", "m.pt", "m", "m.zip"):
        for content in (b"\0" * 64, b"PK\x03\x04" + b"\xff" * 64, b"tree\nversion=v4\n", b"{}" * 9):
            sent = villain.post(f"{API}/models/upload", params={"name": name}, content=content)
            fair(sent, 413, 422, 501)
    assert villain.get(f"{API}/models").json() == []


# Names


def test_labels_columns_and_names_that_want_to_be_run(
    villain: httpx.Client, target: Server
) -> None:
    odd = '"; filename=evil.exe; x="$(touch x)`id`{{1337*1337}}${1337*1337}<script>.csv'
    columns = cluster_columns(80)
    evil = {"=cmd|'/c calc'!A1": columns["gpus"], "@app": [f"=1+{v}" for v in columns["app"]]}
    table = {"runtime": columns["runtime"], "nodes": columns["nodes"], **evil}
    made = upload(villain, csv_of(table), odd).json()
    assert made["name"] == odd
    roles = {"runtime": {"role": "outcome"}, **{name: {"role": "knob"} for name in evil}}
    said = villain.put(f"{API}/datasets/{made['id']}/study", json={"columns": roles})
    assert said.status_code == 200, said.text
    engine = fit(villain, made["id"], rules=(), name=odd, surrogate="linear")
    query = {
        "kind": "recommend",
        "ask": list(evil),
        "goals": {"runtime": {"kind": "extreme", "direction": "minimize"}},
    }
    answer = ask(villain, engine, query)
    assert answer.status_code == 200, answer.text
    told = {
        form: villain.get(f"{API}/answers/{answer.json()['id']}/exports/{form}")
        for form in ("csv", "json", "sbatch", "python")
    }
    for one in told.values():
        assert one.status_code == 200
        assert "evil" not in one.headers["content-disposition"]
        assert "set-cookie" not in one.headers
        assert "1787569" not in one.text  # 1337 * 1337: no template was filled in
    for row in csv.reader(io.StringIO(told["csv"].text)):
        assert not any(cell.startswith(("=", "@", "+", "\t", "\r")) for cell in row), row
    assert "'=cmd" in told["csv"].text
    assert "'=1+" in told["csv"].text
    program = ast.parse(told["python"].text)
    assert odd in [one.value for one in ast.walk(program) if isinstance(one, ast.Constant)]
    assert not list(target.state.rglob("*evil*"))


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd.csv",
        "/etc/cron.d/x.csv",
        "..\\..\\x.csv",
        "a\u202egpj.csv",
        "\U0001f4a9.csv",
        ".csv",
        "x" * 190 + ".csv",
        "CON.csv",
        "%2e%2e%2f.csv",
        "x.csv/../../y.csv",
        " .csv",
        "x.CSV",
    ],
)
def test_names_are_only_names(villain: httpx.Client, target: Server, name: str) -> None:
    before = {path for path in target.state.parent.rglob("*") if "workspaces" not in path.parts}
    made = upload(villain, b"a,b\n1,2\n3,4\n", name)
    assert made.status_code == 201, made.text
    assert made.json()["name"] == name
    place = target.state / "workspaces" / villain.get(f"{API}/workspaces/mine").json()["id"]
    assert (place / "datasets" / made.json()["id"] / "runs.csv").is_file()
    after = {path for path in target.state.parent.rglob("*") if "workspaces" not in path.parts}
    assert after == before


@pytest.mark.parametrize(
    "name",
    ["", "x" * 197 + ".csv", "x.exe", "csv", "x.csv.php", "x.csv\n", "a\0.csv", "\x1b[2J.csv"],
)
def test_names_that_are_none(villain: httpx.Client, name: str) -> None:
    fair(upload(villain, b"a\n1\n", name), 422)


def test_columns_with_odd_names(villain: httpx.Client) -> None:
    names = [
        "line\nbreak",
        "\U0001f680",
        "x" * 5000,
        "'\"`$(id)",
        "{{7}}",
        "\u202e",
        "__class__",
        "a.b",
    ]
    made = upload(villain, csv_of({name: list(range(20)) for name in names}))
    if made.status_code != 201:
        fair(made, 422)
        return
    page = villain.get(f"{API}/datasets/{made.json()['id']}/rows").json()
    assert page["names"] == names
    assert villain.get(f"{API}/datasets/{made.json()['id']}/columns").status_code == 200


# Paths on the server


def by_path(client: httpx.Client, path: object) -> httpx.Response:
    return client.post(f"{API}/datasets/from-path", params={"wait": 60}, json={"path": str(path)})


def test_a_file_in_an_allowed_folder(villain: httpx.Client, folder: Path) -> None:
    made = by_path(villain, folder / "allowed" / "jobs.csv")
    assert made.status_code == 201, made.text
    rows = villain.get(f"{API}/datasets/{made.json()['id']}/rows").json()
    assert rows["total"] == 60
    whole = by_path(villain, folder / "allowed")
    assert whole.status_code in {201, 422}, whole.text


def test_paths_that_lead_elsewhere(villain: httpx.Client, folder: Path) -> None:
    allowed = folder / "allowed"
    (allowed / "link.csv").symlink_to(folder / "secret" / "keys.csv")
    (allowed / "door").symlink_to(folder / "secret")
    try:
        for path in (
            allowed / "link.csv",
            allowed / "door" / "keys.csv",
            allowed / "door",
            allowed / ".." / "secret" / "keys.csv",
            folder / "secret" / "keys.csv",
            f"{allowed}-not/x.csv",
            "/etc/passwd",
            "/proc/self/environ",
            "/dev/zero",
            "/dev/stdin",
            allowed / "nothing.csv",
            f"{allowed}/jobs.csv\0.csv",
            "~/x.csv",
            "file:///etc/passwd",
            "http://127.0.0.1/x.csv",
            "catalogue:x",
            ".",
            "x" * 4000,
        ):
            refused = by_path(villain, path)
            told = fair(refused, 403, 422)
            assert "zxqv" not in refused.text
            # Whether something is there is not told either.
            if refused.status_code == 403:
                assert told["code"] == "not-allowed"
    finally:
        (allowed / "link.csv").unlink()
        (allowed / "door").unlink()


def test_a_file_that_is_swapped_for_a_link(villain: httpx.Client, folder: Path) -> None:
    path = folder / "allowed" / "swapped.csv"
    path.write_bytes(jobs_csv(60))
    made = by_path(villain, path).json()["id"]
    path.unlink()
    path.symlink_to(folder / "secret" / "keys.csv")
    try:
        for view in ("rows", "columns", "rules"):
            refused = villain.get(f"{API}/datasets/{made}/{view}")
            fair(refused, 403)
            assert "password" not in refused.text
        sent = {"dataset": made, "surrogate": "forest"}
        fair(villain.post(f"{API}/engines", params={"wait": 60}, json=sent), 403)
    finally:
        path.unlink()


def test_a_pipe_is_not_waited_for(villain: httpx.Client, folder: Path) -> None:
    os.mkfifo(folder / "allowed" / "pipe.csv")
    try:
        fair(by_path(villain, folder / "allowed" / "pipe.csv"), 403)
    finally:
        (folder / "allowed" / "pipe.csv").unlink()
