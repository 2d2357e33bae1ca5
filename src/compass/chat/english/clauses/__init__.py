"""The actions of the grammar: facts from what a production matched, or None where it makes none.

Each module has the actions of one sort of clause; a class builds on the one before it, as clauses
that change something are made of those that give values, and these of columns and quantities.
"""

from compass.chat.english.clauses.columns import Direction
from compass.chat.english.clauses.relations import Relations as Clauses

__all__ = ["Clauses", "Direction"]
