"""Writes the table that is looked up at submit time, and the scripts that do so."""

import hashlib
import string
import time
from importlib import resources
from pathlib import Path
from typing import Literal

import numpy as np

from compass import files, release
from compass.domain.base import Noun
from compass.domain.errors import BadInput
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.choose import OFTEN_CUT_OFF, rounded
from compass.schedule.advice.history import Similarity
from compass.schedule.advice.jobs import application_of

Mode = Literal["observe", "advise", "enforce"]
MODES: tuple[Mode, ...] = ("observe", "advise", "enforce")
SCRIPTS = ("cli_filter.lua", "job_submit.lua")
_ENOUGH = 20  # similar jobs; fewer are no ground for what nobody looks at
_MOST = 50_000  # kinds of jobs: a table of them is loaded in a tenth of a second
_DAYS = 14.0
_PLAIN = frozenset((string.ascii_letters + string.digits + " _-./#").encode())


class HookReport(Noun):
    """What was written."""

    folder: str
    kinds: int
    mode: Mode
    table: str


def build_hook(
    advisor: Advisor,
    folder: Path,
    mode: Mode = "observe",
    *,
    days: float = _DAYS,
    log: str | None = None,
) -> HookReport:
    """Write `table.lua` and the scripts that look into it; each file is replaced whole."""
    if mode not in MODES:
        raise BadInput(f"there is no mode '{mode}'", hint=f"one of: {', '.join(MODES)}")
    where = str(folder.resolve())
    if not where.isprintable() or any(one in where for one in '"\\'):
        raise BadInput(f"{where!r} cannot be named in a script", hint="a plain path")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadInput(f"cannot make {folder}: {problem.strerror}", hint="another folder") from None
    entries = _entries(advisor)
    body = "\n".join(entries)
    digest = hashlib.blake2b(body.encode(), digest_size=6).hexdigest()
    table = [
        "return {",
        f"id = {_quoted(digest)},",
        f"compass = {_quoted(release.version())},",
        f"built = {int(time.time())},",
        f"longest = {int(days * 86400)},",
        f"mode = {_quoted(mode)},",
        *([f"log = {_quoted(log)},"] if log else []),
        "jobs = {",
        body,
        "}}",
    ]
    files.write_text(folder / "table.lua", "\n".join(table) + "\n")
    own = resources.files("compass.schedule.hook")
    common = own.joinpath("common.lua").read_text().replace("@FOLDER@", where)
    for name in SCRIPTS:
        script = own.joinpath(name).read_text().replace("@COMMON@\n", common)
        files.write_text(folder / name, script)
    for name in ("table.lua", *SCRIPTS):
        (folder / name).chmod(0o644)  # everybody who submits reads them
    return HookReport(folder=where, kinds=len(entries), mode=mode, table=digest)


def _entries(advisor: Advisor) -> list[str]:
    """One line for each kind of job that past jobs tell enough of."""
    past = advisor.past
    own = advisor.groups[Similarity.OWN]
    order = np.argsort(own, kind="stable")
    _, starts, counts = np.unique(own[order], return_index=True, return_counts=True)
    enough = np.flatnonzero(counts >= _ENOUGH)
    latest = order[starts[enough] + counts[enough] - 1]
    rows = np.sort(latest)[-_MOST:]
    jobs = past.take(rows)
    at = np.full(len(rows), advisor.now)
    amounts = {
        of: one.amounts(jobs, at)
        for of, one in advisor.needs.items()
        if len(one.need) and len(rows)
    }
    similar = dict(zip(own[order][starts].tolist(), counts.tolist(), strict=True))
    entries = []
    for place, row in enumerate(rows.tolist()):
        user, application = past.user[row], application_of(past.name[row])
        if user is None or application is None:
            continue
        told = []
        for of, option, unit in (("memory", "mem", 2.0**20), ("time", "time", 60.0)):
            one = amounts[of].row(place) if of in amounts else None
            if one is None or np.isnan(one.values).any() or one.highest[0] < 1.0 - advisor.risk:
                continue
            if one.cut_off[0] > OFTEN_CUT_OFF:  # as in `choose`
                continue
            new = rounded(of, float(one.amount(advisor.risk)[0])) / unit
            least = float(one.amount(min(2 * advisor.risk, 0.5))[0]) / unit
            told.append(f"{option} = {int(np.ceil(new))}, {option}_least = {int(least)}")
        if told:
            key = _quoted(f"{user}\0{application}")
            count = similar[int(own[row])]
            entries.append(
                f"[{key}] = {{ {', '.join(told)}, similar = {count}, risk = {advisor.risk} }},"
            )
    return entries


def _quoted(text: str) -> str:
    """A text as Lua writes it: nothing in it can end it."""
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03}" for b in text.encode()) + '"'
