"""The columns of a table as a list to read: few and many, short names and long ones."""

from compass.cli.column_groups import column_groups
from compass.domain.space import Role
from compass.prepare.report import ColumnReport


def column(name: str, role: Role = Role.KNOB, **given: object) -> ColumnReport:
    about = {"name": name, "role": role, "kind": "number", "distinct": 2, "missing": 0}
    return ColumnReport.model_validate({**about, "legal": "0, 1", **given})


def lines_of(columns: list[ColumnReport], width: int = 80) -> list[str]:
    groups = column_groups(columns, width)
    lines = [line for head, some in groups for line in (head, *some)]
    assert max(map(len, lines)) <= width
    return lines


def test_outcomes_come_first_and_are_told_in_readable_units() -> None:
    energy = column(
        "energy",
        Role.OUTCOME,
        legal="whole 0..784918802",
        low=0.0,
        high=784918802.0,
        unit="J",
        distinct=16355,
        missing=1881,
    )
    assert lines_of([column("nodes", unit="W"), energy]) == [
        "Outcomes (1): what is measured",
        "  energy  0 J to 784.9 MJ  16,355 different; 1,881 missing",
        "Knobs (1): what can be set",
        "  nodes  0, 1 W",
    ]


def test_what_is_ignored_is_told_by_its_reason() -> None:
    ignored = [
        column("qos", Role.IGNORED, note="constant"),
        column("job id", Role.IGNORED, note="looks like an id"),
        column("line", Role.IGNORED, note="constant"),
        column("mine", Role.IGNORED, note="constant", stated=True),
    ]
    assert lines_of(ignored) == [
        "Ignored (4)",
        "  constant: qos, line",
        "  looks like an id: job id",
        "  as stated: mine",
    ]


def test_a_long_name_is_whole_and_has_a_line_of_its_own() -> None:
    name = "shared_memory_store_transactions_per_request"
    lines = lines_of([column(name), column("tile", note="odd " * 30)], 60)
    assert lines[1:3] == [f"  {name}", "        0, 1"]
    assert lines[3] == "  tile  0, 1"
    assert all(line.startswith("        odd") for line in lines[4:])
    longer = "x" * 100
    assert f"  {longer}" in column_groups([column(longer)], 80)[0][1]


def test_long_lists_of_values_are_shortened_and_counted() -> None:
    labels = ", ".join(f"account{i:04}" for i in range(8))
    some = column("account", Role.CONTEXT, kind="category", legal=labels, distinct=8)
    (_, line) = lines_of([some], 60)
    assert line == "  account  account0000, account0001, ... (8 values)"
    path = column("file", Role.CONTEXT, kind="category", legal="/very/long" * 30, distinct=1)
    (_, line) = lines_of([path], 60)
    assert "..." in line


def test_labels_that_look_like_numbers_are_called_labels() -> None:
    some = column("gpu", kind="category", legal="1080, 2080", common=(("1080", 3), ("2080", 1)))
    assert lines_of([some])[1] == "  gpu  1080, 2080  labels"


def test_among_many_columns_those_that_are_alike_share_an_entry() -> None:
    many = [column(f"option_{i:03}") for i in range(200)] + [column("tile", legal="8, 16, 32")]
    assert lines_of(many) == [
        "Knobs (201): what can be set",
        "  200 columns  0, 1",
        "    option_000 .. option_199",
        "  tile        8, 16, 32",
    ]
    few = [column(f"option_{i}") for i in range(5)]
    assert len(lines_of(few)) == 6
