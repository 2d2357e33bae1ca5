"""Names become columns and words become values, or the person is told why not."""

import math

import pytest
from language_case import recommend, reconfigure, what_if
from language_table import SPACE

from compass.domain.errors import BadInput, QueryProblem, UnknownName
from compass.domain.goal import (
    Change,
    Extreme,
    IsClass,
    Observe,
    Reach,
    Same,
    Within,
    at_most,
    less,
    minimize,
    observe,
    same,
)
from compass.domain.query import Given, Plus, Query, Row, SetTo, plus, set_to, times
from compass.domain.space import Number, Role, Space
from compass.language import bind_query, format_query, parse_query
from compass.language.bind import bind_config, bind_value, column, columns_like, match_label


def bound(text: str) -> Query:
    return bind_query(parse_query(text), SPACE)


def refused(query: Query | str, kind: type[BadInput] = QueryProblem) -> BadInput:
    with pytest.raises(kind) as caught:
        bind_query(parse_query(query) if isinstance(query, str) else query, SPACE)
    assert caught.value.hint
    return caught.value


class TestNames:
    @pytest.mark.parametrize(
        ("written", "name"), [("nodes", "nodes"), ("NODES", "nodes"), ("CASE", "CASE")]
    )
    def test_exactly_or_apart_from_case(self, written: str, name: str) -> None:
        assert column(written, SPACE) == name

    def test_case_that_does_not_decide_is_refused(self) -> None:
        with pytest.raises(UnknownName):
            column("case", SPACE)

    def test_an_unknown_name_offers_the_nearest(self) -> None:
        error = refused("Recommend X = {node: ?} to achieve Y = {runtime: min}", UnknownName)
        assert error.message == "no column named 'node'"
        assert error.hint == "did you mean nodes?"

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("X+_*_STALL", ("X+_A_STALL", "X+_B_STALL")),
            ("x+_*_stall", ("X+_A_STALL", "X+_B_STALL")),
            ("*_gb", ("mem_gb",)),
            ("*?y", ("x?y",)),
            ("time[*", ("Time[s]",)),
            ("Time[s]", ("Time[s]",)),
            ("a*b", ("a*b",)),
            ("A*B", ("a*b", "a1b")),
            ("*", SPACE.names),
        ],
    )
    def test_only_a_star_is_a_wildcard(self, pattern: str, found: tuple[str, ...]) -> None:
        assert columns_like(pattern, SPACE) == found

    def test_a_wildcard_without_a_match_is_refused(self) -> None:
        error = refused("Recommend X = {*_core: ?} to achieve Y = {runtime: min}", UnknownName)
        assert error.message == "no column matches '*_core'"
        assert "nodes" in error.hint

    def test_wildcards_spread_in_every_field(self) -> None:
        query = bound(
            "What if we change X = {X+_*: 2 -> 3}, how would that affect Y = {run*, *er} "
            "weights {x+_*: 2}"
        )
        both = ("X+_A_STALL", "X+_B_STALL")
        assert query.change == {name: set_to(3) for name in both}
        assert query.stated == dict.fromkeys(both, 2)
        assert query.weights == dict.fromkeys(both, 2)
        assert query.goals == {"runtime": observe, "power": observe}

    def test_a_column_asked_for_twice_is_asked_once(self) -> None:
        query = bound("Recommend X = {X+_A_STALL: ?, X+_*: ?} to achieve Y = {runtime: min}")
        assert query.ask == ("X+_A_STALL", "X+_B_STALL")

    @pytest.mark.parametrize("opening", ["Recommend X = {*: ?}", "Recommend X = {nodes: ?, *: ?}"])
    def test_a_star_alone_asks_for_every_knob(self, opening: str) -> None:
        query = bound(f"{opening} to achieve Y = {{runtime: min}}")
        assert query.ask == SPACE.having(Role.KNOB)
        assert parse_query(format_query(query)) == query

    def test_a_star_leaves_out_what_the_question_says_otherwise(self) -> None:
        query = bound(
            "Reconfigure X = {GPUS: 4, *: ?} to achieve Y = {runtime: min, cap: <= 100} "
            "where C = {NODES == 2, app: FT, 3 <= stripes} from row 1"
        )
        said = {"gpus", "cap", "nodes", "app"}
        assert query.ask == tuple(n for n in SPACE.having(Role.KNOB) if n not in said)

    def test_a_star_that_nothing_is_left_for_is_refused(self) -> None:
        space = SPACE.select(["nodes", "is_gpu", "runtime"])
        text = "Recommend X = {nodes: 4, *: ?} to achieve Y = {runtime: min}"
        with pytest.raises(QueryProblem, match="no knob is left") as caught:
            bind_query(parse_query(text), space)
        assert caught.value.hint

    def test_a_column_that_is_called_star_is_itself(self) -> None:
        space = Space(
            parameters=(*SPACE.select(["nodes", "runtime"]), Number(name="*", low=0, high=1))
        )
        query = bind_query(parse_query("Recommend {*: ?} to get {runtime: min}"), space)
        assert query.ask == ("*",)

    def test_a_column_given_two_values_is_refused(self) -> None:
        error = refused("Recommend X = {X+_A_STALL: 1, X+_*: 2} to achieve Y = {runtime: min}")
        assert error.message == "'X+_A_STALL' is named twice"


