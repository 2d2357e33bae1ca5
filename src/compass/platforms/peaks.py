"""Machines of which nothing is known but their peaks: the ratio of the peaks is served."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml

from compass.domain.base import valid
from compass.domain.errors import StudyProblem
from compass.domain.machines import Peaks
from compass.platforms.pairs import Floats, MatchedRuns


def peak_log_ratio(source: Peaks, target: Peaks, intensity: float | None = None) -> float:
    """The log ratio of runtimes if both machines reach their peaks; nan where none is known.

    With the intensity (flops per byte) by the roofline; without it the geometric mean of the
    ratios of the peaks that are known of both.
    """
    both = [
        (getattr(source, name), getattr(target, name))
        for name in ("flops", "bandwidth")
        if getattr(source, name) is not None and getattr(target, name) is not None
    ]
    if not both:
        return float("nan")
    if intensity is not None and len(both) == 2:
        reached = [min(flops, intensity * bytes_) for flops, bytes_ in zip(*both, strict=True)]
        return float(np.log(reached[0] / reached[1]))
    return float(np.mean([np.log(of_source / of_target) for of_source, of_target in both]))


def peak_errors(runs: MatchedRuns, source: str, peaks: Mapping[str, Peaks]) -> Floats:
    """How far the ratios of peaks are from measured log ratios, [n, m]; nan where unknown."""
    truth = runs.log_ratio(source)
    found = np.full(len(runs.machines), np.nan)
    if source in peaks:
        for place, machine in enumerate(runs.machines):
            if machine in peaks and machine != source:
                found[place] = peak_log_ratio(peaks[source], peaks[machine])
    return np.asarray(truth - found)


def read_peaks(path: Path) -> dict[str, Peaks]:
    """The peaks of machines from a YAML file: `lassen: {flops: 7.0e12, bandwidth: 9.0e11}`."""
    example = "write 'lassen: {flops: 7.0e12, bandwidth: 9.0e11}'"
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as problem:
        raise StudyProblem(
            f"{path.name} cannot be read: {str(problem)[:200]}", hint=example
        ) from None
    if not isinstance(given, dict) or not all(isinstance(about, dict) for about in given.values()):
        raise StudyProblem(f"{path.name} does not name the peaks of machines", hint=example)
    return {str(name): valid(Peaks, about) for name, about in given.items()}
