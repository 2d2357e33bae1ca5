"""Dumps of sacct: steps joined, forms read, and what is no dump left to others."""

import contextlib
import gzip
import random
from collections import Counter
from pathlib import Path

import pytest

from compass.arrow import UNIT
from compass.domain.errors import CompassError, DataProblem
from compass.readers import Table, files, read

HEADER = (
    "JobID|JobName|State|ExitCode|Submit|Start|Elapsed|Timelimit|TotalCPU|AllocCPUS|NNodes|NTasks|"
    "ReqMem|MaxRSS|AveCPU|AllocTRES"
)
JOBS = f"""{HEADER}
7|solve|COMPLETED|0:0|2026-01-01T00:00:00|2026-01-01T00:01:40|00:10:00|01:00:00|00:30:00|4|2||8Gn||\
|billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=2
7.batch|batch|COMPLETED|0:0|2026-01-01T00:01:40|2026-01-01T00:01:40|00:10:00||00:10:00|2|1|1||\
2097152K|00:09:00|cpu=2,mem=8G,node=1
7.extern|extern|COMPLETED|0:0|2026-01-01T00:01:40|2026-01-01T00:01:40|00:10:00||00:00.001|4|2|2||\
1K|00:00:00|cpu=4
7.0|app|COMPLETED|0:0|2026-01-01T00:01:40|2026-01-01T00:01:40|00:09:00||19:59.999|4|2|4||1G|\
00:05:00|cpu=4
8_3|a|CANCELLED by 1234|0:15|2026-01-01T00:00:00|Unknown|00:00:00|UNLIMITED|00:00:00|1|1||4000Mc|||
8_[4-9]|a|PENDING|0:0|2026-01-01T00:00:00|Unknown|00:00:00|Partition_Limit|00:00:00|1|1||4000Mc|||
9+0|het|FAILED|1:0|2026-01-01T00:00:00|2026-01-01T00:00:00|1-00:00:00|2-00:00:00|00:00:00|1|1||\
2G|||cpu=1
9+0.batch|batch|FAILED|1:0|||1-00:00:00||00:00:00|1|1|1||1.50G|00:00:01|cpu=1
10|again|REQUEUED|0:0|2026-01-01T00:00:00|2026-01-01T00:00:10|00:01:00|01:00:00|00:00:00|1|1||1G||\
|cpu=1
10.batch|batch|CANCELLED|0:15|||00:01:00||00:00:00|1|1|1||100M||cpu=1
10|again|COMPLETED|0:0|2026-01-01T00:02:00|2026-01-01T00:02:10|00:02:00|01:00:00|00:00:00|1|1||1G|\
||cpu=1
10.batch|batch|COMPLETED|0:0|||00:02:00||00:00:00|1|1|1||200M||cpu=1
"""


def dump(tmp_path: Path, text: str, name: str = "jobs.txt") -> Table:
    path = tmp_path / name
    path.write_text(text)
    assert files.reader_for(path).name == "sacct"
    return read(path)


def rows(table: Table) -> list[dict[str, object]]:
    return [table.row(n) for n in range(table.rows)]


def test_one_row_per_job_with_what_its_steps_used(tmp_path: Path) -> None:
    table = dump(tmp_path, JOBS)
    found = rows(table)
    assert [row["JobID"] for row in found] == ["7", "8_3", "8_[4-9]", "9+0", "10", "10"]
    first = found[0]
    assert first["MaxRSS"] == 2 * 2**30  # of .batch
    assert first["memory_used"] == 4 * 2**30  # of .0: four tasks of 1 GiB
    assert first["AveCPU"] == 540
    assert first["NTasks"] == 4
    assert first["ReqMem"] == 16 * 2**30  # 8 GiB on each of two nodes
    assert first["memory_efficiency"] == 0.25
    assert first["cpu_efficiency"] == 1800 / (4 * 600)
    assert first["wall_efficiency"] == 600 / 3600
    assert first["wait_s"] == 100
    assert (first["alloc_gpus"], first["alloc_gpus_a100"], first["alloc_mem"]) == (2, 2, 2**34)
    assert found[3]["alloc_gpus"] == 0
    assert "AllocTRES" not in table.names


