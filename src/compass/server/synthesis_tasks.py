"""The tasks of a working process for synthetic rows: learning, drawing, filling, judging."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.engine.compass import Compass
    from compass.engine.dataset import Dataset
    from compass.synth.model import SynthesisModel, SyntheticRows

Report = Callable[[str, int, int], None]
Given = dict[str, Any]

FILE = "learnt.synth"  # in the folder of a synthesizer
MOST_ROWS = 10_000  # that are drawn at once
MOST_CELLS = 1_000_000  # of these: rows times columns


class SynthesisHandlers:
    """Handles the tasks of synthetic rows, and keeps the model of the last one in memory."""

    def __init__(
        self, dataset: Callable[[Given], "Dataset"], engine: Callable[[str], "Compass"]
    ) -> None:
        self._dataset, self._engine = dataset, engine
        self._kept: tuple[str, SynthesisModel] | None = None
        self.tasks: dict[str, Callable[[Given, Report], bytes]] = {
            "synthesize": self.learn,
            "synth_sample": self.sample,
            "synth_fill": self.fill,
            "synth_decide": self.decide,
            "synth_predict": self.predict,
            "synth_check": self.check,
        }

    def learn(self, given: Given, report: Report) -> bytes:
        """Learn a dataset and save what was learnt."""
        from compass.engine.synthesis import synthesizer
        from compass.settings import SynthesisSettings
        from compass.synth.tune import changed

        name, settings = given["synthesizer"], SynthesisSettings()
        if given["settings"]:
            settings = changed(settings, name, given["settings"])
        model = synthesizer(
            self._dataset(given["data"]),
            name,
            rules=given["rules"],
            seed=given["seed"],
            settings=settings,
            tune=given["tune"],
            tell=report,
        )
        model.save(Path(given["output"]))
        own = getattr(model.meta.settings, name, None)
        found = {
            "rows": model.meta.rows,
            "columns": model.space.names,
            "rules": model.meta.rules,
            "seed": model.meta.seed,
            "settings": {} if own is None else own.model_dump(mode="json"),
            "notes": model.meta.notes,
        }
        return json.dumps(found).encode()

    def sample(self, given: Given, report: Report) -> bytes:
        """Draw rows."""
        model = self._model(given)
        _check_size(given["count"], model)
        drawn = model.sample(
            given["count"], where=given["where"], given=given["given"], seed=given["seed"],
            tell=report,
        )  # fmt: skip
        return _rows(drawn)

    def fill(self, given: Given, report: Report) -> bytes:
        """Fill in the cells that rows lack."""
        model = self._model(given)
        there = None if given["dataset"] is None else self._dataset(given["dataset"]).meant
        rows = given["rows"] if there is None else there
        count = len(given["rows"]) if there is None else there.rows
        _check_size(count * given["draws"], model)
        drawn = model.fill(
            rows, where=given["where"], draws=given["draws"], seed=given["seed"], tell=report
        )
        return _rows(drawn)

    def decide(self, given: Given, report: Report) -> bytes:
        """What runs within limits look like."""
        model = self._model(given)
        _check_size(given["count"], model)
        found = model.decide(
            where=given["where"], given=given["given"], count=given["count"], seed=given["seed"],
            tell=report,
        )  # fmt: skip
        return found.decision.model_dump_json().encode()

    def predict(self, given: Given, report: Report) -> bytes:
        """The outcomes of rows, beside those of an engine."""
        from compass.engine.synthesis import predict_beside

        model = self._model(given)
        _check_size(len(given["rows"]) * given["draws"], model)
        engine = None if given["engine"] is None else self._engine(given["engine"])
        found = predict_beside(
            model, given["rows"], engine, draws=given["draws"], seed=given["seed"], tell=report
        )
        return found.model_dump_json().encode()

    def check(self, given: Given, report: Report) -> bytes:
        """How like the rows of one dataset those of another are."""
        from compass.engine.synthesis import judge_synthetic

        test = given["test"]
        found = judge_synthetic(
            self._dataset(given["real"]),
            self._dataset(given["synthetic"]),
            test=None if test is None else self._dataset(test),
            target=given["target"],
            picture=given["picture"],
            seed=given["seed"],
            tell=report,
        )
        return found.model_dump_json().encode()

    def _model(self, given: Given) -> "SynthesisModel":
        from compass.synth.model import load_model

        path = given["synthesizer"]
        if not Path(path).is_file():
            raise BadInput("what was learnt is gone", hint="delete the synthesizer, make it anew")
        if self._kept is None or self._kept[0] != path:
            self._kept = (path, load_model(path))
        return self._kept[1]


def _check_size(rows: int, model: "SynthesisModel") -> None:
    if rows > MOST_ROWS or rows * len(model.space) > MOST_CELLS:
        most = min(MOST_ROWS, MOST_CELLS // len(model.space))
        raise BadInput(
            f"{rows:,} rows are more than a server draws at once",
            hint=f"ask for at most {most:,}, and with another seed for more",
        )


def _rows(drawn: "SyntheticRows") -> bytes:
    table = drawn.table
    cells = [column.to_pylist() for column in table.columns]
    found = {
        "names": table.column_names,
        "rows": list(zip(*cells, strict=True)),
        "report": drawn.report.model_dump(mode="json"),
    }
    return json.dumps(found).encode()
