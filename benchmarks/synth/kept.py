"""What the studies measured: kept by study and case beside the code, so that a study goes on where
it was stopped, and its tables can be printed without measuring again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compass.files import write_text

FILE = Path(__file__).with_name("figures.json")


class Kept:
    """The values of every case of every study; several processes may add to one file in turn."""

    def __init__(self, path: Path = FILE) -> None:
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """All that is kept: study -> case -> values."""
        if not self.path.is_file():
            return {}
        found: dict[str, dict[str, Any]] = json.loads(self.path.read_text(encoding="utf-8"))
        return found

    def once(self, study: str, case: str, measure: Callable[[], Any]) -> Any:
        """The values of a case: measured now, unless they are kept from before."""
        cases = self.read().get(study, {})
        if case in cases:
            return cases[case]
        found = measure()
        known = self.read()
        known.setdefault(study, {})[case] = found
        self._write(known)
        return found

    def forget(self, study: str) -> None:
        """Measure a study again from its first case on."""
        known = self.read()
        known.pop(study, None)
        self._write(known)

    def _write(self, known: dict[str, dict[str, Any]]) -> None:
        """One case on each line, so that a change can be read."""
        parts = []
        for study, cases in sorted(known.items()):
            lines = [f"  {json.dumps(case)}: {json.dumps(one)}" for case, one in cases.items()]
            parts.append(f" {json.dumps(study)}: {{\n" + ",\n".join(lines) + "\n }")
        write_text(self.path, "{\n" + ",\n".join(parts) + "\n}\n")


def rounded(value: float, digits: int = 5) -> float:
    """A figure with so many digits: what is kept can be read, and is no noise of the last bit."""
    return float(f"{value:.{digits}g}")
