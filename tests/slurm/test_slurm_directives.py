"""What a configuration asks of sbatch: names, units, rounding; and a real sbatch takes it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.answer import Proposal
from compass.domain.base import Config
from compass.domain.units import UNITS
from compass.slurm import units as slurm_units
from compass.slurm.directives import directives
from compass.slurm.script import job_array
from property_examples import examples
from slurm_lab import SlurmLab

TIMES = [symbol for symbol, (dimension, _) in UNITS.items() if dimension == "time"]
SIZES = [symbol for symbol, (dimension, _) in UNITS.items() if dimension == "memory"]


@pytest.mark.parametrize(
    ("config", "lines"),
    [
        ({"nodes": 4}, ["--nodes=4"]),
        ({"num_nodes_req": 4}, ["--nodes=4"]),
        ({"NNodes": 4}, ["--nodes=4"]),
        ({"ReqNodes": 4.0}, ["--nodes=4"]),
        ({"node_count": 4}, ["--nodes=4"]),
        ({"nodes": "4"}, ["--nodes=4"]),
        ({"AllocNodes": 4}, []),
        ({"nodes_used": 4}, []),
        ({"max_nodes": 4}, []),
        ({"node": "tiger01"}, []),
        ({"num_tasks": 64}, ["--ntasks=64"]),
        ({"NTasks": 64}, ["--ntasks=64"]),
        ({"mpi_ranks": 64}, ["--ntasks=64"]),
        ({"ppn": 16}, ["--ntasks-per-node=16"]),
        ({"ranks_per_node": 16}, ["--ntasks-per-node=16"]),
        ({"cores_per_task": 8}, ["--cpus-per-task=8"]),
        ({"OMP_NUM_THREADS": 8}, ["--cpus-per-task=8"]),
        ({"threads": 8}, ["--cpus-per-task=8"]),
        ({"ncpus": 64}, ["--ntasks=64"]),
        ({"ReqCPUS": 64}, ["--ntasks=64"]),
        ({"requested_processors": 64}, ["--ntasks=64"]),
        ({"cores": 64, "ntasks": 8}, ["--ntasks=8", "--cpus-per-task=8"]),
        ({"cores": 64, "threads": 16}, ["--cpus-per-task=16", "--ntasks=4"]),
        ({"cores": 60, "threads": 16}, ["--cpus-per-task=16"]),
        ({"nodes": 2, "cores_per_node": 32}, ["--nodes=2", "--ntasks-per-node=32"]),
        ({"ppn": 4, "cores_per_node": 32}, ["--ntasks-per-node=4", "--cpus-per-task=8"]),
        ({"ntasks": 4, "cores_per_node": 32}, ["--ntasks=4"]),
        ({"AllocCPUS": 64}, []),
        ({"num_gpus_req": 2}, ["--gpus=2"]),
        ({"req_gpus": 2}, ["--gpus=2"]),
        ({"gpus_per_node": 2, "gpus": 4}, ["--gpus-per-node=2"]),
        ({"gpu": "A100"}, []),
        ({"gpus": 0, "nodes": True}, []),
        ({"partition": "gpu,debug"}, ["--partition=gpu,debug"]),
        ({"queue": "long"}, ["--partition=long"]),
        ({"partition": "a b\n#SBATCH --x"}, ["--partition=a_b__SBATCH_--x"]),
        ({"qos": "high", "Account": "abc123"}, ["--qos=high", "--account=abc123"]),
        ({"tile": 4, "cap": 100, "runtime": 3.0, "time": 7, "task_type": "x"}, []),
    ],
)
def test_columns_by_name(config: Config, lines: list[str]) -> None:
    assert list(directives(config, {})) == lines


@pytest.mark.parametrize(
    ("name", "value", "unit", "line"),
    [
        ("time_limit", 432_000, "s", "--time=5-00:00:00"),
        ("time_limit", 90, "min", "--time=0-01:30:00"),
        ("walltime_h", 1.5, "h", "--time=0-01:30:00"),
        ("wallclock_req", 2, "d", "--time=2-00:00:00"),
        ("requested_s", 61.2, "s", "--time=0-00:01:02"),
        ("time_req", 0.25, "s", "--time=0-00:00:01"),
        ("Timelimit", 3600.0, "s", "--time=0-01:00:00"),
        ("TimelimitRaw", 1440, None, "--time=1-00:00:00"),
        ("TimelimitRaw", "1440", None, "--time=1-00:00:00"),
        ("walltime", "1-00:00:00", None, "--time=1-00:00:00"),
        ("walltime", "30:00", None, "--time=0-00:30:00"),
        ("ReqMem", 2**34, "B", "--mem=16G"),
        ("mem_gb", 96, "GiB", "--mem=96G"),
        ("mem_gb", 1, "GB", "--mem=954M"),
        ("memory", 1, "B", "--mem=1M"),
        ("mem_per_cpu_mb", 1.5, "MiB", "--mem-per-cpu=2M"),
        ("mem_per_core", 4, "GiB", "--mem-per-cpu=4G"),
        ("mem_per_gpu", 4, "GiB", "--mem-per-gpu=4G"),
        ("requested_memory", 1024, "KiB", "--mem-per-cpu=1M"),
        ("mem", "100M", None, "--mem=100M"),
        ("ReqMem", "4000Mc", None, "--mem-per-cpu=4000M"),
        ("ReqMem", "4Gn", None, "--mem=4G"),
    ],
)
def test_times_and_memory_know_their_unit(
    name: str, value: float | str, unit: str | None, line: str
) -> None:
    units = {} if unit is None else {name: unit}
    assert list(directives({name: value}, units)) == [line]


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("time_limit", 90, None),
        ("time_limit", 90, "GB"),
        ("time_limit", 90, "ticks"),
        ("walltime", "90", None),
        ("walltime", "soon", None),
        ("mem_req", 96, None),
        ("mem", "lots", None),
        ("time_limit", 1e300, "d"),
    ],
)
def test_what_has_no_known_unit_is_told_and_not_written(
    name: str, value: float | str, unit: str | None
) -> None:
    asked = directives({name: value}, {} if unit is None else {name: unit})
    assert list(asked) == []
    assert not asked.used
    (remark,) = asked.remarks
    assert "is left out" in remark
    assert name in remark


def test_no_limit_and_all_memory_are_not_asked_for_by_a_zero() -> None:
    config: Config = {"time_limit": 0, "mem": 0.0, "ReqMem": None, "Timelimit": "Partition_Limit"}
    asked = directives(config, {"time_limit": "s", "mem": "GB"})
    assert list(asked) == []
    assert asked.remarks == ()


def test_memory_of_a_whole_job_is_shared_by_its_nodes() -> None:
    asked = directives({"ReqMem": 10.0 * 2**30, "NNodes": 4}, {"ReqMem": "B"})
    assert list(asked) == ["--nodes=4", "--mem=2560M"]
    assert "of the whole job" in asked.remarks[0]
    several = directives({"mem_gb": 8, "nodes": 2}, {"mem_gb": "GiB"})
    assert several.remarks == ("check: Slurm takes --mem (mem_gb) for each node",)


def test_counts_of_cpus_say_how_they_were_taken() -> None:
    (remark,) = directives({"cores": 64, "nodes": 2}, {}).remarks
    assert "cores = 64 is taken for CPUs in all, as 64 tasks (--ntasks) of 1" in remark


@examples(200)
@given(st.floats(1e-3, 1e7), st.sampled_from(TIMES))
def test_a_time_comes_back_within_a_minute_and_never_less(value: float, unit: str) -> None:
    asked = value * UNITS[unit][1]
    options = directives({"time_limit": value}, {"time_limit": unit}).options
    if "time" not in options:
        assert asked > 2**31 * 60
        return
    found = slurm_units.seconds(options["time"])
    assert found is not None
    assert asked <= found < asked + 60


@examples(200)
@given(st.floats(1e-3, 1e7), st.sampled_from(SIZES))
def test_memory_comes_back_within_a_mebibyte_and_never_less(value: float, unit: str) -> None:
    asked = value * UNITS[unit][1]
    options = directives({"mem": value}, {"mem": unit}).options
    found = slurm_units.size(options["mem"])
    assert found is not None
    assert asked <= found < asked + 2**20 + 1e-9 * asked


@examples(100)
@given(
    st.dictionaries(
        st.text(max_size=20) | st.sampled_from(["nodes", "mem", "walltime", "ReqMem", "cores"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        max_size=5,
    ),
    st.sampled_from(["s", "B", "J", "odd"]),
)
def test_any_configuration_gives_options_without_white_space(config: Config, unit: str) -> None:
    for option in directives(config, dict.fromkeys(config, unit)):
        name, _, value = option.partition("=")
        assert name.startswith("--")
        assert value
        assert not any(sign in value for sign in " \n\t'\"$`;&|")


CONFIGS: list[tuple[Config, dict[str, str]]] = [
    ({"num_nodes_req": 1, "ppn": 1, "time_limit": 432_000, "mem_gb": 0.3},
     {"time_limit": "s", "mem_gb": "GiB"}),
    ({"ntasks": 2, "mem_per_cpu": 100, "walltime_h": 0.5},
     {"mem_per_cpu": "MB", "walltime_h": "h"}),
    ({"ncpus": 2, "threads": 2, "TimelimitRaw": 10, "partition": "lab"}, {}),
    ({"nodes": 1, "cores_per_node": 2, "ReqMem": 2.0**28, "Account": "acct"}, {"ReqMem": "B"}),
]  # fmt: skip


@pytest.mark.parametrize(("config", "units"), CONFIGS)
def test_a_real_sbatch_takes_it_with_the_same_limit(
    config: Config, units: dict[str, str], slurm: SlurmLab, tmp_path: Path
) -> None:
    asked = directives(config, units)
    script = tmp_path / "job.sh"
    lines = "\n".join(f"#SBATCH {option}" for option in asked)
    script.write_text(f"#!/bin/bash\n{lines}\n#SBATCH --hold\ntrue\n")
    subprocess.run(["sbatch", "--test-only", str(script)], check=True, capture_output=True)
    job = slurm.submit(script.read_text())
    told = slurm.run("scontrol", "-o", "show", "job", str(job))
    slurm.run("scancel", str(job))
    facts = dict(part.split("=", 1) for part in told.split() if "=" in part)
    if "time" in asked.options:
        limit = slurm_units.seconds(facts["TimeLimit"])
        wanted = slurm_units.seconds(asked.options["time"])
        assert limit is not None
        assert wanted is not None
        assert wanted <= limit < wanted + 60
    if "mem" in asked.options:
        assert slurm_units.size(facts["MinMemoryNode"]) == slurm_units.size(asked.options["mem"])
    if "ntasks" in asked.options:
        assert facts["NumTasks"] == asked.options["ntasks"]


def test_runs_that_differ_in_time_are_arrays_of_their_own() -> None:
    proposals = [Proposal(config={"limit_s": s, "tile": 4}, why="") for s in (60, 120, 60)]
    script = job_array(proposals, {"limit_s": "s"})
    assert "sbatch --array=1,3 --time=0-00:01:00" in script
    assert "sbatch --array=2 --time=0-00:02:00" in script
