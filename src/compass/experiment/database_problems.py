"""What a database complains of, as errors for people. Passwords are in none of them."""

from typing import Any

from sqlalchemy.exc import DBAPIError

from compass.domain.errors import (
    CompassError,
    EnvironmentProblem,
    ExperimentProblem,
    shortened,
)

# Result codes of SQLite, <https://sqlite.org/rescode.html>; the lower eight bits.
_BUSY, _LOCKED, _READ_ONLY, _IO, _CORRUPT, _FULL, _CANNOT_OPEN, _PROTOCOL, _NOT_A_DATABASE = (
    *(5, 6, 8, 10, 11, 13, 14, 15, 26),
)
# Conditions of PostgreSQL, <https://postgresql.org/docs/current/errcodes-appendix.html>.
_AGAIN = {"40001", "40P01", "55P03"}  # serialization failure, deadlock, lock not available
_UNIQUE = "23505"  # two made the same thing at once: the second one finds it on its next attempt

_RESTORE = "restore it from a copy, or save what can be read with: sqlite3 FILE .recover"
_NOTHING_LOST = "what was stored before is kept"


def passes(error: DBAPIError) -> bool:
    """Whether the same may succeed a little later: somebody else was writing."""
    if _of_sqlite(error):
        return _code(error) in (_BUSY, _LOCKED)
    return _state(error) in _AGAIN or _state(error) == _UNIQUE


def problem_of(error: DBAPIError, place: str, patience: float) -> CompassError:
    """The error that tells a person what the database complains of."""
    if _of_sqlite(error):
        return _sqlite_problem(error, place, patience)
    return _server_problem(error, place, patience)


def damaged(place: str) -> ExperimentProblem:
    """What stands in a file cannot be read."""
    return ExperimentProblem(f"{place} is damaged or cut short", hint=_RESTORE)


def _sqlite_problem(error: DBAPIError, place: str, patience: float) -> CompassError:
    known: dict[int, CompassError] = {
        _BUSY: _busy(place, patience),
        _LOCKED: _busy(place, patience),
        _PROTOCOL: EnvironmentProblem(
            f"files cannot be locked where {place} is",
            hint="put it on a file system that can lock files, or use --store postgresql://...",
        ),
        _READ_ONLY: EnvironmentProblem(
            f"{place} cannot be written to", hint="check its permissions and those of its folder"
        ),
        _FULL: EnvironmentProblem(
            f"no room is left on the disk of {place}", hint=f"make room; {_NOTHING_LOST}"
        ),
        _IO: EnvironmentProblem(
            f"the disk of {place} does not take or give data: {_text(error)}",
            hint=f"check the disk, its room and its quota; {_NOTHING_LOST}",
        ),
        _CANNOT_OPEN: EnvironmentProblem(
            f"{place} cannot be opened", hint="check the folder and its permissions"
        ),
        _CORRUPT: damaged(place),
        _NOT_A_DATABASE: ExperimentProblem(
            f"{place} is not a store of experiments",
            hint="name another file; the store of an experiment is made by its first run",
        ),
    }
    return known.get(_code(error)) or ExperimentProblem(
        f"{place} cannot be used: {_text(error)}", hint=_RESTORE
    )


def _server_problem(error: DBAPIError, place: str, patience: float) -> CompassError:
    state, said = _state(error), _text(error)
    if state in _AGAIN:
        return _busy(place, patience)
    if state in ("42501", "25006"):
        return EnvironmentProblem(
            f"{place} does not let this user write: {said}",
            hint="ask for the right to create tables in its schema, or for another database",
        )
    if state[:2] == "53":
        return EnvironmentProblem(
            f"{place} has no room or no connection left: {said}",
            hint=f"ask whoever keeps it; {_NOTHING_LOST}",
        )
    if not state or state[:2] in ("08", "57"):
        return EnvironmentProblem(
            f"no connection to {place}: {said}",
            hint=f"check that it runs, its address, user and password; {_NOTHING_LOST}",
        )
    return ExperimentProblem(
        f"{place} cannot be used: {said}", hint="check that no other program changes its tables"
    )


def _busy(place: str, patience: float) -> CompassError:
    return EnvironmentProblem(
        f"{place} has been locked by another program for {patience:g} s",
        hint="end the program that holds it, or try again; nothing was changed",
    )


def _of_sqlite(error: DBAPIError) -> bool:
    return type(error.orig).__module__.startswith("sqlite3")


def _code(error: DBAPIError) -> int:
    code: Any = getattr(error.orig, "sqlite_errorcode", 0)
    return int(code) & 0xFF


def _state(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""


def _text(error: DBAPIError) -> str:
    """The first line of what the database says; statements and their values are not in it."""
    lines = str(error.orig).strip().splitlines()
    plain = "".join(sign if sign.isprintable() else "?" for sign in "".join(lines[:1]))
    return shortened(plain, 200) if plain else type(error.orig).__name__