def test_states_times_and_exit_codes_are_values(tmp_path: Path) -> None:
    found = rows(dump(tmp_path, JOBS))
    assert (found[1]["State"], found[1]["ExitCode"], found[1]["exit_signal"]) == (
        "CANCELLED",
        0,
        15,
    )
    assert found[1]["Timelimit"] is None
    assert found[2]["Timelimit"] is None
    assert found[1]["Start"] is None
    assert found[1]["wait_s"] is None
    assert found[1]["ReqMem"] == 4000 * 2**20
    assert found[3]["Elapsed"] == 86400
    assert found[3]["memory_efficiency"] == 0.75


def test_a_requeued_job_has_a_row_for_each_start(tmp_path: Path) -> None:
    found = rows(dump(tmp_path, JOBS))
    assert [(r["State"], r["MaxRSS"]) for r in found[4:]] == [
        ("REQUEUED", 100 * 2**20),
        ("COMPLETED", 200 * 2**20),
    ]


def test_units_are_told(tmp_path: Path) -> None:
    schema = dump(tmp_path, JOBS).arrow.schema
    told = {field.name: (field.metadata or {}).get(UNIT) for field in schema}
    assert told["Elapsed"] == told["wait_s"] == b"s"
    assert told["MaxRSS"] == told["ReqMem"] == told["alloc_mem"] == b"B"
    assert told["AllocCPUS"] is None


def test_the_same_dump_in_other_clothes(tmp_path: Path) -> None:
    wanted = dump(tmp_path, JOBS).fingerprint
    trailing = "".join(line + "|\n" for line in JOBS.splitlines())
    assert dump(tmp_path, trailing).fingerprint == wanted
    assert dump(tmp_path, JOBS.replace("\n", "\r\n")).fingerprint == wanted
    assert dump(tmp_path, JOBS, "jobs.csv").fingerprint == wanted
    twice = JOBS + JOBS  # two dumps of the same days, header and all
    assert dump(tmp_path, twice).fingerprint == wanted
    packed = tmp_path / "jobs.sacct.gz"
    packed.write_bytes(gzip.compress(JOBS.encode()))
    assert read(packed).fingerprint == wanted


def test_steps_above_their_job_are_joined_and_orphans_left_out(tmp_path: Path) -> None:
    lines = JOBS.splitlines()
    shuffled = [lines[0], *lines[2:5], lines[1], "99.batch" + lines[2][7:]]
    found = rows(dump(tmp_path, "\n".join(shuffled)))
    assert [(row["JobID"], row["MaxRSS"]) for row in found] == [("7", 2 * 2**30)]
    only = "\n".join([lines[0], *lines[2:5]])
    with pytest.raises(DataProblem, match="only steps"):
        dump(tmp_path, only)


def test_without_a_header_known_orders_are_recognised(tmp_path: Path) -> None:
    text = "7|solve|lab|acct|4|COMPLETED|0:0\n7.batch|batch||acct|4|COMPLETED|0:0\n"
    table = dump(tmp_path, text)
    assert table.row(0)["AllocCPUS"] == 4
    assert table.rows == 1
    unknown = tmp_path / "odd.txt"
    unknown.write_text("7|x|y\n")
    with pytest.raises(DataProblem, match="not a dump") as caught:
        read(unknown, reader="sacct")
    assert "--noheader" in caught.value.hint


def test_names_may_hold_the_separator_and_line_breaks(tmp_path: Path) -> None:
    header = "JobID|JobName|State|Elapsed|SubmitLine|ReqMem|WorkDir\n"
    text = header + "7|a|b|COMPLETED|00:01:00|sbatch -J a|b|1G|/home\n"
    text += "8|plain|COMPLETED|00:02:00|sbatch --wrap 'x\ny | z'|2G|/home\n"
    text += "9|plain|COMPLETED|00:03:00|sbatch|3G|/odd\nfolder\n10|p|FAILED|00:04:00|x|4G|/home\n"
    found = rows(dump(tmp_path, text))
    assert [row["Elapsed"] for row in found] == [60, 120, 180, 240]
    assert (found[0]["JobName"], found[0]["SubmitLine"]) == ("a|b", "sbatch -J a|b")
    assert found[1]["SubmitLine"] == "sbatch --wrap 'x\ny | z'"
    assert found[2]["WorkDir"] == "/odd\nfolder"


