"""xAMM: embeddings of samples beside models of machines, and a downstream model of the ratio.

Two models are trained: with machine models, jointly over all pairs of machines, so that a machine
that was never seen can enter by its benchmark runs; and without them, one per pair, because the
embedding alone does not say which machine is meant. (For one pair machine models are constants.)
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compass import files
from compass.domain.base import valid
from compass.domain.errors import DataProblem, EngineProblem, QueryProblem
from compass.platforms.amm import AbstractMachineModel, Aggregate, Reading, machine_model
from compass.platforms.counters import CounterMapping, counter_mapping, physical
from compass.platforms.downstream import Downstream, Fitted, learnt
from compass.platforms.downstream import restored as restored_trees
from compass.platforms.pairs import Floats, MatchedRuns
from compass.platforms.sample_embedding import SampleEmbedding
from compass.platforms.sample_embedding import restored as restored_embedding

_FORMAT = 1
_SHOWN = 6


@dataclass(frozen=True)
class XammOptions:
    """How it is learnt; the defaults are the paper's."""

    embedding: str = "attention"
    downstream: "str | Downstream" = "xgboost"
    aggregate: Aggregate = "l2"
    reading: Reading = "weights"
    width: int = 8  # TabNet's n_d
    epochs: int = 100
    seed: int = 7
    sources: tuple[str, ...] = ()  # that ratios are learnt from; empty: every machine