class TestLabels:
    @pytest.mark.parametrize("written", ["ResNet-50", "resnet-50", "'ResNet-50'"])
    def test_a_label_with_a_hyphen_and_digits_needs_no_quotes(self, written: str) -> None:
        query = bound(f"What if we change X = {{net: ResNet-101 -> {written}}}, where nodes < 4")
        assert query.change == {"net": set_to("ResNet-50")}
        assert query.stated == {"net": "ResNet-101"}
        start = bound(f"Reconfigure {{nodes: ?}} to get {{runtime: min}} from {{net: {written}}}")
        assert start.baseline == Given(config={"net": "ResNet-50"})

    @pytest.mark.parametrize(
        "text",
        [
            "What if we change X = {net: ResNet-51}",
            "Recommend X = {nodes: ?} to achieve Y = {runtime: min} where net == ResNet-51",
        ],
    )
    def test_an_unknown_one_offers_the_nearest(self, text: str) -> None:
        error = refused(text, UnknownName)
        assert error.message == "no value of net named 'ResNet-51'"
        assert error.hint == "did you mean ResNet-50?"

    @pytest.mark.parametrize(
        ("name", "written", "label"),
        [
            ("partition", "gpu", "gpu"),
            ("partition", "GPU", "gpu"),
            ("partition", "big-mem", "Big-Mem"),
            ("partition", None, None),
            ("partition", "none", None),
            ("queue", 1, 1),
            ("queue", "1", 1),
            ("queue", 1.0, 1),
            ("queue", 2.5, 2.5),
            ("queue", "2.5", 2.5),
            ("queue", 3, "3"),
            ("is_gpu", True, True),
            ("is_gpu", "true", True),
            ("is_gpu", "FALSE", False),
        ],
    )
    def test_exactly_as_text_or_apart_from_case(
        self, name: str, written: object, label: object
    ) -> None:
        found = match_label(written, SPACE[name])  # type: ignore[arg-type]
        assert found == label
        assert type(found) is type(label)

    @pytest.mark.parametrize(
        ("name", "written", "hint"),
        [
            ("partition", "gpus", "did you mean gpu?"),
            ("app", "zzz", "there are: FT, CoMD"),
            ("is_gpu", 1, "there are: False, True"),
            ("queue", True, "there are: 1, 2.5, 3"),
            ("app", None, "there are: FT, CoMD"),
            ("queue", math.nan, "there are: 1, 2.5, 3"),
        ],
    )
    def test_an_unknown_label_offers_those_there_are(
        self, name: str, written: object, hint: str
    ) -> None:
        with pytest.raises(UnknownName, match=f"no value of {name} named") as caught:
            match_label(written, SPACE[name])  # type: ignore[arg-type]
        assert caught.value.hint == hint


class TestValues:
    def test_a_number_stays_as_it_is(self) -> None:
        assert type(bind_value(4, SPACE["nodes"])) is int
        assert bind_value(4.5, SPACE["mem_gb"]) == 4.5

    @pytest.mark.parametrize("value", ["four", True])
    def test_a_word_is_not_a_number(self, value: object) -> None:
        with pytest.raises(QueryProblem, match="nodes is a number, not") as caught:
            bind_value(value, SPACE["nodes"])  # type: ignore[arg-type]
        assert caught.value.hint == "its values go from 1 to 64"

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_a_number_must_be_finite(self, value: float) -> None:
        goals = {"runtime": minimize}
        for query in (
            reconfigure(change={"nodes": set_to(value)}, goals=goals),
            reconfigure("nodes", goals=goals, baseline=Given(config={"gpus": value})),
            reconfigure("nodes", goals=goals, stated={"nodes": value}),
        ):
            assert "must be a finite number" in refused(query).message

    def test_none_is_a_value_only_where_rows_have_it(self) -> None:
        assert bind_value(None, SPACE["cap"]) is None
        error = refused("What if we change X = {nodes: none}")
        assert error.message.startswith("nodes always has a value in this table")
        assert error.hint == "keep rows without a value (--missing nodes=none)"

    def test_a_configuration_is_bound_without_wildcards(self) -> None:
        assert bind_config({"NODES": 4, "partition": "CPU"}, SPACE) == {
            "nodes": 4,
            "partition": "cpu",
        }
        with pytest.raises(UnknownName):
            bind_config({"X+_*": 4}, SPACE)
        with pytest.raises(QueryProblem, match="'nodes' is named twice"):
            bind_config({"nodes": 4, "Nodes": 4}, SPACE)


