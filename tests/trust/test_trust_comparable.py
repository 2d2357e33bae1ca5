"""Which runs count as runs of the same thing."""

import numpy as np
import pytest

from compass.domain.space import Category, Number, Role, Space
from compass.prepare import names
from compass.trust.comparable import Identity, comparable, disagreement


def number(name: str, role: Role = Role.KNOB, **more: object) -> Number:
    return Number(name=name, role=role, low=-1e12, high=1e12, **more)  # type: ignore[arg-type]


def category(name: str, role: Role = Role.CONTEXT) -> Category:
    return Category(name=name, role=role, values=("a", "b", "c"))


def space(*parameters: Number | Category) -> Space:
    return Space(parameters=parameters)


TRACE = ("nodes", "user", "run")


def test_a_trace_that_names_only_users_has_no_comparable_runs():
    known = comparable(space(number("nodes"), number("user", Role.CONTEXT)), TRACE)
    assert not known.identifiable
    assert "only user" in known.reason
    assert "--comparable" in known.reason


def test_a_user_column_that_is_ignored_still_tells_that_people_ran_these_jobs():
    assert not comparable(space(number("nodes")), ("nodes", "user_id", "run")).identifiable


@pytest.mark.parametrize("column", ["app", "executable", "input", "problem_size", "job_name", "nx"])
def test_a_program_or_an_input_makes_runs_comparable(column):
    features = space(number("nodes"), category(column), number("user", Role.CONTEXT))
    known = comparable(features, (*features.names, "run"))
    assert known.identifiable
    assert known.columns == (column, "user")


@pytest.mark.parametrize("column", ["queue", "partition", "account", "priority", "gpu_type"])
def test_a_place_or_a_person_does_not(column):
    features = space(number("nodes"), category(column), number("user", Role.CONTEXT))
    assert not comparable(features, features.names).identifiable


def test_a_table_without_people_is_one_program():
    known = comparable(space(number("threads"), category("gpu")), ("threads", "gpu", "time"))
    assert known.identifiable
    assert known.columns == ("gpu",)
    alone = comparable(space(number("threads")), ("threads", "time"))
    assert alone.columns == ()
    assert "one program" in alone.reason


def test_a_table_whose_repeats_disagree_hides_what_decides():
    features = space(number("threads"))
    hidden = comparable(features, ("threads", "time"), disagreement=0.8)
    assert not hidden.identifiable
    assert "not in the data" in hidden.reason
    assert comparable(features, ("threads", "time"), disagreement=0.1).identifiable


def test_what_a_person_says_counts():
    features = space(number("nodes"), number("user", Role.CONTEXT))
    known = comparable(features, TRACE, said=("user",), disagreement=0.9)
    assert (known.columns, known.identifiable, known.given) == (("user",), True, True)
    everything = comparable(features, TRACE, said=())
    assert everything.columns == ()
    assert everything.identifiable


def test_disagreement_of_exact_repeats_is_none_and_of_noise_is_all():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 40, 300).astype(float)[:, None], 4, axis=0)
    law = np.exp(X[:, 0] / 10)
    assert disagreement(X, law, 0) == 0
    noise = np.exp(rng.standard_normal(len(X)))
    found = disagreement(X, noise, 0)
    assert found is not None
    assert 0.8 < found < 1.2
    assert disagreement(X, law * np.exp(0.01 * rng.standard_normal(len(X))), 0) < 0.05  # type: ignore[operator]


def test_disagreement_needs_repeats():
    X = np.arange(100.0)[:, None]
    assert disagreement(X, X[:, 0] + 1, 0) is None


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


def test_words_about_people_and_work():
    assert names.names_person("UserId")
    assert not names.names_person("ngroups")
    assert names.names_work("problem_size")
    assert not names.names_work("user")
