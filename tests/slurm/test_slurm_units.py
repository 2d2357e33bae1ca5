"""The forms that Slurm writes: what is written from a value is read back as that value."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.slurm import units


def written_time(milliseconds: int, short: bool) -> str:
    """As sacct writes it: hours only where needed when it has a fraction."""
    whole, rest = divmod(milliseconds, 1000)
    days, left = divmod(whole, 86400)
    hours, left = divmod(left, 3600)
    minutes, seconds = divmod(left, 60)
    tail = f"{minutes:02}:{seconds:02}" + (f".{rest:03}" if rest else "")
    if days:
        return f"{days}-{hours:02}:{tail}"
    return tail if short and not hours else f"{hours:02}:{tail}"


@given(st.integers(0, 10**11), st.booleans())
def test_times_come_back(milliseconds: int, short: bool) -> None:
    found = units.seconds(written_time(milliseconds, short))
    assert found == pytest.approx(milliseconds / 1000, abs=1e-6)


@given(st.integers(0, 10**6), st.sampled_from(" KMGT"))
def test_sizes_come_back(count: int, prefix: str) -> None:
    factor = 1024 ** " KMGT".index(prefix)
    assert units.size(f"{count}{prefix.strip()}") == count * factor
    assert units.amount(f"{count}{prefix.strip()}") == count * 1000 ** " KMGT".index(prefix)


@given(
    st.dictionaries(
        st.sampled_from(["cpu", "node", "billing", "gres/gpu", "gres/gpu:a100", "license/x"]),
        st.integers(0, 10**9),
    )
)
def test_resources_come_back(counts: dict[str, int]) -> None:
    text = ",".join(f"{name}={count}" for name, count in counts.items())
    assert units.resources(text) == counts


@given(st.text(max_size=30))
def test_any_text_is_a_value_missing_or_refused(text: str) -> None:
    for parse in (
        units.seconds,
        units.size,
        units.amount,
        units.memory_request,
        units.resources,
        units.exit_code,
    ):
        with contextlib.suppress(ValueError):
            parse(text)
    units.state(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10-13:27:06", 912426),
        ("00:00:00", 0),
        ("01:30", 90),
        ("00:03.050", 3.05),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("158517504", 158517504),
        ("UNLIMITED", None),
        ("Partition_Limit", None),
        ("INVALID", None),
        ("Unknown", None),
        ("", None),
    ],
)
def test_times(text: str, value: float | None) -> None:
    assert units.seconds(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4000Mc", (4000 * 2**20, "CPU")),
        ("16Gn", (16 * 2**30, "node")),
        (f"{2**31 + 3000}Mn", (3000 * 2**20, "CPU")),  # the mark of old versions of Slurm
        (f"{2**31 - 1}Mn", ((2**31 - 1) * 2**20, "node")),
        ("12.5G", (12.5 * 2**30, "")),
        ("0", (0, "")),
        ("0n", (0, "node")),
        ("512", (512 * 2**20, "")),
        ("?", (None, "")),
        ("Unknown", (None, "")),
    ],
)
def test_memory_requests(text: str, value: tuple[float | None, str]) -> None:
    assert units.memory_request(text) == value


def test_resources_states_and_exit_codes() -> None:
    found = units.resources("billing=8,cpu=8,gres/gpu:a100=2,mem=62.50G,node=1")
    assert found["mem"] == 62.5 * 2**30
    assert found["gres/gpu:a100"] == 2
    assert units.resources("cpu=00:01:02,mem=1K") == {"cpu": 62, "mem": 1024}
    assert units.state("CANCELLED by 1234") == "CANCELLED"
    assert units.state("OUT_OF_ME+") == "OUT_OF_ME"
    assert units.exit_code("1:9") == (1, 9)


@pytest.mark.parametrize("text", ["1:2:3:4", "abc", "-5", "1-", "12X"])
def test_what_slurm_never_writes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        units.seconds(text)
