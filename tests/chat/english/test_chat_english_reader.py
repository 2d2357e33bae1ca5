"""Plain sentences into readings: what is said, on tables whose columns have other names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.chat import english
from compass.chat.draft import CHARACTERS, Act, Draft, How, Reading, Slot
from compass.chat.english.lexicon import PHRASES
from compass.domain.errors import BadInput
from compass.domain.goal import (
    Change,
    IsClass,
    Observe,
    Same,
    at_least,
    at_most,
    less,
    maximize,
    minimize,
    within,
)
from compass.domain.query import Given, Kind, Plus, Row, SetTo, Times
from compass.domain.space import Category, Number, Role, Space
from compass.language import bind_rule, format_rule, parse_rule
from property_examples import examples

FIGURE_5 = Space(
    parameters=(
        Number(name="num_threads", low=1, high=64, step=1),
        Category(name="thread_affinity", values=("compact", "scatter")),
        Number(name="nodes", low=1, high=128, step=1),
        Number(name="runtime", low=1, high=1000, unit="s", role=Role.OUTCOME),
    )
)
CLUSTER = Space(
    parameters=(
        Category(name="app", values=("CoMD", "amg"), role=Role.CONTEXT),
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="gpus", low=0, high=256, step=1),
        Number(name="omp_threads", low=1, high=64, step=1),
        Number(name="cores", low=1, high=128, step=1, role=Role.CONTEXT),
        Category(name="partition", values=("debug", "gpu", "batch")),
        Category(name="precision", values=("double", "single")),
        Category(name="turbo", values=(False, True)),
        Number(name="time_limit_min", low=5, high=2880, step=5, unit="min"),
        Number(name="power_cap", low=50, high=400, unit="W", optional=True),
        Number(name="elapsed_s", low=1, high=90000, unit="s", role=Role.OUTCOME),
        Number(name="node_power_w", low=90, high=3000, unit="W", role=Role.OUTCOME),
        Number(name="mem_power_w", low=9, high=300, unit="W", role=Role.OUTCOME),
        Number(name="accuracy", low=0, high=1, role=Role.OUTCOME),
        Category(name="job_state", values=("COMPLETED", "FAILED"), role=Role.OUTCOME),
    )
)
RATES = Space(
    parameters=(
        Number(name="tile", low=1, high=64, step=1),
        Number(name="gflops", low=0.1, high=90, role=Role.OUTCOME),
    )
)
ODD = Space(
    parameters=(
        Number(name="a", low=0, high=1),
        Number(name="and", low=1, high=2),
        Number(name="`", low=1, high=2),
        Number(name="123", low=0, high=5, role=Role.OUTCOME),
        Number(name="Time[s]", low=0, high=5, unit="s", role=Role.OUTCOME),
        Category(name="数", values=(1, 2, "x", True, None)),
        Category(name="to", values=()),
        Category(name="mode", values=("on", "off", "low", "no")),
    )
)
SPACES = (FIGURE_5, CLUSTER, RATES, ODD, Space(parameters=()))


def parts_of(text: str, space: Space = CLUSTER) -> Draft:
    return english.read(text, space).parts


def rules(*texts: str, space: Space = CLUSTER) -> set[str]:
    return {format_rule(bind_rule(parse_rule(text), space)) for text in texts}


def test_the_messages_of_figure_5() -> None:
    first = english.read("Recommend a configuration for my simulation.", FIGURE_5)
    assert first.parts == Draft(kind=Kind.RECOMMEND)
    goal = english.read("Minimize runtime.", FIGURE_5, expecting=Slot.GOAL)
    assert goal.parts == Draft(goals={"runtime": minimize})
    text = "Number of threads and thread binding algorithm."
    asked = english.read(text, FIGURE_5, expecting=Slot.PARAMETERS)
    assert asked.parts == Draft(ask=("num_threads", "thread_affinity"))
    assert {link.columns for link in asked.links} == {("num_threads",), ("thread_affinity",)}
    assert english.read("yes", FIGURE_5, expecting=Slot.COLUMNS) == Reading(act=Act.YES)
    text = "The system has less than 16 nodes. So keep it under that value."
    limited = english.read(text, FIGURE_5, expecting=Slot.CONSTRAINTS)
    assert limited.parts == Draft(where=("nodes < 16",))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Suggest a setup", Kind.RECOMMEND),
        ("what should I use for amg?", Kind.RECOMMEND),
        ("find the best number of nodes", Kind.RECOMMEND),
        ("reconfigure my job", Kind.RECONFIGURE),
        ("what is the smallest change that makes row 3 faster?", Kind.RECONFIGURE),
        ("how do I get 10 % less power?", Kind.RECONFIGURE),
        ("make run 4 20 % faster", Kind.RECONFIGURE),
        ("what if I double the nodes", Kind.WHAT_IF),
        ("what happens to power if I use 8 nodes?", Kind.WHAT_IF),
        ("how would twice the threads affect the power?", Kind.WHAT_IF),
        ("if I halve the gpus, will it be slower?", Kind.WHAT_IF),
        ("nodes under 8", None),
    ],
)
def test_the_kind_of_question(text: str, kind: Kind | None) -> None:
    assert parts_of(text).kind is kind


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ("as fast as possible", {"elapsed_s": minimize}),
        (
            "lowest node power and the fastest run",
            {"node_power_w": minimize, "elapsed_s": minimize},
        ),
        ("highest accuracy", {"accuracy": maximize}),
        ("the best accuracy", {"accuracy": maximize}),
        ("runtime under 2 hours", {"elapsed_s": at_most(7200)}),
        ("it must finish within half an hour", {"elapsed_s": at_most(1800)}),
        ("accuracy above 90 %", {"accuracy": at_least(0.9)}),
        ("node power between 0.2 and 0.35 kW", {"node_power_w": within(200, 350)}),
        ("under 300 W node power", {"node_power_w": at_most(300)}),
        ("reduce the run time by a fifth", {"elapsed_s": less(0.2)}),
        ("make it twice as fast", {"elapsed_s": less(0.5)}),
        ("half the runtime", {"elapsed_s": less(0.5)}),
        (
            "cut node power by 40 W",
            {"node_power_w": Change(direction="reduce", by=40, relative=False)},
        ),
        ("keep the memory power the same", {"mem_power_w": Same()}),
        ("memory power within 3 % of row 5", {"mem_power_w": Same(tolerance=0.03)}),
        ("so that it completes", {"job_state": IsClass(value="COMPLETED")}),
        ("job state completed", {"job_state": IsClass(value="COMPLETED")}),
    ],
)
def test_goals(text: str, goals: dict[str, object]) -> None:
    assert parts_of(text).goals == goals


def test_without_a_time_the_fastest_has_the_highest_rate() -> None:
    assert parts_of("the fastest, please", RATES).goals == {"gflops": maximize}
    assert parts_of("run 3 should be 25 % faster", RATES).goals == {
        "gflops": Change(direction="increase", by=0.25)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no more than 16 nodes", ["nodes <= 16"]),
        ("16 nodes at most", ["nodes <= 16"]),
        ("8 gpus or more", ["gpus >= 8"]),
        ("between 4 and 8 nodes", ["nodes >= 4", "nodes <= 8"]),
        ("4-8 nodes", ["nodes >= 4", "nodes <= 8"]),
        ("nodes min 2 max 10", ["nodes >= 2", "nodes <= 10"]),
        ("exactly eight nodes", ["nodes == 8"]),
        ("4, 8 or 16 threads", ["omp_threads in {4, 8, 16}"]),
        ("not 12 nodes", ["nodes != 12"]),
        ("without gpus", ["gpus == 0"]),
        ("on the gpu partition with comd", ["partition == 'gpu'", "app == 'CoMD'"]),
        ("any partition but debug", ["partition != 'debug'"]),
        ("neither debug nor batch", ["not partition in {'debug', 'batch'}"]),
        ("debug is forbidden", ["partition != 'debug'"]),
        ("4 gpus per node", ["gpus <= 4 * nodes"]),
        ("no more threads than cores", ["omp_threads <= cores"]),
        ("threads never above half of the cores", ["omp_threads <= 0.5 * cores"]),
        ("nodes times threads at most 512", ["nodes * omp_threads <= 512"]),
        ("threads must be a multiple of 4", ["omp_threads % 4 == 0"]),
        ("time limit at most 2 hours", ["time_limit_min <= 120"]),
        ("turbo off and no power cap", ["turbo == false", "power_cap == none"]),
        ("the job must not fail", ["job_state != 'FAILED'"]),
        ("in double", ["precision == 'double'"]),
        ("time limit larger than the run time", ["time_limit_min > elapsed_s / 60"]),
        ("threads: a power of two", ["log2(omp_threads) == floor(log2(omp_threads))"]),
        ("less than or equal to 8 nodes and greater than 2", ["nodes <= 8", "nodes > 2"]),
        ("at least 16 threads per gpu", ["omp_threads >= 16 * gpus"]),
    ],
)
def test_rules(text: str, expected: list[str]) -> None:
    assert set(parts_of(text).where) == rules(*expected)


@pytest.mark.parametrize(
    ("text", "change", "stated"),
    [
        ("double the nodes", {"nodes": Times(factor=2)}, {}),
        ("half as many gpus", {"gpus": Times(factor=0.5)}, {}),
        ("three times the threads", {"omp_threads": Times(factor=3)}, {}),
        ("add 2 nodes", {"nodes": Plus(amount=2)}, {}),
        ("use 4 fewer gpus", {"gpus": Plus(amount=-4)}, {}),
        ("raise the threads by 50 %", {"omp_threads": Times(factor=1.5)}, {}),
        ("go from 4 to 8 nodes", {"nodes": SetTo(value=8)}, {"nodes": 4}),
        ("run on 8 nodes instead of 4", {"nodes": SetTo(value=8)}, {"nodes": 4}),
        (
            "use single rather than double precision",
            {"precision": SetTo(value="single")},
            {"precision": "double"},
        ),
        ("set the time limit to 3 h", {"time_limit_min": SetTo(value=180)}, {}),
        ("switch turbo on", {"turbo": SetTo(value=True)}, {}),
        ("increase the threads tenfold", {"omp_threads": Times(factor=10)}, {}),
    ],
)
def test_edits(text: str, change: dict[str, object], stated: dict[str, object]) -> None:
    draft = parts_of(f"What if I {text}?")
    assert draft.kind is Kind.WHAT_IF
    assert draft.change == change
    assert draft.stated == stated
    assert draft.where == ()


def test_a_what_if_watches_the_outcomes_that_it_names() -> None:
    draft = parts_of(
        "How would doubling the gpus on the debug partition affect run time and node power?"
    )
    assert draft.change == {"gpus": Times(factor=2)}
    assert draft.goals == {"elapsed_s": Observe(), "node_power_w": Observe()}
    assert draft.where == ("partition == 'debug'",)


def test_parameters_to_find_and_to_keep() -> None:
    draft = parts_of(
        "Which partition and how many nodes are fastest for amg? Don't touch the gpus."
    )
    assert (draft.ask, draft.keep) == (("partition", "nodes"), ("gpus",))
    assert draft.where == ("app == 'amg'",)
    draft = parts_of("You may change everything except the partition")
    assert (draft.everything, draft.keep) == (True, ("partition",))
    assert parts_of("same number of nodes").keep == ("nodes",)


def test_baselines_and_counts() -> None:
    assert parts_of("from row 100, 10 % less node power").baseline == Row(row=100)
    assert parts_of("make my job 12 faster").baseline == Row(row=12)
    draft = parts_of("I currently use 8 nodes and 4 gpus. How can I save 5 % of the node power?")
    assert draft.baseline == Given(config={"nodes": 8, "gpus": 4})
    assert parts_of("give me three options").count == 3
    assert parts_of("the top 5 please").count == 5
    assert parts_of("the 4 fastest configurations").count == 4
    assert parts_of("run 8 nodes").baseline is None


def test_an_outcome_without_a_direction_is_told() -> None:
    reading = english.read("runtime", CLUSTER, expecting=Slot.GOAL)
    assert reading.outcome_without_goal == ("elapsed_s",)
    assert (
        english.read("the lower the better", CLUSTER, expecting=Slot.GOAL).direction == "minimize"
    )


def test_links_tell_how_words_were_taken() -> None:
    reading = english.read("minimise the powr, nodes under 8, threds at most 4", CLUSTER)
    links = {link.words: link for link in reading.links}
    assert links["powr"].columns == ("node_power_w", "mem_power_w")
    assert links["powr"].how is How.FUZZY
    assert links["threds"].columns == ("omp_threads",)
    assert "nodes" not in links
    assert reading.parts.goals == {"node_power_w": minimize}
    assert english.read("under 3 h", CLUSTER).links[0].columns == ("elapsed_s",)


def test_what_is_not_known_is_told() -> None:
    assert english.read("at least 16 widgets", CLUSTER).unknown == ("at least 16 widgets",)
    assert english.read("use 16 widgets", CLUSTER).unknown == ("16 widgets",)
    assert english.read("at most 5 kWh", CLUSTER).unknown == ("at most 5 kWh",)


@pytest.mark.parametrize(
    ("text", "expecting", "draft"),
    [
        ("threads, partition", Slot.PARAMETERS, Draft(ask=("omp_threads", "partition"))),
        ("all of them", Slot.PARAMETERS, Draft(everything=True)),
        ("16 nodes at most", Slot.CONSTRAINTS, Draft(where=("nodes <= 16",))),
        ("100", Slot.BASELINE, Draft(baseline=Row(row=100))),
        (
            "8 nodes, debug",
            Slot.BASELINE,
            Draft(baseline=Given(config={"nodes": 8, "partition": "debug"})),
        ),
    ],
)
def test_what_was_asked_helps(text: str, expecting: Slot, draft: Draft) -> None:
    assert english.read(text, CLUSTER, expecting=expecting).parts == draft


def test_corrections() -> None:
    before = Draft(kind=Kind.RECOMMEND, goals={"elapsed_s": minimize}, where=("nodes < 16",))

    def read(text: str) -> Reading:
        return english.read(text, CLUSTER, expecting=Slot.CONFIRM, before=before)

    no = read("no, under 8 nodes")
    assert (no.act, no.correction, no.parts.where) == (Act.NO, True, ("nodes < 8",))
    assert read("no, under 8").parts.where == ("nodes < 8",)
    made = read("actually make it 32")
    assert (made.act, made.correction, made.parts.where) == (Act.INFORM, True, ("nodes < 32",))
    meant = read("I meant gpus, not nodes")
    assert (meant.dropped, meant.parts.where) == (("nodes",), ("gpus < 16",))
    forgot = read("forget the limit on nodes")
    assert (forgot.dropped, forgot.correction) == (("nodes",), True)
    other = read("sorry, I meant node power")
    assert (other.dropped, other.parts.goals) == (("elapsed_s",), {"node_power_w": minimize})
    assert read("what if I double the threads?").parts.kind is Kind.WHAT_IF
    assert read("from row 5").parts.kind is None


def test_long_and_broken_messages_are_refused() -> None:
    english.read("nodes " * (CHARACTERS // 6), CLUSTER)
    with pytest.raises(BadInput, match="2,001 characters"):
        english.read("x" * 2001, CLUSTER)
    with pytest.raises(BadInput, match="broken"):
        english.read("nodes \ud800", CLUSTER)


def _check(text: str, space: Space, expecting: Slot | None) -> None:
    """A reading whose names are columns and whose rules bind, or BadInput; never anything else."""
    try:
        reading = english.read(text, space, expecting=expecting)
    except BadInput:
        return
    assert reading == english.read(text, space, expecting=expecting)
    draft = reading.parts
    for rule in draft.where:
        bind_rule(parse_rule(rule), space)
    named = {*draft.ask, *draft.keep, *draft.change, *draft.goals, *draft.stated, *reading.dropped}
    assert named <= set(space.names)
    assert Reading.model_validate_json(reading.model_dump_json()).act is reading.act


EXPECTING = st.sampled_from([None, *Slot])


@examples(150)
@given(st.text(max_size=120), st.sampled_from(SPACES), EXPECTING)
def test_any_text_has_a_reading(text: str, space: Space, expecting: Slot | None) -> None:
    _check(text, space, expecting)


FRAGMENTS = st.sampled_from(
    [
        *sorted({" ".join(phrase) for phrase in PHRASES}),
        *(name for space in SPACES for name in space.names for _ in range(6)),
        *("4", "8", "16", "0", "-3", "1e308", "1e999", "10%", "2x", "300W", "2 h", "half", "twice"),
        *("a", "compact", "gpu", "CoMD", "on", "off", "x"),
        *("3/4", "half an hour", "1,000", "1h30", "five", "a dozen", "{", "`", "\x00", "½"),
    ]
)


@examples(150)
@given(st.lists(FRAGMENTS, min_size=1, max_size=14), st.sampled_from(SPACES), EXPECTING)
def test_any_order_of_fragments_has_a_reading(
    fragments: list[str], space: Space, expecting: Slot | None
) -> None:
    _check(" ".join(fragments), space, expecting)
