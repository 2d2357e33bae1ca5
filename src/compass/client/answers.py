"""Answers on a server: what is pending of them comes as events."""

import time
from collections.abc import Iterator

from compass.client.connection import ServerConnection
from compass.client.jobs import Patience, events
from compass.client.problems import error_of
from compass.client.replies import understood
from compass.domain.api import AnswerView, Problem

_PAUSE = 0.5  # seconds between two looks at a server that is not there at the moment
_WAIT = 20.0  # seconds that it may wait with its reply, where there is no place for a stream


def followed(connection: ServerConnection, view: AnswerView) -> Iterator[AnswerView]:
    """An answer, and again each time there is more of it, until it is whole.

    A server that is started again in between goes on with it, and so does this.
    """
    yield view
    patience = Patience(connection.patience)
    while view.answer.pending:
        for name, data in events(connection, f"/answers/{view.id}/events"):
            if name == "problem":
                raise error_of(understood(Problem, data))
            patience.renew()
            seen = understood(AnswerView, data)
            if seen.answer.pending != view.answer.pending:
                view = seen
                yield view
        if not view.answer.pending:
            return
        seen = view
        with patience:
            reply = connection.call("GET", f"/answers/{view.id}", params={"wait": _WAIT})
            seen = understood(AnswerView, reply)
        if seen.problem is not None:
            raise error_of(seen.problem)
        if seen.answer.pending != view.answer.pending:
            view = seen
            yield view
        else:
            time.sleep(_PAUSE)