class TestUnits:
    @pytest.mark.parametrize(
        ("goal", "expected"),
        [
            ("<= 2 h", Within(high=7200)),
            ("[1 min, 2 min]", Within(low=60, high=120)),
            ("reduce by 500 ms", Change(direction="reduce", by=0.5, relative=False)),
            ("old -> 1 min", Reach(value=60)),
            ("old -> 0 min", Reach(value=0)),
            ("reduce by 10%", less(0.1)),
        ],
    )
    def test_goals_are_told_in_the_unit_of_the_column(self, goal: str, expected: object) -> None:
        query = bound(f"Reconfigure X = {{nodes: ?}} to achieve Y = {{runtime: {goal}}}")
        assert query.goals == {"runtime": expected}

    def test_edits_are_told_in_the_unit_of_the_column(self) -> None:
        query = bound("What if we change X = {time_limit: 2 h, mem_gb: old -> old - 500 MB}")
        assert query.change == {"time_limit": set_to(7200), "mem_gb": plus(-0.5)}

    def test_any_spelling_of_a_unit_works_from_python(self) -> None:
        query = reconfigure("nodes", goals={"runtime": Within(high=2, unit="hours")})
        assert bind_query(query, SPACE).goals == {"runtime": at_most(7200)}

    @pytest.mark.parametrize(
        ("item", "message"),
        [
            ("nodes: 4 GB", "nodes has no known unit, so 4 GB cannot be compared with it"),
            ("mem_gb: 4 W", "mem_gb is in GB (memory), but 4 W is power"),
            ("stripes: 4 s", "stripes is in stripes, which does not convert from s"),
            ("mem_gb: old -> old + 2 s", "mem_gb is in GB (memory), but 2 s is time"),
        ],
    )
    def test_a_unit_that_does_not_fit_is_refused(self, item: str, message: str) -> None:
        assert refused(f"What if we change X = {{{item}}}").message == message

    @pytest.mark.parametrize(
        "goal",
        [
            Within(high=1, unit="parsec"),
            Within(high=1e300, unit="TB"),
            Change(direction="reduce", by=5e-324, relative=False, unit="ns"),
        ],
    )
    def test_what_cannot_be_converted_is_refused(self, goal: object) -> None:
        name = "power" if getattr(goal, "unit", "") == "TB" else "runtime"
        refused(reconfigure("nodes", goals={name: goal}))

    def test_a_number_too_large_for_the_unit_is_refused(self) -> None:
        error = refused("What if we change X = {time_limit: 1e308 d}")
        assert error.message == "1e+308 d is too large to tell in s"


class TestGoals:
    def test_a_number_cannot_be_a_class(self) -> None:
        error = refused("Recommend X = {nodes: ?} to achieve Y = {runtime: 100}")
        assert error.message == "runtime is a number; a prediction never equals 100 exactly"
        assert "[low, high]" in error.hint

    @pytest.mark.parametrize("goal", ["minimize", "[0, 1]", "<= 3", "same or less"])
    def test_a_class_has_no_range(self, goal: str) -> None:
        error = refused(f"Recommend X = {{nodes: ?}} to achieve Y = {{job_state: {goal}}}")
        assert error.message.startswith("job_state is a class")
        assert error.hint == "name the class you want: completed, failed"

    @pytest.mark.parametrize(
        ("goal", "expected"),
        [
            ("Completed", IsClass(value="completed")),
            ("failed -> completed", IsClass(value="completed")),
            ("same", same),
        ],
    )
    def test_goals_of_a_class(self, goal: str, expected: object) -> None:
        query = bound(f"Reconfigure X = {{nodes: ?}} to achieve Y = {{job_state: {goal}}}")
        assert query.goals == {"job_state": expected}

    def test_a_number_to_reach_can_be_a_label(self) -> None:
        query = bound("Reconfigure X = {nodes: ?} to achieve Y = {queue: 1 -> 3}")
        assert query.goals == {"queue": IsClass(value="3")}
        assert query.stated == {"queue": 1}

    def test_a_what_if_without_outcomes_tells_all_that_it_does_not_change(self) -> None:
        query = bound("What if we change X = {nodes: 4, score: 1}")
        assert query.goals == dict.fromkeys(("runtime", "power", "job_state"), observe)


