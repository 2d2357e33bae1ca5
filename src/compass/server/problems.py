"""What goes wrong, as answers that people and programs understand."""

import signal
from typing import Any

from compass.domain.api import Problem
from compass.domain.errors import (
    CODES,
    CompassError,
    ConflictingRules,
    QuerySyntax,
    UnknownName,
)

# What a process ends by when something in C gets no memory, or fails.
_OF_LIBRARIES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)

FAULT = 500  # the status of what should not happen
LONGEST_HEAD = 32 * 1024  # bytes of the address and the headers of a request


class Refused(CompassError):
    """A request that is not served, and the HTTP status that says so."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.problem = Problem(error=message, hint=hint, code=code)

    @property
    def passing(self) -> bool:
        """Whether the same request may be served another time."""
        return self.retry_after is not None

    @classmethod
    def of(cls, status: int, problem: Problem, retry_after: int | None = None) -> "Refused":
        """A problem that was described before, as it was."""
        refused = cls(
            status, problem.code, problem.error, hint=problem.hint, retry_after=retry_after
        )
        refused.problem = problem
        return refused


def not_found(what: str) -> Refused:
    """There is no such thing in this workspace."""
    return Refused(
        404, "not-found", f"there is no such {what} here", hint="list what there is, and try again"
    )


def not_allowed(code: str, message: str, hint: str) -> Refused:
    """Something that this person may not do."""
    return Refused(403, code, message, hint=hint)


def no_workspace(message: str) -> Refused:
    """A request that names no workspace that it may use."""
    return Refused(
        401,
        "no-workspace",
        message,
        hint="make one with POST /api/v1/workspaces and send its key as Compass-Workspace",
    )


def no_suggestion(count: int, why: str | None) -> Refused:
    """An answer has fewer suggestions than that, or says why it has none."""
    message = f"the answer has {count} suggestions"
    return Refused(404, "no-suggestion", message, hint=why or "count from 1")


def too_large(message: str, hint: str) -> Refused:
    """More than the server allows."""
    return Refused(413, "too-large", message, hint=hint)


def workspace_busy(
    seconds: int,
    count: int,
    what: str = "pieces of work of this workspace are already waiting or running",
) -> Refused:
    """One workspace asks for too much at once."""
    return Refused(
        429,
        "too-many-requests",
        f"{count} {what}",
        hint="wait for some of them, or cancel them",
        retry_after=seconds,
    )


def busy(
    seconds: int, message: str = "the server has more work than it may keep waiting"
) -> Refused:
    """Everybody together asks for too much at once."""
    return Refused(
        503,
        "busy",
        message,
        hint=f"try again in {seconds} s",
        retry_after=seconds,
    )


def unfinished() -> Refused:
    """A file that would lack what is still being worked out."""
    return Refused(
        409,
        "unfinished",
        "what this file holds is still being worked out",
        hint="ask for it again: the work goes on meanwhile",
        retry_after=1,
    )


def too_slow(message: str) -> Refused:
    """A request that comes too slowly."""
    return Refused(408, "too-slow", message, hint="send it again, over a better connection")


def head_too_long() -> Refused:
    """A request with a long address, or with many or long headers."""
    return Refused(
        431,
        "headers-too-large",
        f"the address and the headers of the request are longer than {LONGEST_HEAD:,} bytes",
        hint="send what is long in the body of a request, or leave it out",
    )


def unreadable() -> Refused:
    """What came is no request of HTTP."""
    return Refused(
        400, "unreadable", "the request is no valid HTTP", hint="talk HTTP/1.1 to this port"
    )


def damaged(what: str, hint: str = "delete it and make it again") -> Refused:
    """What is kept cannot be read any more: nobody's request can help that."""
    return Refused(409, "damaged", f"this {what} is damaged on the server", hint=hint)


def closing() -> Refused:
    """The server is on its way down."""
    return Refused(
        503, "closing", "the server is shutting down", hint="try again soon", retry_after=5
    )


def unreachable() -> Refused:
    """The response when the database does not answer."""
    return Refused(
        503,
        "database",
        "the server cannot reach its database",
        hint="try again soon; if it happens again, tell the operator",
        retry_after=5,
    )


def fault(name: str) -> Refused:
    """Something that should not happen, and that the operator finds in the log by its name."""
    hint = f"tell the operator: the log has the fault {name}"
    return Refused(FAULT, "fault", f"a fault of Compass ({name})", hint=hint)


def disk_problem(error: OSError) -> Refused:
    """The response when the disk takes no more."""
    return Refused(
        503,
        "disk",
        f"the server cannot write: {error.strerror or type(error).__name__}",
        hint="tell the operator; nothing that was kept before is lost",
        retry_after=60,
    )


def lost_worker(number: int, held: str, *, short: bool) -> Refused:
    """A working process was ended by a signal; what is known about why."""
    known = f"; {held}" if held else ""
    names = {one.value: f" ({one.name})" for one in signal.Signals}
    name = f"signal {number}{names.get(number, '')}"
    if number in _OF_LIBRARIES:
        return too_large(
            f"this ended a working process by {name}, as a library does that gets no memory{known}",
            "give it less data, or ask the operator for more memory; if it is small, tell the "
            "operator",
        )
    if short:
        return too_large(
            f"the machine had no memory left, and a working process was ended by {name}{known}",
            "give it less data, or ask the operator for a machine with more memory",
        )
    return Refused(
        503,
        "worker-ended",
        f"a working process was ended from outside by {name}{known}",
        hint="try again; if it happens again, tell the operator",
        retry_after=5,
    )


def problem_of(error: CompassError) -> tuple[int, Problem]:
    """The status and the answer for an error of Compass."""
    if isinstance(error, Refused):
        return error.status, error.problem
    code = next(code for code, kind in CODES.items() if isinstance(error, kind))
    status = 424 if code == "not-available" else 422
    about: dict[str, Any] = {}
    if isinstance(error, QuerySyntax):
        about = {"place": error.pointer() or None, "text": error.text, "column": error.column}
    elif isinstance(error, UnknownName):
        about = {"place": error.pointer() or None, "text": error.text, "name": error.name}
    elif isinstance(error, ConflictingRules):
        about = {"rules": error.rules}
    return status, Problem(error=error.message, hint=error.hint, code=code, **about)


def refused_by(reply: dict[str, Any]) -> Refused:
    """The error that a working process reported."""
    problem = Problem.model_validate(reply["problem"])
    return Refused.of(reply["status"], problem, reply["retry_after"])
