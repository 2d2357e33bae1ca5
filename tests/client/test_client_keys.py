"""The file with the keys of workspaces: private, whole, one list for each server."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compass.client import keys
from compass.domain.errors import BadInput

HERE, THERE = "http://127.0.0.1:8765", "https://hpc.example"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "compass"


def keep(url: str, key: str) -> None:
    with keys.locked():
        keys.remember(url, key)


def test_each_server_has_its_own_keys_and_the_last_used_is_the_first() -> None:
    assert keys.known(HERE) == []
    keep(HERE, "a")
    keep(THERE, "b")
    keep(HERE, "c")
    assert (keys.known(HERE), keys.known(THERE)) == (["c", "a"], ["b"])
    keep(HERE, "a")
    assert keys.known(HERE) == ["a", "c"]


def test_nobody_else_can_read_it_and_nothing_else_is_left(home: Path) -> None:
    keep(HERE, "a")
    assert stat.S_IMODE((home / "servers.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert sorted(path.name for path in home.iterdir()) == ["servers.json", "servers.lock"]


def test_it_does_not_grow_for_ever() -> None:
    for number in range(30):
        keep(HERE, str(number))
    assert keys.known(HERE) == [str(number) for number in range(29, 19, -1)]


def test_nothing_is_lost_when_many_write_at_once() -> None:
    urls = [f"http://host{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda url: keep(url, "k"), urls))
    assert all(keys.known(url) == ["k"] for url in urls)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"servers": 3}', '{"servers": {"u": 3}}', "\0"])
def test_a_damaged_file_is_told_and_not_written_over(home: Path, text: str) -> None:
    home.mkdir(parents=True)
    (home / "servers.json").write_text(text)
    with pytest.raises(BadInput, match="is damaged") as error:
        keys.known(HERE)
    assert "remove it" in error.value.hint
    with pytest.raises(BadInput):
        keep(HERE, "a")
    assert (home / "servers.json").read_text() == text


def test_it_is_json_that_people_can_read(home: Path) -> None:
    keep(HERE, "a")
    assert json.loads((home / "servers.json").read_text()) == {"servers": {HERE: ["a"]}}
