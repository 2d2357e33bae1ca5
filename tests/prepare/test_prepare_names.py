"""What names of columns tell."""

import pytest

from compass.prepare import names


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("runtime_ms", "ms"), ("power_w", "W"), ("mem_gb", "GB"), ("size_kib", "KiB"),
        ("Time[s]", "s"), ("time (s)", "s"), ("Energy[Wh]", "Wh"), ("freq_ghz", "GHz"),
        ("budget_w_node", "W"), ("pkg_power_w_node_std", "W"), ("elapsed_sec", "s"),
        ("energy_per_epoch_J", "J"), ("memGB", "GB"), ("timeMs", "ms"), ("walltime_h", "h"),
        ("seconds", "s"), ("time_limit_min", "min"), ("latency us", "us"),
        # not units
        ("time_per_epoch", None), ("GFLOP_per_s", None), ("runtime_min", None), ("filter_w", None),
        ("filter_h", None), ("tile_d", None), ("P", None), ("nxP", None), ("s", None), ("W", None),
        ("CS32MB", None), ("S100MiB", None), ("Jitter(Abs)", None), ("nodes", None),
        ("threads", None), ("power_mw", None), ("min", None), ("Bytes/Rep", None), ("days", None),
    ],
)  # fmt: skip
def test_units_in_names(name: str, unit: str | None) -> None:
    assert names.unit_of(name) == unit


def test_identifiers_and_the_like() -> None:
    for name in ("id", "job_id", "jobid", "idx", "uuid", "job", "row_id", "commit_hash"):
        assert names.is_identifier(name), name
    for name in ("user_id", "app_id", "width", "grid", "valid", "group_id"):
        assert not names.is_identifier(name), name
    assert names.is_unnamed("column_1")
    assert names.is_unnamed("Unnamed: 0")
    assert not names.is_unnamed("column_store")
    assert names.is_repetition("rep")
    assert not names.is_repetition("Iterations/Rep")
    assert names.is_file("work_dir")
    assert names.is_moment("submit_time")
    assert not names.is_moment("run_time")
