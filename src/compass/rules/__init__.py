"""What rules say about configurations: whether they hold, what they leave, and which data obey."""

from compass.domain.mined import Mined
from compass.rules.conflict import conflict, explain_conflict
from compass.rules.domains import Domain, domains_of
from compass.rules.enumerate import components, legal_tuples
from compass.rules.evaluate import Rule, compile_rule
from compass.rules.linear import LinearForm, linear_form
from compass.rules.mine import mine
from compass.rules.propagate import propagate

__all__ = [
    "Domain",
    "LinearForm",
    "Mined",
    "Rule",
    "compile_rule",
    "components",
    "conflict",
    "domains_of",
    "explain_conflict",
    "legal_tuples",
    "linear_form",
    "mine",
    "propagate",
]
