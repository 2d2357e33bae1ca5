"""Clauses that say what outcomes should become: fastest, no worse, the same."""

from typing import Literal as OneOf

from compass.chat.draft import How, Link
from compass.chat.english import synonyms
from compass.chat.english.clauses.changes import Changes
from compass.chat.english.clauses.columns import PARAMETERS, Direction
from compass.chat.english.facts import (
    About,
    Ask,
    Fact,
    Facts,
    Keep,
    Named,
    Wanted,
    Watch,
)
from compass.chat.english.grammar import Node
from compass.chat.english.lexicon import Phrase
from compass.chat.english.words import QuantityForm
from compass.domain.goal import Change, Extreme, Same
from compass.domain.space import Role

_CONCEPTS = {
    "fast": (synonyms.TIME, synonyms.PERFORMANCE),
    "slow": (synonyms.TIME, synonyms.PERFORMANCE),
    "cheap": (synonyms.COST, synonyms.ENERGY),
    "green": (synonyms.ENERGY, synonyms.POWER),
    "strong": (synonyms.PERFORMANCE, synonyms.TIME),
    "accurate": (synonyms.ACCURACY,),
    "wait": (synonyms.WAITING,),
}


_SURE = 0.2  # cost below which words are a column


class Goals(Changes):
    """Clauses that say what outcomes should become: fastest, no worse, the same."""

    def _about(self, node: Node) -> tuple[str, tuple[Link, ...]] | None:
        """The outcome that an adjective speaks of: fastest is about the run time."""
        phrase = next(node.find("BEST", "FASTER", "EQUALLY", "NOSLOWER"))
        part = phrase.span.value if phrase.span is not None else None
        assert isinstance(part, Phrase)
        for concept in _CONCEPTS[part.concept]:
            names = self.index.about(concept)
            if names:
                words = self.spans.words(phrase.start, phrase.end)
                link = Link(words=words, columns=names[:6], how=How.SYNONYM)
                return names[0], (link,)
        return None

    def complained(self, node: Node) -> Facts | None:
        """The memory is tight: it is spoken of; what is wanted of it is for the rest to tell."""
        found = self._column(next(node.find("COL")), Role.OUTCOME, only=True)
        if found is None or not self._outcome(found[0]) or not self._number(found[0]):
            return None
        return Facts((About(found[0]),), found[1])

    def extreme(self, node: Node) -> Facts | None:
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        if node.parts[-1].name in ("MIN", "MAX") and any(span.tag == "NUM" for span in behind):
            return None  # at most 7
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None:
            return None
        way: Direction = "minimize" if node.has("MIN") else "maximize"
        facts: list[Fact] = []
        for name in found[0]:
            if not (self._outcome(name) and self._number(name)):
                return None
            facts.append(Wanted(name, Extreme(direction=way)))
        return Facts(tuple(facts), found[1])

    def optimised(self, node: Node) -> Facts | None:
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        said = [one.phrase.words for one in node.find("OPT")]
        weak = not any(word.startswith(("best", "opt", "prior", "most")) for word in said)
        goals = (Wanted(n, Extreme(direction=self.better(n)), weak=weak) for n in found[0])
        return Facts(tuple(goals), found[1])

    def better_for(self, node: Node) -> Facts | None:
        """Whichever is quicker for p50."""
        return self.optimised(node)

    def best(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        part = next(node.find("BEST")).phrase
        way = self.better(about[0])
        if part.concept == "slow":
            way = "maximize" if way == "minimize" else "minimize"
        return Facts((Wanted(about[0], Extreme(direction=way)),), about[1])

    def best_with(self, node: Node) -> Facts | None:
        """The fastest nodes and tile: what is asked for."""
        best, found = self.best(node), self._columns(node, *PARAMETERS)
        if best is None or found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        if outcomes and not any(map(self._number, outcomes)):
            return Facts((*best.all, Named(found[0])), (*best.links, *found[1]))
        if outcomes and not self._concerns(node, outcomes):
            return best  # the cheapest frame
        if outcomes:
            if len(outcomes) != len(found[0]) or not all(map(self._number, outcomes)):
                return None
            goals = (Wanted(n, Extreme(direction=self.better(n))) for n in outcomes)
            return Facts(tuple(goals), found[1])
        return Facts((*best.all, Ask(found[0])), (*best.links, *found[1]))

    def _concerns(self, node: Node, names: list[str]) -> bool:
        """Whether an adjective is about the nouns behind it: fastest start."""
        concept = next(node.find("BEST")).phrase.concept
        if concept in ("fast", "slow", "wait"):
            return True
        stems = frozenset().union(*_CONCEPTS[concept])
        return any(self.index.stems[name] & stems for name in names)

    def faster(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        name, links = about
        amount = self._amounts(node)[0]
        part = next(node.find("FASTER")).phrase
        if node.has("COL"):
            subject = self._columns(node, Role.OUTCOME, only=True)
            if subject is None:
                return None
            of = self.index.stems[subject[0][0]]
            concepts = frozenset().union(*_CONCEPTS[part.concept])
            timed = part.concept in ("fast", "slow") and self._outcome(subject[0][0])
            if of & concepts or timed:
                name, links = subject[0][0], subject[1]  # the preprocessing 4 times faster
            elif not self._outcome(subject[0][0]):
                return None
        good = part.concept != "slow"
        less = (self.better(name) == "minimize") == good
        if amount.form is QuantityForm.FACTOR:
            factor = 1 / amount.value if less else amount.value
            by = float(f"{abs(factor - 1):.12g}")
            if by == 0:
                return None
            way: OneOf["reduce", "increase"] = "reduce" if factor < 1 else "increase"
            return Facts((Wanted(name, Change(direction=way, by=by)),), links)
        fact = self._by(name, amount, down=less)
        return None if fact is None else Facts((fact,), links)

    def faster_only(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        part = next(node.find("FASTER")).phrase
        if part.concept == "slow" or part.words.startswith("how "):
            return Facts((Watch((about[0],)),), about[1])
        goal = Extreme(direction=self.better(about[0]))
        return Facts((Wanted(about[0], goal, weak=True),), about[1])

    def same(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        others = tuple(name for name in found[0] if not self._outcome(name))
        facts: list[Fact] = [Wanted(name, Same()) for name in outcomes if self._number(name)]
        if others:
            facts.append(Keep(others))
        return Facts(tuple(facts), found[1]) if facts else None

    def same_or_better(self, node: Node) -> Facts | None:
        """At least the same accuracy, the same cost or less."""
        found = self._columns(node, Role.OUTCOME, only=True)
        if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        facts: list[Fact] = []
        for name in found[0]:
            limits = [*node.find("limit")]
            up = limits[0].value[0] == ">" if limits else node.has("ORMORE")
            if node.has("ORBETTER"):
                up = self.better(name) == "maximize"
            facts.append(Wanted(name, Same(beyond="more" if up else "less")))
        return Facts(tuple(facts), found[1])

    def no_worse_both(self, node: Node) -> Facts | None:
        """Do not increase the cost or reduce the accuracy."""
        facts: list[Fact] = []
        links: list[Link] = []
        movers = [*node.find("mover")]
        for mover, cols in zip(movers, node.find("cols"), strict=True):
            found = self._columns(cols, Role.OUTCOME)
            if found is None or not all(self._outcome(n) and self._number(n) for n in found[0]):
                return None
            side: OneOf["less", "more"] = "less" if mover.has("INC") else "more"
            facts += [Wanted(name, Same(beyond=side)) for name in found[0]]
            links += found[1]
        return Facts(tuple(facts), tuple(links))

    def tolerance(self, node: Node) -> Facts | None:
        """Keep accuracy within 2 %: of what it was."""
        amount = self._amounts(node)[0]
        words = next(node.find("LE"), None)
        found = self._columns(node, Role.OUTCOME)
        if found is None or amount.form is not QuantityForm.SHARE or words is None:
            return None
        if not str(words.phrase.words).endswith("within"):
            return None
        if not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        goals = (Wanted(n, Same(tolerance=amount.value)) for n in found[0])
        return Facts(tuple(goals), found[1])

    def kept(self, node: Node) -> Facts | None:
        found = self._columns(node)
        if found is None:
            return None
        outcomes = [name for name in found[0] if self._outcome(name)]
        if outcomes and node.has("KEEP"):
            return None  # keep power ...: where?
        behind = self.spans.at[node.end] if node.end < self.spans.length else []
        if any(span.tag == "COL" and span.cost < _SURE for span in behind):
            return None  # the matrix reordering: a noun that goes on
        if outcomes:
            return self.no_worse(node)
        return Facts((Keep(found[0]),), found[1])

    def no_worse(self, node: Node) -> Facts | None:
        found = self._columns(node, Role.OUTCOME)
        if found is None:
            return None
        facts: list[Fact] = []
        for name in found[0]:
            if self._outcome(name) and self._number(name):
                facts.append(Wanted(name, self._no_worse(name, node)))
            elif self._outcome(name) and node.has("NOWORSE"):
                facts.append(Wanted(name, Same()))
            elif not self._outcome(name) and node.has("UNTOUCHED", "NOT", "NOWORSE"):
                facts.append(Keep((name,)))
            else:
                return None
        return Facts(tuple(facts), found[1])

    def _no_worse(self, name: str, node: Node, tolerance: float | None = None) -> Same:
        if node.has("INC", "MORE"):
            return Same(beyond="less", tolerance=tolerance)
        if node.has("RED", "LESS"):
            return Same(beyond="more", tolerance=tolerance)
        better = self.better(name)
        return Same(beyond="less" if better == "minimize" else "more", tolerance=tolerance)

    def worse_by(self, node: Node) -> Facts | None:
        amount = self._amounts(node)[0]
        found = self._columns(node, Role.OUTCOME)
        share = amount.form in (QuantityForm.SHARE, QuantityForm.FRACTION)
        if found is None or not share or not 0 < amount.value < 1:
            return None
        limits, worse = [*node.find("limit")], next(node.find("WORSE"), None)
        said = worse.phrase.words if worse is not None else ""
        if limits and limits[0].value[0] == ">" and not node.has("NOT", "NOWORSE"):
            down = node.has("LESS") or said.startswith("below")  # at least 5 % below now
            facts = [self._by(name, amount, down=down) for name in found[0]]
            kept = tuple(fact for fact in facts if fact is not None)
            return Facts(kept, found[1]) if len(kept) == len(facts) else None
        if not all(self._outcome(n) and self._number(n) for n in found[0]):
            return None
        goals = (Wanted(n, self._no_worse(n, node, amount.value)) for n in found[0])
        return Facts(tuple(goals), found[1])

    def no_slower(self, node: Node) -> Facts | None:
        about = self._about(node)
        if about is None:
            return None
        better = self.better(about[0])
        goal = Same(beyond="less" if better == "minimize" else "more")
        return Facts((Wanted(about[0], goal),), about[1])

    def equally(self, node: Node) -> Facts | None:
        about = self._about(node)
        return None if about is None else Facts((Wanted(about[0], Same()),), about[1])
