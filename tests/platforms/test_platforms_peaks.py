from pathlib import Path

import numpy as np
import pytest
from machine_law import MACHINES, roofline_runs

from compass.domain.errors import BadInput, CompassError
from compass.domain.machines import Peaks
from compass.platforms.peaks import peak_errors, peak_log_ratio, read_peaks

PEAKS = {name: Peaks(bandwidth=b, flops=f) for name, (b, f) in MACHINES.items()}


def test_the_roofline_is_exact_where_the_intensity_is_known() -> None:
    for intensity in (0.01, 1.0, 4.0, 100.0):
        for target in MACHINES:
            expected = np.log(
                max(1 / MACHINES[target][0], intensity / MACHINES[target][1])
                / max(1 / MACHINES["quartz"][0], intensity / MACHINES["quartz"][1])
            )
            found = peak_log_ratio(PEAKS["quartz"], PEAKS[target], intensity)
            assert found == pytest.approx(expected)


def test_without_intensity_it_is_the_mean_and_without_peaks_unknown() -> None:
    found = peak_log_ratio(Peaks(flops=1, bandwidth=1), Peaks(flops=4, bandwidth=9))
    assert np.exp(found) == pytest.approx(1 / 6)
    assert np.exp(peak_log_ratio(Peaks(flops=1), Peaks(flops=4, bandwidth=9))) == pytest.approx(
        1 / 4
    )
    assert np.isnan(peak_log_ratio(Peaks(flops=1), Peaks(bandwidth=9)))


def test_errors_of_peaks_are_known_where_both_are() -> None:
    runs = roofline_runs(3, noise=0.0)
    errors = peak_errors(runs, "quartz", {k: v for k, v in PEAKS.items() if k != "ruby"})
    assert np.isnan(errors[:, runs.place("ruby")]).all()
    lassen = runs.place("lassen")
    expected = runs.log_ratio("quartz")[:, lassen] - peak_log_ratio(
        PEAKS["quartz"], PEAKS["lassen"]
    )
    assert errors[:, lassen] == pytest.approx(expected)


def test_peaks_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "peaks.yaml"
    path.write_text("lassen: {flops: 7.0e+12, bandwidth: 9.0e+11}\nquartz: {flops: 1.0e+12}\n")
    assert read_peaks(path)["lassen"] == Peaks(flops=7e12, bandwidth=9e11)
    for text in ("- a", "lassen: 3", "{"):
        path.write_text(text)
        with pytest.raises(CompassError, match=r"peaks\.yaml"):
            read_peaks(path)
    path.write_text("lassen: {flops: -1}")
    with pytest.raises(BadInput, match="greater than 0"):
        read_peaks(path)
