"""The audit log and retention: lines are only added, old things go, used ones stay."""

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from compass.domain.api import AnswerInfo, ModelInfo
from compass.domain.limits import ServerLimits
from compass.server.audit import AuditLog
from compass.server.retention import expire
from compass.server.service import Service
from compass.server.settings import ServerSettings
from compass.server.store import Workspace, now

NAMES = [f"{n:016x}" for n in range(3)]


def aged(path: Path, days: float) -> None:
    moment = time.time() - 86_400 * days
    os.utime(path, (moment, moment))


def test_lines_are_added_after_one_that_was_cut_short(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    log.add(action="first")
    [file] = log.folder.iterdir()
    with file.open("ab") as cut:
        cut.write(b'{"action": "cu')
    AuditLog(tmp_path).add(action="second")
    today = datetime.now(UTC).date()
    assert [one["action"] for one in log.lines(today)] == ["first", "second"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_the_disk_does_not_take_goes_to_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = AuditLog(tmp_path)
    with patch.object(os, "write", side_effect=OSError(28, "full")):
        log.add(action="lost", user="ada")
    [told] = [one for one in caplog.records if one.msg == "audit"]
    assert told.facts["line"]["user"] == "ada"  # type: ignore[attr-defined]


def test_lines_of_several_servers_are_one_log(tmp_path: Path) -> None:
    logs = [AuditLog(tmp_path, server) for server in ("a" * 16, "b" * 16, "")]
    for number in range(9):
        logs[number % 3].add(action=str(number))
    today = datetime.now(UTC).date()
    assert len(list((tmp_path / "audit").iterdir())) == 3
    assert logs[0].days() == [today]
    times = [line["time"] for line in logs[0].lines(today)]
    assert times == sorted(times)
    assert {line["action"] for line in logs[1].lines(today)} == set("012345678")


def test_old_days_of_the_log_are_removed(tmp_path: Path) -> None:
    log = AuditLog(tmp_path)
    today = datetime.now(UTC).date()
    for days in (0, 9, 10, 11, 40):
        (log.folder / f"{today - timedelta(days=days)}.jsonl").write_text("{}\n")
    (log.folder / "2026-13-01.jsonl").write_text("not a day\n")
    assert log.expire(0) == 0
    assert log.expire(10) == 2
    assert [(today - one).days for one in log.days()] == [10, 9, 0]


def keep_answer(workspace: Workspace, name: str, days: float) -> None:
    with workspace.making("answers", name) as draft:
        about = AnswerInfo(id=name, engine=NAMES[0], created=now(), text="?", answered=True)
        (draft / "about.json").write_text(about.model_dump_json())
    place = workspace.place("answers", name)
    aged(place / "about.json", days)
    aged(place, days)


def test_what_nobody_used_is_removed_and_noted(tmp_path: Path) -> None:
    limits = ServerLimits(keep_answers_days=30, keep_workspaces_days=90, ask_workers=1)
    service = Service(ServerSettings(state=tmp_path / "state", limits=limits))

    async def scenario() -> dict[str, int]:
        ada, left = service.store.of("user:ada"), service.store.of("user:left")
        for name, days in zip(NAMES, (1, 29, 31), strict=True):
            keep_answer(ada, name, days)
        ada.put("models", NAMES[0], ModelInfo(id=NAMES[0], name="m", created=now()))
        aged(ada.place("models", NAMES[0]) / "about.json", 1000)  # models are not made again
        aged(left.folder / "about.json", 91)
        aged(ada.folder / "about.json", 89)
        first = await expire(service)
        assert await expire(service) == {"workspaces": 0, "answers": 0, "chats": 0, "audit": 0}
        assert sorted(ada.names("answers")) == NAMES[:2]
        assert ada.has("models", NAMES[0])
        assert not left.folder.exists()
        ada.note_use()
        assert datetime.now(UTC) - ada.used < timedelta(hours=1)
        await service.close()
        return first

    gone = asyncio.run(scenario())
    assert gone == {"workspaces": 1, "answers": 1, "chats": 0, "audit": 0}
    lines = list(service.audit.lines(datetime.now(UTC).date()))
    assert [one["action"] for one in lines] == ["expired", "expired"]


def test_without_a_limit_nothing_is_ever_removed(tmp_path: Path) -> None:
    settings = ServerSettings(state=tmp_path / "state", limits=ServerLimits(ask_workers=1))
    service = Service(settings)

    async def scenario() -> None:
        ada = service.store.of("user:ada")
        keep_answer(ada, NAMES[0], 5000)
        aged(ada.folder / "about.json", 5000)
        assert not any((await expire(service)).values())
        await service.close()

    asyncio.run(scenario())