class TestSense:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "Recommend X = {runtime: ?} to achieve Y = {runtime: min}",
                "'runtime' is both a parameter to set (X) and an outcome to reach (Y)",
            ),
            (
                "What if we change X = {power: 5}, how would that affect Y = {power}",
                "'power' is both a parameter to set (X) and an outcome to reach (Y)",
            ),
            (
                "Recommend X = {X+_A_STALL: 4, X+_*: ?} to achieve Y = {runtime: min}",
                "'X+_A_STALL' is both asked for and given a value",
            ),
            ("Recommend X = {nodes: ?} to achieve Y = {}", "the question has no goal"),
            ("Reconfigure X = {nodes: ?} to achieve Y = {power}", "the question has no goal"),
            (
                "What if we change X = {nodes: 4}, how would that affect Y = {power: minimize}",
                "a what-if only tells what happens; 'power' has a goal",
            ),
            (
                "What if we change X = {nodes: ?}, how would that affect Y = {power}",
                "a what-if needs a change",
            ),
            (
                "Recommend X = {nodes: ?} to achieve Y = {power: min} from row 3",
                "recommend starts from past runs, not from a baseline",
            ),
            (
                "Recommend X = {nodes: ?} to achieve Y = {power: reduce by 10%}",
                "'power' is told relative to a baseline, and recommend has none",
            ),
            (
                "Recommend X = {nodes: ?} to achieve Y = {power: same}",
                "'power' is told relative to a baseline, and recommend has none",
            ),
            (
                "Recommend X = {gpus: ?, nodes: old -> 2*old} to achieve Y = {power: min}",
                "'nodes' is told relative to a baseline, and recommend has none",
            ),
            (
                "Recommend X = {nodes: 4 -> ?} to achieve Y = {power: min}",
                "'nodes' is told relative to a baseline, and recommend has none",
            ),
            (
                "What if we change X = {partition: old -> 2*old}",
                "partition is a category, so it cannot be multiplied or added to",
            ),
        ],
    )
    def test_what_no_table_can_answer(self, text: str, message: str) -> None:
        assert refused(text).message == message

    def test_a_what_if_may_keep_outcomes_and_ask_what_compensates(self) -> None:
        query = bound("What if we change X = {nodes: 4, gpus: ?}, keep Y = {power} the same?")
        assert (query.ask, query.goals) == (("gpus",), {"power": Same()})


def test_a_query_is_bound_in_all_its_parts() -> None:
    query = recommend(
        "NODES",
        change={"Partition": SetTo(value="GPU"), "TIME_LIMIT": SetTo(value=1, unit="h")},
        goals={"RunTime": Extreme(direction="minimize"), "POWER": Within(high=1, unit="kW")},
        where=("MEM_GB <= 64000 MB", "IS_GPU: true"),
        count=4,
        seed=9,
        weights={"Nodes": 3},
    )
    assert bind_query(query, SPACE) == recommend(
        "nodes",
        change={"partition": set_to("gpu"), "time_limit": set_to(3600)},
        goals={"runtime": minimize, "power": at_most(1000)},
        where=("mem_gb <= 64", "is_gpu == true"),
        count=4,
        seed=9,
        weights={"nodes": 3},
    )


@pytest.mark.parametrize(
    "query",
    [
        reconfigure("nodes", goals={"runtime": less(0.1)}, baseline=Row(row=3)),
        what_if(change={"mem_gb": Plus(amount=1, unit="GB")}, goals={"power": Observe()}),
        reconfigure("NODES", goals={"score": same}, baseline=Given(config={"APP": "ft"})),
        what_if(change={"X+_*": times(2)}, where=("partition == gpu", "nodes < 3")),
    ],
)
def test_binding_twice_changes_nothing(query: Query) -> None:
    once = bind_query(query, SPACE)
    assert bind_query(once, SPACE) == once
    assert parse_query(format_query(once)) == once
