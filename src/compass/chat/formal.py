"""A message in the query language is taken as it stands."""

from compass.chat.draft import Act, Draft, Reading
from compass.domain.space import Space
from compass.language import bind_query, parse_query


def read_formal(text: str, space: Space) -> Reading:
    """The draft of a finished query; what it cannot mean raises, pointing at the place."""
    query = bind_query(parse_query(text), space)
    return Reading(
        act=Act.SAY,
        said=Draft(
            kind=query.kind,
            ask=query.ask,
            change=query.change,
            stated=query.stated,
            goals=query.goals,
            where=tuple(rule.text for rule in query.where),
            baseline=query.baseline,
            count=query.count,
        ),
    )
