"""Which runs count as runs of the same thing."""

import numpy as np
import pytest

from compass.domain.space import Category, Number, Role, Space
from compass.prepare import names
from compass.prepare.report import ColumnReport
from compass.trust.pairs.comparable import Identity, comparable, disagreement, repeats


def number(name: str, role: Role = Role.KNOB, **more: object) -> Number:
    return Number(name=name, role=role, low=-1e12, high=1e12, **more)  # type: ignore[arg-type]


def category(name: str, role: Role = Role.CONTEXT) -> Category:
    return Category(name=name, role=role, values=("a", "b", "c"))


def space(*parameters: Number | Category) -> Space:
    return Space(parameters=parameters)


def table(*names_: str) -> tuple[ColumnReport, ...]:
    """Columns of a table that vary."""
    return tuple(
        ColumnReport(name=name, kind="number", role=Role.IGNORED, distinct=9, missing=0)
        for name in names_
    )


TRACE = table("nodes", "user", "run")


def test_a_trace_that_names_only_users_has_no_comparable_runs():
    known = comparable(space(number("nodes"), number("user", Role.CONTEXT)), TRACE)
    assert not known.identifiable
    assert "only user" in known.reason
    assert "say which runs are comparable" in known.reason


def test_a_user_column_that_is_ignored_still_tells_that_people_ran_these_jobs():
    assert not comparable(space(number("nodes")), table("nodes", "user_id", "run")).identifiable


@pytest.mark.parametrize("column", ["app", "executable", "input", "problem_size", "job_name", "nx"])
def test_a_program_or_an_input_makes_runs_comparable(column):
    features = space(number("nodes"), category(column), number("user", Role.CONTEXT))
    known = comparable(features, table(*features.names, "run"))
    assert known.identifiable
    assert known.columns == (column, "user")


@pytest.mark.parametrize("column", ["queue", "account", "gpu_type", "cpu_model", "kernel_version"])
def test_a_place_or_a_person_does_not(column):
    features = space(number("nodes"), category(column), number("user", Role.CONTEXT))
    assert not comparable(features, table(*features.names)).identifiable


def test_a_table_without_people_is_one_program():
    known = comparable(space(number("threads"), category("gpu")), table("threads", "gpu", "time"))
    assert known.identifiable
    assert known.columns == ("gpu",)
    alone = comparable(space(number("threads")), table("threads", "time"))
    assert alone.columns == ()
    assert "one program" in alone.reason


def test_a_table_whose_repeats_disagree_hides_what_decides():
    features = space(number("threads"))
    hidden = comparable(features, table("threads", "time"), disagreement=0.8)
    assert not hidden.identifiable
    assert "not in the data" in hidden.reason
    assert comparable(features, table("threads", "time"), disagreement=0.1).identifiable


def test_what_a_person_says_counts():
    features = space(number("nodes"), number("user", Role.CONTEXT))
    known = comparable(features, TRACE, stated=("user",), disagreement=0.9)
    assert (known.columns, known.identifiable, known.given) == (("user",), True, True)
    everything = comparable(features, TRACE, stated=())
    assert everything.columns == ()
    assert everything.identifiable


def test_scheduler_columns_make_a_trace_of_jobs_even_without_users():
    features = space(number("cpus"), category("Partition"), category("QOS"))
    known = comparable(features, table(*features.names, "State"))
    assert not known.identifiable
    assert "only Partition" in known.reason


def test_a_program_column_that_is_not_in_use_hides_what_runs():
    known = comparable(space(number("nodes")), table("nodes", "app", "run"))
    assert not known.identifiable
    assert "app tells what runs, but is not in use" in known.reason


def test_hidden_inputs_are_told_by_repeats_that_disagree_even_where_the_program_is_named():
    features = space(number("nodes"), category("app"), number("user", Role.CONTEXT))
    known = comparable(features, table(*features.names), disagreement=0.5)
    assert not known.identifiable


def told(X: np.ndarray, y: np.ndarray) -> float | None:
    return disagreement(y, *repeats(X, 0), 0)


def test_disagreement_of_exact_repeats_is_none_and_of_noise_is_all():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 40, 300).astype(float)[:, None], 4, axis=0)
    law = np.exp(X[:, 0] / 10)
    assert told(X, law) == 0
    noise = told(X, np.exp(rng.standard_normal(len(X))))
    assert noise is not None
    assert 0.8 < noise < 1.2
    little = told(X, law * np.exp(0.01 * rng.standard_normal(len(X))))
    assert little is not None
    assert little < 0.05


def test_jobs_that_are_submitted_again_at_once_do_not_hide_disagreement():
    # Ten jobs in a row are of one input, the next ten of another: neighbours agree, repeats do not.
    rng = np.random.default_rng(1)
    X = np.full((600, 1), 8.0)
    y = np.repeat(np.exp(rng.normal(0, 2, 60)), 10)
    found = told(X, y)
    assert found is not None
    assert found > 0.5


def test_disagreement_needs_repeats():
    X = np.arange(100.0)[:, None]
    assert told(X, X[:, 0] + 1) is None


def test_identity_keeps_listed_values_apart_and_joins_continuous_ones():
    features = space(number("size", Role.CONTEXT), number("load", Role.CONTEXT))
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice([64.0, 65.0], 500), np.exp(rng.normal(0, 3, 500))])
    sizes = Identity.learn(X, features, ("size",))
    assert len(np.unique(sizes.of(X))) == 2
    loads = Identity.learn(X, features, ("load",))
    point = np.array([[64.0, 100.0], [64.0, 100.1], [64.0, 130.0]])
    one, near, far = loads.of(point)
    assert one == near
    assert one != far


def test_identity_tells_none_from_numbers():
    load = number("load", Role.CONTEXT, optional=True)
    X = np.array([[v] for v in np.linspace(1, 50, 60)] + [[load.none_code]])
    found = Identity.learn(X, space(load), ("load",)).of(X)
    assert (found[:-1] != found[-1]).all()


def test_no_columns_make_all_runs_the_same():
    X = np.arange(6.0).reshape(3, 2)
    found = Identity.learn(X, space(number("a"), number("b")), ()).of(X)
    assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("name", ["UserId", "group", "Partition", "Submit", "account_name"])
def test_words_of_job_traces(name):
    assert names.names_jobs(name)


@pytest.mark.parametrize("name", ["ngroups", "group_x", "thread_group", "work_group_size", "nodes"])
def test_words_that_are_no_sign_of_a_trace(name):
    assert not names.names_jobs(name)


@pytest.mark.parametrize("name", ["problem_size", "app", "JobName", "input", "nx", "size_kib"])
def test_words_of_work(name):
    assert names.names_work(name)


@pytest.mark.parametrize("name", ["user", "gpu_model", "kernel_version", "block_size", "network"])
def test_words_that_do_not_tell_what_runs(name):
    assert not names.names_work(name)
