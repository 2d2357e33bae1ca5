"""Problems and nouns as HTTP responses; apart, because working processes need no HTTP."""

from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from compass.domain.errors import CompassError
from compass.server.problems import Refused, problem_of


def problem_response(error: CompassError) -> JSONResponse:
    """The HTTP response for an error."""
    status, problem = problem_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, Refused) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if status == 401:  # what is lacking: the token of the server, or the key of a workspace
        lacks_token = problem.code in {"no-token", "no-user", "bad-login"}
        headers["WWW-Authenticate"] = "Bearer" if lacks_token else "Compass-Workspace"
    return JSONResponse(problem.model_dump(mode="json"), status, headers)


def noun_response(noun: BaseModel, status: int) -> Response:
    """A noun as an HTTP response; JSONResponse would fail on an interval without an end."""
    return Response(noun.model_dump_json(), status, media_type="application/json")
