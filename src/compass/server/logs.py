"""Logs: one JSON object per line, about requests and work, never about what people ask or have."""

import json
import logging
import secrets
import sys
import time
from typing import Any, TextIO

_MOST_PLACES = 40  # of a trace; the last ones say most
_LOG = logging.getLogger("compass.server")


class _Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": _named(record),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["fault"] = fault(record.exc_info[1])
        return json.dumps(line)


def _named(record: logging.LogRecord) -> str:
    """The event; of other libraries only the name of the logger, as values may be private."""
    own = record.name == _LOG.name or record.name.startswith("uvicorn")
    return str(record.msg).strip() if own else record.name


def fault(error: BaseException) -> str:
    """What kind of error and where; not its message, which may quote people's data."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def note_fault(error: BaseException | None = None, **facts: Any) -> str:
    """Log a fault with its trace; the name by which whoever saw it can tell of it."""
    name = secrets.token_hex(4)
    found = {} if error is None else {"trace": _trace(error)}
    trouble("fault", error, id=name, **facts, **found)
    return name


def _trace(error: BaseException) -> list[str]:
    """Where a fault happened, the outermost place first; without values, which may be private."""
    places, found = [], error.__traceback__
    while found is not None:
        code = found.tb_frame.f_code
        short = "/".join(code.co_filename.split("/")[-2:])
        places.append(f"{short}:{found.tb_lineno} in {code.co_name}")
        found = found.tb_next
    return places[-_MOST_PLACES:]


def configure(stream: TextIO | None = None, level: str = "INFO") -> None:
    """Write logs to a stream, or to standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines())
    _LOG.handlers[:] = [handler]
    _LOG.setLevel(level)
    _LOG.propagate = False
    logging.captureWarnings(True)  # they quote values too
    logging.raiseExceptions = False  # or a log that cannot be written would be shown in full
    for name in ("", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel("WARNING")
        logger.propagate = False


def event(name: str, **facts: Any) -> None:
    """Log an event."""
    _LOG.info(name, extra={"facts": facts})


def trouble(name: str, error: BaseException | None = None, **facts: Any) -> None:
    """Log an error that the operator should know of."""
    all_facts = facts if error is None else {**facts, "fault": fault(error)}
    _LOG.error(name, extra={"facts": all_facts})
