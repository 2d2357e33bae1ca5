"""Messages that are written in the query language."""

import re

from compass.chat.draft import Draft, Options
from compass.domain.space import Space
from compass.language import bind_query, parse_query

# `X = {`, or braces right behind the words that open a query. Braces alone are not enough: they
# can stand in the name of a column (`power {W}`).
_FORMAL = re.compile(
    r" ?(?:(?:recommend|reconfigure|what[ -]+if)\b[^{}]{0,80}(?:(?<=\w)|(?<=\w ))=|"
    r"recommend(?: (?:a|the))?(?: config(?:uration)?)?(?: where)?|reconfigure|"
    r"what[ -]+if(?: (?:we|i|you))?(?: (?:just )?(?:change|set))?) ?\{",
    re.IGNORECASE,
)


def is_formal(text: str) -> bool:
    """Whether a message is written in the query language."""
    return bool(_FORMAL.match(re.sub(r"\s+", " ", text)))


def formal_draft(text: str, space: Space) -> Draft | None:
    """The draft of a message in the query language; None when it is in plain words."""
    if not is_formal(text):
        return None
    query = bind_query(parse_query(text), space)
    return Draft(
        kind=query.kind,
        ask=query.ask,
        change=query.change,
        stated=query.stated,
        goals=query.goals,
        where=tuple(rule.text for rule in query.where),
        baseline=query.baseline,
        count=query.count,
        options=Options(
            seed=query.seed,
            weights=query.weights,
            diversity=query.diversity,
            prove=query.prove,
            level=query.level,
        ),
    )
