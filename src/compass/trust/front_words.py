"""What is said of a front: its knees, its volume and spread, what is proved."""

from collections.abc import Mapping

from compass.domain.front import Front, FrontPoint, ReferenceFrom, TradeOff
from compass.domain.quantity import number, quantity
from compass.language import listed

Units = Mapping[str, str]

_FEATURES = 5  # that a model attends to most
_NOTHING = 0.0005  # a change below this share reads as none


def _in_words(changes: Mapping[str, float]) -> str:
    """`runtime 2 % more, power 30 % less`; empty where nothing changes."""
    parts = [
        f"{name} {_percent(abs(share))} {'more' if share > 0 else 'less'}"
        for name, share in changes.items()
        if abs(share) >= _NOTHING
    ]
    return ", ".join(parts)


def trade_in_words(trade: TradeOff) -> str:
    """`runtime 2 % more, power 30 % less than at the best runtime`; empty at that point itself."""
    told = _in_words(trade.changes)
    return f"{told} than at the best {trade.best}" if told else ""


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.2g} %"


def point_name(point: FrontPoint) -> str:
    """The number that a point has in the tables of suggestions and ideas, and in plots."""
    return f"{'i' if point.idea else ''}{point.place + 1}"


def point_in_words(point: FrontPoint) -> str:
    """A point as a clause: beside the best of the first outcome, a knee beside all ends.

    From a baseline: beside that.
    """
    if point.change:
        told = _in_words(point.change)
        return f"{told} than now" if told else "as it is now"
    said = [words for words in map(trade_in_words, point.against) if words]
    if not said:
        return "best in everything"
    at_end = next((t.best for t in point.against if not trade_in_words(t)), None)
    if at_end is not None:
        return f"best {at_end}"
    return "; ".join(said if point.knee else said[:1])


def front_in_words(front: Front, units: Units) -> tuple[str, ...]:
    """What is known of a front as a whole, as sentences."""
    told = [point for point in front.points if not point.idea]
    lines = [_count(front, told), _volume(front, units)]
    if len(told) > 2:
        covered = ", ".join(f"{name} {share:.0%}" for name, share in front.extent.items())
        lines.append(
            f"Spread {front.spread:.2g} (how uneven the gaps are; smaller is not better by "
            f"itself), covering of the way from best to reference: {covered}."
        )
    if any(point.alike for point in told):
        lines.append("Points that are marked as like others are not told apart by their intervals.")
    lines += [_attended(name, shares) for name, shares in front.attention.items()]
    if front.proof is not None:
        lines.append(front.proof.reason)
    return tuple(lines)


def _attended(name: str, shares: Mapping[str, float]) -> str:
    """What a model with an attention embedding looks at."""
    first = sorted(shares.items(), key=lambda pair: -pair[1])[:_FEATURES]
    told = ", ".join(f"{feature} {share:.0%}" for feature, share in first)
    return f"The model of {name} attends to {told}."


def _count(front: Front, told: list[FrontPoint]) -> str:
    aims = [f"{'small' if d == 'minimize' else 'large'} {n}" for n, d in front.directions.items()]
    head = f"{len(told)} trade-off{'' if len(told) == 1 else 's'} between {listed(aims)}"
    if front.found > len(told):
        head += f", of {front.found} that were found"
    measured = sum(point.measured > 0 for point in told)
    knees = [str(point.place + 1) for point in front.points if point.knee]
    turns = f" Knee: {listed(knees)}." if knees else ""
    tried = "" if front.hypervolume_measured is None else f"; {measured} of them measured"
    return f"{head}{tried}.{turns}"


def _volume(front: Front, units: Units) -> str:
    point = ", ".join(f"{n} {quantity(v, units.get(n))}" for n, v in front.reference.items())
    error = f" ± {number(front.hypervolume_error)}" if front.hypervolume_error else ""
    beside = ""
    if front.hypervolume_measured is not None:
        beside = f"; of the measured runs {number(front.hypervolume_measured)}"
    whence = listed(list(dict.fromkeys(_WHENCE[one] for one in front.reference_from.values())))
    return (
        f"Hypervolume {number(front.hypervolume)}{error}{beside}, up to the reference {point} "
        f"({whence})."
    )


_WHENCE = {
    ReferenceFrom.GIVEN: "as given",
    ReferenceFrom.MEASURED: "a tenth behind what was measured",
    ReferenceFrom.BASELINE: "a tenth behind the run that is asked about",
    ReferenceFrom.PREDICTED: "a tenth behind what past settings are predicted to reach",
}
