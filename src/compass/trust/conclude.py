"""From the doubts about a prediction to its label and its reason."""

from collections.abc import Iterable

from compass.domain.answer import Comparable, Label, Trust
from compass.domain.doubt import Doubt, DoubtCode
from compass.trust.words import in_words

_DECISIVE = frozenset({DoubtCode.UNSEEN_VALUE, DoubtCode.OUTSIDE_PAST_RUNS})
_MAY_NOT_RUN = frozenset({DoubtCode.NEVER_TOGETHER, DoubtCode.SIMILAR_FAILED})
_REMOTE = frozenset({DoubtCode.FAR_FROM_PAST_RUNS, DoubtCode.NO_RUN_NEAR})


def label_of(doubts: Iterable[Doubt]) -> Label:
    """The label of a prediction with these doubts; a further doubt never makes it better.

    Without any it is trusted (Algorithm 1, step 3). A large expected error where hardly any past
    run is near makes it unsupported, and so does a configuration that likely cannot be run.
    """
    doubts = tuple(doubts)
    codes = {doubt.code for doubt in doubts}
    if not codes:
        return Label.TRUSTED
    if codes & _DECISIVE or (DoubtCode.LARGE_ERROR in codes and codes & _REMOTE):
        return Label.UNSUPPORTED
    if any(d.code in _MAY_NOT_RUN and _beyond(d) for d in doubts):
        return Label.UNSUPPORTED
    return Label.CAUTION


def _beyond(doubt: Doubt) -> bool:
    """Whether what was found is beyond its limit; without a limit it is a doubt and no more."""
    return doubt.value is not None and doubt.limit is not None and doubt.value > doubt.limit


def concluded(trust: Trust, more: Iterable[Doubt], comparable: Comparable) -> Trust:
    """Trust with further doubts, its label and its reason."""
    doubts = (*trust.doubts, *more)
    whole = trust.model_copy(update={"doubts": doubts, "label": label_of(doubts)})
    return whole.model_copy(update={"reason": in_words(whole, comparable)})
