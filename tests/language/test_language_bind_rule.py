"""Rules in the names, labels and units of one table."""

import pytest
from language_table import SPACE

from compass.domain.constraint import Constraint, Source
from compass.domain.errors import BadInput, QueryProblem, UnknownName
from compass.language import bind_rule, format_rule, parse_rule
from compass.language.bind import bind_constraint


def bound(text: str) -> str:
    return format_rule(bind_rule(parse_rule(text), SPACE))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("GPUS <= 4 * Nodes", "gpus <= 4 * nodes"),
        ("nodes in {4, 8}", "nodes in {4, 8}"),
        ("not NODES > 4 -> GPUS > 1", "not nodes > 4 -> gpus > 1"),
        ("max(NODES, GPUS) < 4 or -GPUS < 0", "max(nodes, gpus) < 4 or -gpus < 0"),
        ("`time[S]` < 3", "`Time[s]` < 3"),
        ("partition == gpu", "partition == 'gpu'"),
        ("GPU == partition", "'gpu' == partition"),
        ("partition == 'GPU'", "partition == 'gpu'"),
        ("partition: BIG-MEM", "partition == 'Big-Mem'"),
        ("partition in {CPU, 'GPU'}", "partition in {'cpu', 'gpu'}"),
        ("partition != none", "partition != none"),
        ("app != none", "app != none"),
        ("queue == '1'", "queue == 1"),
        ("queue in {3, 1}", "queue in {'3', 1}"),
        ("is_gpu", "is_gpu == true"),
        ("partition == app", "partition == app"),
        ("cap == none", "cap == none"),
        ("net == ResNet-50", "net == 'ResNet-50'"),
        ("resnet - 101 != NET", "'ResNet-101' != net"),
        ("net == a100-sxm4-40gb", "net == 'A100-SXM4-40GB'"),
        ("net == v-1.0 -> nodes > 1", "net == 'v-1.0' -> nodes > 1"),
        ("net == VGG/16 or net = 'ResNet-50'", "net == 'VGG/16' or net == 'ResNet-50'"),
        ("net in {ResNet-50, resnet-101}", "net in {'ResNet-50', 'ResNet-101'}"),
        ("gpus == nodes-50", "gpus == nodes - 50"),
        ("RUNTIME <= time_limit", "runtime <= time_limit"),
    ],
)
def test_names_and_labels(written: str, expected: str) -> None:
    assert bound(written) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("mem_gb <= 64000 MB", "mem_gb <= 64"),
        ("64 GB >= mem_gb", "64 >= mem_gb"),
        ("mem_gb <= 64 GB * nodes", "mem_gb <= 64 * nodes"),
        ("mem_gb - 500 MB < 2 * 1 TB", "mem_gb - 0.5 < 2 * 1000"),
        ("-mem_gb > -2000 MB", "-mem_gb > -2"),
        ("max(mem_gb, 500 MB) < 4 GB", "max(mem_gb, 0.5) < 4"),
        ("mem_gb in {1000 MB, 2 GB}", "mem_gb in {1, 2}"),
        ("mem_gb + 1000 MB in {2 GB}", "mem_gb + 1 in {2}"),
        ("runtime: [1, 2 h]", "3600 <= runtime and runtime <= 7200"),
        ("runtime < time_limit - 1 min", "runtime < time_limit - 60"),
        ("fits(mem_gb, 500 MB)", "fits(mem_gb, 0.5)"),
    ],
)
def test_units_become_those_of_the_columns(written: str, expected: str) -> None:
    assert bound(written) == expected


@pytest.mark.parametrize(
    ("written", "kind", "message"),
    [
        ("node < 3", UnknownName, "no column named 'node'"),
        ("nodes == gpu_count", UnknownName, "no column named 'gpu_count'"),
        ("partition == gpux", UnknownName, "no value of partition named 'gpux'"),
        ("partition in {gpu, tpu}", UnknownName, "no value of partition named 'tpu'"),
        ("nodes < 4 GB", QueryProblem, "nodes has no known unit, so 4 GB cannot be compared"),
        ("mem_gb < 4 s", QueryProblem, "mem_gb is in GB (memory), but 4 s is time"),
        ("power * runtime < 5 kWh", QueryProblem, "5 kWh stands beside columns in different units"),
        ("4 GB < 5 GB", QueryProblem, "4 GB is not compared with a column"),
    ],
)
def test_what_does_not_fit_is_refused(written: str, kind: type[BadInput], message: str) -> None:
    with pytest.raises(kind) as caught:
        bound(written)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_a_constraint_keeps_its_source_and_becomes_canonical() -> None:
    rule = Constraint(text="MEM_GB<=1 TB", source=Source.STUDY)
    expected = Constraint(text="mem_gb <= 1000", source=Source.STUDY)
    assert bind_constraint(rule, SPACE) == expected
    assert bind_constraint(expected, SPACE) == expected