def test_memory_per_node_without_a_count_of_nodes_stays_text(tmp_path: Path) -> None:
    table = dump(tmp_path, "JobID|Elapsed|ReqMem\n7|00:01:00|8Gn\n8|00:01:00|8Gn\n")
    assert table.row(0)["ReqMem"] == "8Gn"
    assert "memory_efficiency" not in table.names


@pytest.mark.parametrize(
    "text",
    [
        "JobID,Elapsed,nodes,app,x\n1,00:01:00,2,amg,3\n",  # mostly other columns
        "jobid,user,state,partition\n1,me,COMPLETED,lab\n",  # nothing of Slurm's own
        "JobID,AllocCPUS,MaxRSS\n1,2,300\n",  # numbers already
        "a|b|c\n1|2|3\n",
        "ReqMem,CPUTimeRAW,AllocCPUS,NNodes\n100Mc,5,1,1\n",  # no job, and not sacct's separator
    ],
)
def test_other_tables_stay_plain(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    assert files.reader_for(path).name == "csv"


def test_a_damaged_dump_is_refused_or_read(tmp_path: Path) -> None:
    chance, path = random.Random(5), tmp_path / "jobs.sacct"
    for _ in range(150):
        damaged = bytearray(JOBS.encode())
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged[: chance.randint(1, len(damaged))])
        with contextlib.suppress(CompassError):
            assert read(path, reader="sacct").rows > 0


def test_a_cut_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sacct"
    path.write_text(JOBS[:-30])
    with pytest.raises(DataProblem, match=r"line 13 of .* cells"):
        read(path)
    path.write_text("JobID|Elapsed|State\n7|soon|COMPLETED\n")
    with pytest.raises(DataProblem, match="'soon'"):
        read(path)
    path.write_text("JobID|Elapsed|Elapsed\n7|00:01:00|00:01:00\n")
    with pytest.raises(DataProblem, match="several columns named Elapsed"):
        read(path)


def test_memory_that_slurm_has_summed_over_the_tasks_goes_first(tmp_path: Path) -> None:
    text = (
        "JobID|NTasks|ReqMem|MaxRSS|TRESUsageInTot\n"
        "7||16G||\n"
        "7.batch|1||2G|cpu=00:00:01,mem=2G\n"
        "7.0|4||3G|cpu=00:00:01,mem=8G,pages=3\n"  # one task is larger than the others
        "8||16G||\n"
        "8.0|4||1G|\n"  # an old version of Slurm
    )
    table = dump(tmp_path, text)
    assert table.column("memory_used").to_pylist() == [8 * 2**30, 4 * 2**30]
    assert table.column("memory_efficiency").to_pylist() == [0.5, 0.25]
    assert table.arrow.schema.field("memory_used").metadata == {UNIT: b"B"}
    assert not [name for name in table.names if name.startswith("usage_")]


def test_many_kinds_of_resources_are_refused(tmp_path: Path) -> None:
    wild = ",".join(f"gres/g{n}=1" for n in range(5000))
    with pytest.raises(DataProblem, match="5001 kinds"):
        dump(tmp_path, f"JobID|Elapsed|AllocTRES\n7|00:01:00|{wild}\n")


def simple_seconds(text: str) -> int:
    days, _, clock = text.rpartition("-")
    hours, minutes, seconds = clock.split(":")
    return int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds)


def memory_asked(text: str, nodes: int, cpus: int) -> int:
    """Megabytes; these clusters wrote requests per CPU with the mark of old versions of Slurm."""
    number, per = round(float(text[:-2]) * {"M": 1, "G": 1024}[text[-2]]), text[-1]
    marked = number >= 2**31
    return (number - 2**31 if marked else number) * (cpus if marked or per == "c" else nodes)


