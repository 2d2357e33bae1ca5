"""What the studies measured: kept by study and case beside the code, so that a study goes on where
it was stopped, and its tables can be printed without measuring again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("figures.json")


class Kept:
    """The values of every case of every study."""

    def __init__(self, path: Path = FILE) -> None:
        self.path = path
        self.values: dict[str, dict[str, Any]] = {}
        if path.is_file():
            self.values = json.loads(path.read_text(encoding="utf-8"))

    def once(self, study: str, case: str, measure: Callable[[], Any]) -> Any:
        """The values of a case: measured now, unless they are kept from before."""
        cases = self.values.setdefault(study, {})
        if case not in cases:
            cases[case] = measure()
            self.save()
        return cases[case]

    def forget(self, study: str) -> None:
        """Measure a study again from its first case on."""
        self.values.pop(study, None)

    def save(self) -> None:
        """Write everything; one case on each line, so that a change can be read."""
        parts = []
        for study, cases in sorted(self.values.items()):
            lines = [f"  {json.dumps(case)}: {json.dumps(one)}" for case, one in cases.items()]
            parts.append(f" {json.dumps(study)}: {{\n" + ",\n".join(lines) + "\n }")
        self.path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rounded(value: float, digits: int = 5) -> float:
    """A figure with so many digits: what is kept can be read, and is no noise of the last bit."""
    return float(f"{value:.{digits}g}")
