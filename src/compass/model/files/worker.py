"""The program of the process that runs a model: reads messages, answers them, and nothing else.

Started as `python -I -m compass.model.files.worker`.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, CompassError, EnvironmentProblem
from compass.execute.child import own_streams, read_frame, write_frame
from compass.model.files import limits, wire

BATCH = 256  # rows that a model sees at once, unless it was made for another number


def main() -> None:
    """Answer until the other end is closed."""
    limits.without_network()
    source, out = own_streams()
    runner: Any = None
    while True:
        try:
            header, arrays = wire.decode(read_frame(source, wire.QUESTION).content)
        except EOFError:
            return
        answer: dict[str, Any] = {}
        found: list[NDArray[Any]] = []
        try:
            limits.at_most(float(header["seconds"]))
            if header["op"] == "load":
                runner, answer, found = _load(header, arrays[0].tobytes())
            else:
                texts = {int(place): labels for place, labels in header["texts"].items()}
                found = [_predict(runner, arrays[0], texts)]
        except Exception as error:
            # Whatever goes wrong in somebody's model is reported, not raised.
            answer, found = _reported(error, str(header.get("name", "the model"))), []
        write_frame(out, wire.KIND, *wire.encode(answer, found))


def _load(header: dict[str, Any], content: bytes) -> tuple[Any, dict[str, Any], list[NDArray[Any]]]:
    from compass.model.files import runners

    limits.bounded(int(header["memory"]))
    kind, name = str(header["kind"]), str(header["name"])
    runners.prepare(kind)
    # Libraries are imported by now (some look for a place to write to); the model comes after.
    kept = limits.read_only()
    warnings.simplefilter("ignore")
    runner = runners.load(kind, content, name)
    facts = {**runner.facts, "read_only": kept}
    return runner, facts, list(runner.arrays)


def _predict(runner: Any, X: NDArray[np.float64], texts: dict[int, list[str]]) -> NDArray[Any]:
    """Predictions batch by batch, all of the same size.

    Matrix products of different sizes round differently; a configuration must be predicted the
    same whatever stands beside it.
    """
    size = runner.batch or BATCH
    parts = []
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        if len(rows) < size:
            rows = np.concatenate([rows, np.repeat(rows[-1:], size - len(rows), axis=0)])
        predicted = np.asarray(runner.predict(rows, texts), dtype=np.float64)
        if predicted.ndim not in (1, 2) or len(predicted) != size:
            shape = "one value" if predicted.size == 1 else f"an array of shape {predicted.shape}"
            raise BadInput(
                f"the model predicts {shape} for {size} rows",
                hint="a model must predict one row for each row it is given",
            )
        parts.append(predicted.reshape(size, -1)[: len(X) - start])
    return np.concatenate(parts)


def _reported(error: Exception, name: str) -> dict[str, Any]:
    if isinstance(error, CompassError):
        missing = isinstance(error, EnvironmentProblem)
        return {"error": error.message, "hint": error.hint, "missing": missing}
    text = f"{type(error).__name__}: {error}"
    words = " ".join(text.split())
    # Traces of graphs are long; what went wrong stands at their end.
    short = words if len(words) <= 300 else f"{words[:100]} ... {words[-190:]}"
    if isinstance(error, MemoryError) or "allocat" in text.lower() or "bad_alloc" in text:
        return {
            "error": f"{name} needs more memory than it may use ({short})",
            "hint": "bring a smaller model, or allow more: Limits(memory=8 * 2**30)",
            "fatal": True,
        }
    return {
        "error": f"{name} cannot be used: {short}",
        "hint": "the file may be damaged, made by another version of its library,"
        " or expect other inputs",
    }


if __name__ == "__main__":
    main()