def test_totals_of_a_real_cluster(real_data: Path) -> None:
    for name in ("phillips", "pozidriv"):
        path = real_data / "xdmod_slurm" / "raw" / f"{name}.log"
        cells = [line.split("|") for line in path.read_text().splitlines()]
        table = read(path)
        states = Counter(row[16].split()[0] for row in cells)
        assert Counter(table.column("State").to_pylist()) == states
        total = sum(simple_seconds(row[14]) for row in cells)
        assert sum(table.column("Elapsed").to_pylist()) == total
        memory = [memory_asked(row[20], int(row[17]), int(row[18])) for row in cells]
        asked = table.column("ReqMem").to_pylist()
        assert asked == [megabytes * 2**20 for megabytes in memory]
        # Slurm itself told the whole in another column of most rows, rounded to five digits.
        whole = table.column("req_mem").to_pylist()
        known = [(a, b) for a, b in zip(asked, whole, strict=True) if b is not None]
        assert len(known) > 0.9 * len(cells)
        assert all(a == pytest.approx(b, rel=1e-3) for a, b in known)


def test_a_table_made_from_a_dump_tells_the_same(real_data: Path) -> None:
    folder = real_data / "xdmod_slurm"
    both = read([folder / "raw" / "phillips.log", folder / "raw" / "pozidriv.log"], fill=True)
    again = read(folder / "xdmod_slurm.csv")
    for name in ("JobID", "Elapsed", "State", "Timelimit", "ReqMem", "Submit"):
        assert both.column(name).to_pylist() == again.column(name).to_pylist(), name
    # The columns that somebody else derived for this table.
    assert again.column("elapsed_s").to_pylist() == again.column("Elapsed").to_pylist()
    assert again.column("wait_s").to_pylist() == both.column("wait_s").to_pylist()
    gpus = both.column("alloc_gpus").to_pylist()
    assert again.column("gpus").to_pylist() == [n or 0 for n in gpus]


def test_a_dump_without_jobs_ids(real_data: Path) -> None:
    path = real_data / "kabre_sacct" / "raw" / "sacct.csv"
    lines = path.read_text().splitlines()
    cells = [dict(zip(lines[0].split("|"), line.split("|"), strict=True)) for line in lines[1:]]
    table = read(path)
    assert Counter(table.column("State").to_pylist()) == Counter(
        row["State"].split()[0] for row in cells
    )
    assert sum(table.column("CPUTimeRAW").to_pylist()) == sum(int(r["CPUTimeRAW"]) for r in cells)
    limits = [r["Timelimit"] for r in cells]
    known = [simple_seconds(text) for text in limits if text != "Partition_Limit"]
    found = table.column("Timelimit")
    assert (sum(v or 0 for v in found.to_pylist()), len(limits) - found.null_count) == (
        sum(known),
        len(known),
    )
    small = {"M": 2**20, "G": 2**30}
    for place in range(0, len(cells), 997):
        text = cells[place]["ReqMem"]
        times = cells[place]["ReqCPUS" if text[-1] == "c" else "ReqNodes"]
        asked = float(text[:-2]) * small[text[-2]] * int(times)
        assert table.row(place)["ReqMem"] == round(asked)


def test_a_dump_that_is_cut_in_many_pieces_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, *lines = JOBS.splitlines()
    many = [
        line.replace("|solve|", f"|solve{n}|") if "." not in line.split("|")[0] else line
        for n in range(200)
        for line in (f"{n}{line}" for line in lines)
    ]
    text = "\n".join([header, *many, header, many[0]]) + "\n"
    whole = dump(tmp_path, text)
    monkeypatch.setattr("compass.slurm.text._BLOCK", 5000)
    assert dump(tmp_path, text, "again.txt").fingerprint == whole.fingerprint
    monkeypatch.setattr("compass.slurm.text._BATCH", 7)
    broken = text.replace("|solve3|", "|solve\n3|", 1)
    assert dump(tmp_path, broken, "broken.txt").rows == whole.rows


def test_a_moment_in_a_far_year_is_read(tmp_path: Path) -> None:
    found = rows(
        dump(
            tmp_path,
            JOBS.replace("2026-01-01T00:01:40|00:10:00|01", "5026-01-01T00:01:40|00:10:00|01"),
        )
    )
    assert found[0]["wait_s"] > 90e9


def test_one_stamp_that_is_none_leaves_the_column_text(tmp_path: Path) -> None:
    found = rows(dump(tmp_path, JOBS.replace("2026-01-01T00:02:10", "yesterday", 1)))
    assert found[0]["Start"] == "2026-01-01T00:01:40"
    assert found[5]["Start"] == "yesterday"
    assert "wait_s" not in found[0]