@dataclass(frozen=True, eq=False)
class XammModel:
    """What was learnt of applications on several machines."""

    machines: tuple[str, ...]  # trained on, as sources
    features: tuple[str, ...]
    embedding: SampleEmbedding
    amms: Mapping[str, AbstractMachineModel]
    joint: Fitted | None  # with machine models
    pairs: Mapping[tuple[str, str], Fitted]  # without them

    def predict(
        self,
        runs: MatchedRuns,
        source: str,
        target: str,
        *,
        source_amm: AbstractMachineModel | None = None,
        target_amm: AbstractMachineModel | None = None,
        with_amms: bool = True,
    ) -> Floats:
        """The runtime ratio target / source of each line, [n]; nan where it was not run."""
        self.check_source(source)
        X = self._samples(runs, source)
        log_runtime = runs.log_runtime[:, runs.place(source)]
        inputs = np.column_stack([self.embedding.transform(X), log_runtime])
        found = self._with(inputs, source, target, source_amm, target_amm) if with_amms else None
        if found is None:
            if (source, target) not in self.pairs:
                raise QueryProblem(
                    f"nothing is known of the machine {target}",
                    hint="give its benchmark table, its saved machine model or that of a related "
                    "machine as target_machine_amm",
                )
            found = self.pairs[source, target].predict(inputs)
        return np.where(np.isfinite(log_runtime), found, np.nan)

    def check_source(self, source: str) -> None:
        """Refuse a source machine that was not trained on: its samples would mean nothing."""
        if source not in self.machines:
            raise QueryProblem(
                f"the model was not trained on the source machine {source}",
                hint=f"it was trained on {', '.join(self.machines[:_SHOWN])}",
            )

    def amm_of(
        self, runs: MatchedRuns, machine: str, aggregate: Aggregate, reading: Reading
    ) -> AbstractMachineModel:
        """The model of a machine by its benchmark runs."""
        ran = runs.ran_on(machine)
        embeddings = self.embedding.transform(self._samples(ran, machine))
        return machine_model(machine, embeddings, self.embedding.fingerprint, aggregate, reading)

    def _samples(self, runs: MatchedRuns, machine: str) -> Floats:
        X, names = samples(runs, machine, counter_mapping())
        missing = [name for name in self.features if name not in names]
        if missing:
            raise DataProblem(
                f"the runs have no {missing[0]}, which the model was trained with",
                hint=f"it was trained with {', '.join(self.features[:_SHOWN])}",
            )
        return X[:, [names.index(name) for name in self.features]]

    def _with(
        self,
        inputs: Floats,
        source: str,
        target: str,
        source_amm: AbstractMachineModel | None,
        target_amm: AbstractMachineModel | None,
    ) -> Floats | None:
        both = [source_amm or self.amms.get(source), target_amm or self.amms.get(target)]
        if self.joint is None or any(amm is None for amm in both):
            return None
        vectors = []
        for amm in both:
            assert amm is not None
            if amm.embedding != self.embedding.fingerprint:
                raise EngineProblem(
                    f"the machine model of {amm.machine} belongs to another embedding",
                    hint="make it again with this model: func: amm",
                )
            learnt = next(iter(self.amms.values()))
            if (amm.aggregate, amm.reading) != (learnt.aggregate, learnt.reading):
                raise EngineProblem(
                    f"the machine model of {amm.machine} is made by {amm.aggregate} "
                    f"({amm.reading}), those that were learnt from by {learnt.aggregate} "
                    f"({learnt.reading})",
                    hint="make it again with this model: func: amm",
                )
            vectors.append(np.tile(amm.vector(), (len(inputs), 1)))
        return self.joint.predict(np.column_stack([inputs, *vectors]))

    def save(self, path: Path) -> None:
        """Write it as one file of plain arrays; no pickle."""
        about = {
            "format": _FORMAT,
            "machines": self.machines,
            "features": self.features,
            "embedding": self.embedding.kind,
            "amms": {name: amm.model_dump(mode="json") for name, amm in self.amms.items()},
            "pairs": list(self.pairs),
            "joint": self.joint is not None,
        }
        arrays = {f"embedding/{n}": a for n, a in self.embedding.arrays().items()}
        if self.joint is not None:
            arrays |= {f"joint/{n}": a for n, a in self.joint.arrays().items()}
        for place, pair in enumerate(self.pairs.values()):
            arrays |= {f"pair{place}/{n}": a for n, a in pair.arrays().items()}
        with files.replacing(path) as scratch, scratch.open("wb") as handle:
            np.savez_compressed(handle, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


def train(
    runs: MatchedRuns,
    benchmark: MatchedRuns | None = None,
    options: XammOptions | None = None,
    amms: Mapping[str, AbstractMachineModel] | None = None,
) -> XammModel:
    """Learn from applications that were run on several machines in the same configurations.

    `benchmark`: runs of benchmark kernels, from which the machines' models are made.
    """
    options = XammOptions() if options is None else options
    mapping = counter_mapping()
    X, names = _every_sample(runs, mapping)
    sources = options.sources or runs.machines
    line, source, target = _triples(runs, [runs.place(name) for name in sources])
    if not len(line):
        raise DataProblem(
            "no application was run on two machines in the same configuration",
            hint="name the columns that have to be equal",
        )
    ratio = np.exp(runs.log_runtime[line, target] - runs.log_runtime[line, source])
    embedding = SampleEmbedding.of(
        X[line, source], ratio, options.embedding, options.width, options.epochs, options.seed
    )
    model = XammModel(sources, names, embedding, dict(amms or {}), None, {})
    if benchmark is not None:
        made = {
            machine: model.amm_of(benchmark, machine, options.aggregate, options.reading)
            for machine in runs.machines
            if machine in benchmark.machines
        }
        model = XammModel(sources, names, embedding, made, None, {})
    inputs = np.column_stack([embedding.transform(X[line, source]), runs.log_runtime[line, source]])
    pairs: dict[tuple[str, str], Fitted] = {}
    for pair in sorted(set(zip(source.tolist(), target.tolist(), strict=True))):
        own = (source == pair[0]) & (target == pair[1])
        called = runs.machines[pair[0]], runs.machines[pair[1]]
        pairs[called] = learnt(options.downstream, inputs[own], ratio[own], options.seed)
    joint = _joint(model, runs, inputs, ratio, source, target, options)
    return XammModel(sources, names, embedding, model.amms, joint, pairs)


def load(path: Path) -> XammModel:
    """A saved model; no code of the file is run."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = json.loads(str(arrays.pop("about")))
        if about["format"] != _FORMAT:
            raise EngineProblem(f"{path.name} was saved by another version", hint="train it again")
        return _restored(about, arrays)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise EngineProblem(
            f"the model {path.name} cannot be read: {str(problem)[:200]}",
            hint="train it again: func: train",
        ) from None


def samples(
    runs: MatchedRuns, machine: str, mapping: CounterMapping
) -> tuple[Floats, tuple[str, ...]]:
    """The samples of one machine, [n, p]: ratios of known counters, else counters as they are."""
    place = runs.place(machine)
    counters = runs.counters[:, place]
    found, names = physical(counters, runs.counter_names, runs.log_runtime[:, place], mapping)
    if names:
        return found, names
    if runs.counter_names:
        return np.sign(counters) * np.log1p(np.abs(counters)), runs.counter_names
    raise DataProblem("the runs have no counters", hint="name their columns under counters")


def _every_sample(runs: MatchedRuns, mapping: CounterMapping) -> tuple[Floats, tuple[str, ...]]:
    each = [samples(runs, machine, mapping) for machine in runs.machines]
    return np.stack([X for X, _ in each], axis=1), each[0][1]


def _triples(runs: MatchedRuns, sources: list[int]) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Line, source and target of every pair of runs of the same line."""
    ran = np.isfinite(runs.log_runtime)
    both = ran[:, :, None] & ran[:, None, :] & ~np.eye(ran.shape[1], dtype=bool)
    line, source, target = np.nonzero(both)
    own = np.isin(source, sources)
    return line[own], source[own], target[own]


def _joint(
    model: XammModel,
    runs: MatchedRuns,
    inputs: Floats,
    ratio: Floats,
    source: "np.ndarray",
    target: "np.ndarray",
    options: XammOptions,
) -> Fitted | None:
    known = np.array([machine in model.amms for machine in runs.machines])
    own = known[source] & known[target]
    if not own.any():
        return None
    width = len(next(iter(model.amms.values())).values)
    vectors = np.zeros((len(known), width))
    for place in np.flatnonzero(known):
        vectors[place] = model.amms[runs.machines[place]].vector()
    whole = np.column_stack([inputs[own], vectors[source[own]], vectors[target[own]]])
    return learnt(options.downstream, whole, ratio[own], options.seed)


def _restored(about: "dict[str, object]", arrays: "dict[str, np.ndarray]") -> XammModel:
    def under(name: str) -> "dict[str, np.ndarray]":
        return {
            n.removeprefix(f"{name}/"): a for n, a in arrays.items() if n.startswith(f"{name}/")
        }

    amms, pairs, features, machines = (about[n] for n in ("amms", "pairs", "features", "machines"))
    assert isinstance(amms, dict)
    assert isinstance(pairs, list)
    assert isinstance(features, list)
    assert isinstance(machines, list)
    return XammModel(
        tuple(machines),
        tuple(features),
        restored_embedding(str(about["embedding"]), under("embedding")),
        {name: valid(AbstractMachineModel, given) for name, given in amms.items()},
        restored_trees(under("joint")) if about["joint"] else None,
        {(s, t): restored_trees(under(f"pair{place}")) for place, (s, t) in enumerate(pairs)},
    )
