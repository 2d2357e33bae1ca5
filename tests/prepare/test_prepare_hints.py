"""What the names of columns hint at."""

import pytest

from compass.domain.space import Role
from compass.prepare.hints import hints, is_counter, is_event, is_headline, is_total, stem


def hinted(name: str, *, text: bool = False) -> Role:
    """The role that the name alone speaks for most; one that says nothing is a knob."""
    odds = dict.fromkeys(Role, 0.0) | {Role.KNOB: 0.5}
    for hint in hints(name, text=text):
        odds[hint.role] += hint.weight
    return max(odds, key=lambda role: odds[role])


@pytest.mark.parametrize(
    "name",
    [
        "runtime", "run_time", "runTime", "time", "Time[s]", "elapsed", "wall_time2", "duration",
        "latency_us", "energy_j", "pkg_power_w_node_std", "gflops", "GFLOP_per_s", "steps_per_s",
        "throughput", "bandwidth", "perf", "PERF", "variation", "score", "error", "loss", "State",
        "job_state", "status", "exit_code", "exitcode", "cost", "speedup", "time_std", "valid",
        "CPUTimeRAW", "AvgPower[W]", "ConsumedEnergyRaw", "Min time/rank", "mem_used", "wait_s",
        "avg", "y",
    ],
)  # fmt: skip
def test_results_are_outcomes(name: str) -> None:
    assert hinted(name) is Role.OUTCOME


@pytest.mark.parametrize(
    "name",
    [
        "nodes", "threads", "time_limit", "timelimit", "TimelimitRaw", "walltime_req",
        "power_cap", "power_limit", "budget_w_node", "bw_level", "batch_size", "block_size_x",
        "gpus", "num_gpus", "num_nodes", "cores", "ReqNodes", "error_tolerance", "time_step",
        "use_power_saving", "ExtendedStatus", "HAVE_STATISTICS", "print_used_types", "iv_users",
        "HostnameLookups", "cost_model", "P",
    ],
)  # fmt: skip
def test_settings_are_knobs(name: str) -> None:
    assert hinted(name) is Role.KNOB


@pytest.mark.parametrize(
    "name",
    [
        "app", "application", "input", "input_size", "dataset", "kernel", "benchmark", "size",
        "problem_size", "ProblemSize", "machine", "partition", "user", "network",
    ],
)  # fmt: skip
def test_what_is_given_is_context(name: str) -> None:
    assert hinted(name) is Role.CONTEXT


@pytest.mark.parametrize("name", ["gpu", "gpu_model", "device_name", "node_type", "model"])
def test_hardware_is_context_where_it_is_named(name: str) -> None:
    assert hinted(name, text=True) is Role.CONTEXT
    assert hinted(name) is Role.KNOB


@pytest.mark.parametrize(
    ("name", "role"),
    [
        # the last word says what it is
        ("request_latency", Role.OUTCOME), ("latency_request", Role.KNOB),
        ("step_time", Role.OUTCOME), ("time_step", Role.KNOB),
        ("energy_per_request_j", Role.OUTCOME), ("time_per_step", Role.OUTCOME),
        ("queue_depth", Role.KNOB), ("queue", Role.CONTEXT),
        ("L1DSizeKB", Role.KNOB), ("size_kib", Role.CONTEXT),
        # namespaces
        ("config.loss", Role.KNOB), ("config.dataset", Role.CONTEXT),
        ("summary.gpu.0.memory", Role.OUTCOME), ("params/threads", Role.KNOB),
        # statistics, rates, shares and units
        ("ttft_p99_ms", Role.OUTCOME), ("open(s)", Role.OUTCOME), ("Gflops/W", Role.OUTCOME),
        ("[OVERALL] Throughput(ops/sec)", Role.OUTCOME), ("%cpu", Role.OUTCOME),
        # other languages
        ("Laufzeit [s]", Role.OUTCOME), ("Löser", Role.KNOB), ("Rechner", Role.CONTEXT),
    ],
)  # fmt: skip
def test_the_words_of_a_name_are_weighed(name: str, role: Role) -> None:
    assert hinted(name) is role


@pytest.mark.parametrize(
    "name",
    [
        "sched:sched_switch", "uncore_imc_0/cas_count_read/", "PAPI_L2_TCM",
        "INSTR_RETIRED_ANY:FIXC0", "sm__cycles_elapsed.avg", "dram__bytes.sum",
    ],
)  # fmt: skip
def test_events_as_tools_write_them(name: str) -> None:
    assert is_event(name)


@pytest.mark.parametrize(
    "name", ["power/energy-pkg/", "Jitter:RAP", "config.lr", "GFLOP/s", "bw(MiB/s)", "T/V"]
)
def test_other_names_are_no_events(name: str) -> None:
    assert not is_event(name)


def test_counters() -> None:
    for name in ("cache-misses", "llc_misses", "IPC", "BranchMispred", "page-faults", "L1 bound"):
        assert is_counter(name), name
    for name in ("threads", "cycle_time", "frequency", "bandwidth", "cache_size"):
        assert not is_counter(name), name
    assert is_headline("Cycles")
    assert is_headline("sim_cycles")
    assert not is_headline("stall_cycles")


@pytest.mark.parametrize(
    "names",
    [
        ("ttft_p50_ms", "ttft_p99_ms"),
        ("energy_per_token_j", "energy_per_request_j"),
        ("latency_mean", "latency_max"),
        ("k1", "k2"),
        ("Min Latency(us)", "Max Latency(us)"),
    ],
)
def test_a_family_has_one_stem(names: tuple[str, str]) -> None:
    assert stem(names[0]) == stem(names[1])
    assert stem(names[0]) != stem("threads")


def test_totals() -> None:
    assert is_total("total_ranks")
    assert is_total("aggregateFileSize")
    assert not is_total("tasks")
