"""Abstract machine models: what the embeddings of a machine's benchmark runs say of the machine.

Algorithm 1 of the xAMM paper. Its formulas print a norm and a variance as the model itself, its
prose calls them weights of a mean over the samples: both readings are offered.
"""

import json
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from compass import files
from compass.domain.base import Input, Real, valid
from compass.domain.errors import DataProblem, EngineProblem
from compass.platforms.pairs import Floats

Aggregate = Literal["mean", "l2", "variance"]
Reading = Literal["weights", "values"]
_LEAK = 0.01  # xAMM, Algorithm 1, line 4


class AbstractMachineModel(Input):
    """A machine as a vector; it belongs to the embedding that its benchmark runs were seen by."""

    machine: str = Field(description="the machine")
    aggregate: Aggregate = Field(description="how embeddings became one vector")
    reading: Reading = Field(description="what a norm or variance is used as")
    values: tuple[Real, ...] = Field(description="the vector", min_length=1)
    embedding: str = Field(description="fingerprint of the embedding")
    samples: int = Field(description="benchmark runs", ge=1)

    def vector(self) -> Floats:
        """The vector, [e]."""
        return np.array(self.values, dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        files.write_text(path, self.model_dump_json(indent=1) + "\n", files.READABLE)


def load_amm(path: Path) -> AbstractMachineModel:
    """A saved machine model."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise EngineProblem(
            f"the machine model {path.name} cannot be read: {str(problem)[:200]}",
            hint="make it with func: amm",
        ) from None
    if not isinstance(given, dict):
        raise EngineProblem(f"{path.name} holds no machine model", hint="make it with func: amm")
    return valid(AbstractMachineModel, given)


def aggregated(embeddings: Floats, aggregate: Aggregate, reading: Reading) -> Floats:
    """One vector [e] of embeddings [n, e], before it is adjusted."""
    if not len(embeddings):
        raise DataProblem("a machine without benchmark runs has no machine model")
    if aggregate == "mean":
        return np.asarray(embeddings.mean(axis=0))
    if reading == "values":
        if aggregate == "l2":
            return np.asarray(np.sqrt((embeddings**2).sum(axis=0)))
        return np.asarray(embeddings.var(axis=0))
    if aggregate == "l2":
        weight = np.sqrt((embeddings**2).sum(axis=1))
    else:
        weight = ((embeddings - embeddings.mean(axis=0)) ** 2).mean(axis=1)
    total = weight.sum()
    if total <= 0:  # every run alike: all count the same
        return np.asarray(embeddings.mean(axis=0))
    return np.asarray(weight @ embeddings / total)


def adjusted(vector: Floats) -> Floats:
    """Lines 4 to 6 of Algorithm 1: leaky positive part, log(1 + a), minus the largest."""
    positive = np.maximum(vector, 0.0) + _LEAK * np.maximum(-vector, 0.0)
    logs = np.log1p(positive)
    return np.asarray(logs - logs.max())


def machine_model(
    machine: str,
    embeddings: Floats,
    fingerprint: str,
    aggregate: Aggregate = "l2",
    reading: Reading = "weights",
) -> AbstractMachineModel:
    """The model of a machine from the embeddings [n, e] of its benchmark runs."""
    vector = adjusted(aggregated(embeddings, aggregate, reading))
    return AbstractMachineModel(
        machine=machine,
        aggregate=aggregate,
        reading=reading,
        values=tuple(vector.tolist()),
        embedding=fingerprint,
        samples=len(embeddings),
    )
