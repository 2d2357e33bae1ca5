"""Hand-written variants: every goal, edit, clause and way of writing that the language offers."""

from language_case import Case, recommend, reconfigure, what_if

from compass.domain.goal import (
    Change,
    IsClass,
    Reach,
    Same,
    Within,
    at_least,
    at_most,
    less,
    maximize,
    minimize,
    more,
    no_less,
    no_more,
    observe,
    same,
)
from compass.domain.query import Given, Plus, Row, SetTo, plus, set_to, times

_RECOMMEND = "Recommend a configuration X = {n: ?} to achieve Y = "
_RECONFIGURE = "Reconfigure X = {n: ?} to achieve Y = "


def _goal(written: str, goal: object, canonical: str, **fields: object) -> Case:
    """One goal of a reconfigure query, as written, as meant, and as printed."""
    return Case(
        f"goal {written}",
        f"reconfigure x = {{n: ?}} to get y = {{t: {written}}}",
        reconfigure("n", goals={"t": goal}, **fields),
        f"{_RECONFIGURE}{{t: {canonical}}}",
    )


def _edit(written: str, canonical: str, **fields: object) -> Case:
    """One item of X of a what-if query, as written, as meant, and as printed."""
    return Case(
        f"edit {written}",
        f"What if we change {{n: {written}}}?",
        what_if(**fields),
        f"What if we change X = {{n: {canonical}}}, how would that affect Y = {{}}",
    )


def _where(written: str, *rules: str) -> Case:
    """The conditions of a recommend query."""
    canonical = f" where C = {{{', '.join(rules)}}}" if rules else ""
    return Case(
        f"where {written}",
        f"{_RECOMMEND}{{t: minimize}} where {written}",
        recommend("n", goals={"t": minimize}, where=rules),
        f"{_RECOMMEND}{{t: minimize}}{canonical}",
    )


GOALS = [
    _goal("minimized", minimize, "minimize"),
    _goal("MIN", minimize, "minimize"),
    _goal("maximise", maximize, "maximize"),
    _goal("[200, 350]", Within(low=200, high=350), "[200, 350]"),
    _goal("between -1.5 and 2e3", Within(low=-1.5, high=2000), "[-1.5, 2000]"),
    _goal("[1, 2 h]", Within(low=1, high=2, unit="h"), "[1 h, 2 h]"),
    _goal("<= 300 W", Within(high=300, unit="W"), "<= 300 W"),
    _goal("≤ 64 gb", Within(high=64, unit="GB"), "<= 64 GB"),
    _goal("under 2 hours", Within(high=2, unit="h"), "<= 2 h"),
    _goal("at most 0.5", at_most(0.5), "<= 0.5"),
    _goal("> 5 minutes", Within(low=5, unit="min"), ">= 5 min"),
    _goal("at least 3", at_least(3), ">= 3"),
    _goal("10% reduction", less(0.1), "reduce by 10%"),
    _goal("12.5 percent less", less(0.125), "reduce by 12.5%"),
    _goal("cut by at least 7%", less(0.07), "reduce by 7%"),
    _goal("increased by 30%", more(0.3), "increase by 30%"),
    _goal("20% more", more(0.2), "increase by 20%"),
    _goal(
        "reduce by 50 W",
        Change(direction="reduce", by=50, relative=False, unit="W"),
        "reduce by 50 W",
    ),
    _goal("old -> old/2", less(0.5), "reduce by 50%"),
    _goal("x -> 1.2x", more(0.2), "increase by 20%"),
    _goal(
        "old -> old - 5",
        Change(direction="reduce", by=5, relative=False),
        "reduce by 5",
    ),
    _goal("old - 5", Change(direction="reduce", by=5, relative=False), "reduce by 5"),
    _goal("0.9*old", less(0.1), "reduce by 10%"),
    _goal("Type-2", IsClass(value="Type-2"), "'Type-2'"),
    _goal("old -> 1*old", same, "same"),
    _goal("old -> 100", Reach(value=100), "old -> 100"),
    _goal("120 -> 100", Reach(value=100), "120 -> 100", stated={"t": 120}),
    _goal("120 -> reduce by 10%", less(0.1), "120 -> reduce by 10%", stated={"t": 120}),
    _goal("old -> 90 s", Reach(value=90, unit="s"), "old -> 90 s"),
    _goal("the same", same, "same"),
    _goal("unchanged within 3%", Same(tolerance=0.03), "same within 3%"),
    _goal("the same or lower", no_more(), "same or less"),
    _goal("same or more", no_less(), "same or more"),
    _goal("same or less within 5%", no_more(0.05), "same or less within 5%"),
    _goal("completed", IsClass(value="completed"), "'completed'"),
    _goal("“out of memory”", IsClass(value="out of memory"), "'out of memory'"),
    _goal("failed -> completed", IsClass(value="completed"), "'failed' -> 'completed'",
          stated={"t": "failed"}),
    _goal("true", IsClass(value=True), "true"),
    _goal("3", IsClass(value=3), "3"),
    _goal("none", IsClass(value=None), "none"),
    _goal("12 -> ?", observe, "12 -> ?", stated={"t": 12}),
    Case(
        "one goal for several targets, then another",
        _RECONFIGURE + "{a, b: 10% reduction, c: minimize, d}",
        reconfigure(
            "n", goals={"a": less(0.1), "b": less(0.1), "c": minimize, "d": observe}
        ),
        _RECONFIGURE + "{a: reduce by 10%, b: reduce by 10%, c: minimize, d}",
    ),
    Case(
        "an outcome that is only watched stands last, so that it takes no goal",
        _RECONFIGURE + "{a: ?, b: minimize}",
        reconfigure("n", goals={"a": observe, "b": minimize}),
        _RECONFIGURE + "{b: minimize, a}",
    ),
]  # fmt: skip

EDITS = [
    _edit("64", "old -> 64", change={"n": set_to(64)}),
    _edit("-3", "old -> -3", change={"n": set_to(-3)}),
    _edit("x -> x/2", "old -> 0.5*old", change={"n": times(0.5)}),
    _edit("x -> 2*x", "old -> 2*old", change={"n": times(2)}),
    _edit("old→2×old", "old -> 2*old", change={"n": times(2)}),
    _edit("old => old * 1.5", "old -> 1.5*old", change={"n": times(1.5)}),
    _edit("n -> n/4", "old -> 0.25*old", change={"n": times(0.25)}),
    _edit("value -> 3 value", "old -> 3*old", change={"n": times(3)}),
    _edit("8 -> 2*old", "8 -> 2*old", change={"n": times(2)}, stated={"n": 8}),
    _edit("old -> -2*old", "old -> -2*old", change={"n": times(-2)}),
    _edit("old -> old + 4", "old -> old + 4", change={"n": plus(4)}),
    _edit("old -> old − 2 GB", "old -> old - 2 GB", change={"n": Plus(amount=-2, unit="GB")}),
    _edit("old + 4", "old -> old + 4", change={"n": plus(4)}),
    _edit("old - 2", "old -> old - 2", change={"n": plus(-2)}),
    _edit("old-2", "old -> old - 2", change={"n": plus(-2)}),
    _edit("n-2", "old -> old - 2", change={"n": plus(-2)}),
    _edit("n -> n-2 GB", "old -> old - 2 GB", change={"n": Plus(amount=-2, unit="GB")}),
    _edit("value -> value-2GB", "old -> old - 2 GB", change={"n": Plus(amount=-2, unit="GB")}),
    _edit("x-2", "old -> old - 2", change={"n": plus(-2)}),
    _edit("old * 1.5", "old -> 1.5*old", change={"n": times(1.5)}),
    _edit("2*old", "old -> 2*old", change={"n": times(2)}),
    _edit("n/4", "old -> 0.25*old", change={"n": times(0.25)}),
    _edit("ResNet-50", "old -> 'ResNet-50'", change={"n": set_to("ResNet-50")}),
    _edit("A100-SXM4-40GB", "old -> 'A100-SXM4-40GB'", change={"n": set_to("A100-SXM4-40GB")}),
    _edit("ResNet-50 -> ResNet-101", "'ResNet-50' -> 'ResNet-101'",
          change={"n": set_to("ResNet-101")}, stated={"n": "ResNet-50"}),
    _edit("ResNet -> ResNet-50-v2", "'ResNet' -> 'ResNet-50-v2'",
          change={"n": set_to("ResNet-50-v2")}, stated={"n": "ResNet"}),
    _edit("increase by 25%", "old -> 1.25*old", change={"n": times(1.25)}),
    _edit("reduce by 25%", "old -> 0.75*old", change={"n": times(0.75)}),
    _edit("old -> 2 h", "old -> 2 h", change={"n": SetTo(value=2, unit="h")}),
    _edit("8 -> 16", "8 -> 16", change={"n": set_to(16)}, stated={"n": 8}),
    _edit("none -> 64", "none -> 64", change={"n": set_to(64)}, stated={"n": None}),
    _edit("64 -> none", "64 -> none", change={"n": set_to(None)}, stated={"n": 64}),
    _edit("false -> true", "false -> true", change={"n": set_to(True)}, stated={"n": False}),
    _edit("old -> pak", "old -> 'pak'", change={"n": set_to("pak")}),
    _edit("x -> y", "'x' -> 'y'", change={"n": set_to("y")}, stated={"n": "x"}),
    _edit("'rand+spr' -> \"it's\"", "'rand+spr' -> 'it\\'s'",
          change={"n": set_to("it's")}, stated={"n": "rand+spr"}),
    Case(
        "old values of asked parameters",
        "Reconfigure X = {a: x -> ?, b: 8 -> ?, c: 'old' -> ?} to achieve Y = {t: min}",
        reconfigure("a", "b", "c", stated={"b": 8, "c": "old"}, goals={"t": minimize}),
        "Reconfigure X = {a: ?, b: 8 -> ?, c: 'old' -> ?} to achieve Y = {t: minimize}",
    ),
]  # fmt: skip

WHERE = [
    _where("nodes < 16, gpus >= 1", "nodes < 16", "gpus >= 1"),
    _where("{nodes < 16, gpus >= 1}", "nodes < 16", "gpus >= 1"),
    _where("C = {a < 1} where b < 2", "a < 1", "b < 2"),
    _where("C = {}"),
    _where("4 <= nodes <= 16", "4 <= nodes and nodes <= 16"),
    _where("nodes: [4, 16]", "4 <= nodes and nodes <= 16"),
    _where("time: [1, 2 h]", "1 h <= time and time <= 2 h"),
    _where("mem: <= 64 GB", "mem <= 64 GB"),
    _where("nodes = 4", "nodes == 4"),
    _where("threads in {4, 8, 16}", "threads in {4, 8, 16}"),
    _where("threads: {4, 8}", "threads in {4, 8}"),
    _where("app not in (FT, 'CG')", "not app in {'FT', 'CG'}"),
    _where("C = {partition == 'gpu' -> gpus >= 1}", "partition == 'gpu' -> gpus >= 1"),
    _where("a > 1 → b > 1 → c > 1", "a > 1 -> b > 1 -> c > 1"),
    _where("(a > 1 -> b > 1) -> c > 1", "(a > 1 -> b > 1) -> c > 1"),
    _where("not (a < 1 or b < 1) and c < 1", "not (a < 1 or b < 1) and c < 1"),
    _where("!a && (b || c)", "not a == true and (b == true or c == true)"),
    _where("((a < 1) and (b < 1)) and c < 1", "a < 1 and b < 1 and c < 1"),
    _where("P*Q*R == ppn·nodes", "P * Q * R == ppn * nodes"),
    _where("ndirections % ndirsets == 0", "ndirections % ndirsets == 0"),
    _where("a - (b - c) <= 2^-k", "a - (b - c) <= 2 ** (-k)"),
    _where("-a**2 < (-1)**2", "-a ** 2 < (-1) ** 2"),
    _where("max(a, b) <= min(c, log2(d))", "max(a, b) <= min(c, log2(d))"),
    _where("`core 0` > 1, `Time[s]`: 3", "`core 0` > 1", "`Time[s]` == 3"),
    _where("in.flight < 3 and `in` < 2", "in.flight < 3 and `in` < 2"),
    _where("power_cap != none", "power_cap != none"),
    _where("net: ResNet-50, net in {VGG-16, ResNet-50}",
           "net == 'ResNet-50'", "net in {'VGG-16', 'ResNet-50'}"),
    _where("net == ResNet-50", "net == ResNet - 50"),  # the table's labels decide
    _where("min < max, old > top", "min < max", "old > top"),
]  # fmt: skip

CLAUSES = [
    Case(
        "every clause",
        "Reconfigure X = {cores: ?} to achieve Y = {power: reduce by 10%} where nodes < 16 "
        "from row 100 top 5 seed 7 weights {nodes: 3, cores = 0.5}",
        reconfigure(
            "cores",
            goals={"power": less(0.1)},
            where=("nodes < 16",),
            baseline=Row(row=100),
            count=5,
            seed=7,
            weights={"nodes": 3, "cores": 0.5},
        ),
        "Reconfigure X = {cores: ?} to achieve Y = {power: reduce by 10%} where C = {nodes < 16} "
        "from row 100 top 5 seed 7 weights {nodes: 3, cores: 0.5}",
    ),
    Case(
        "the chance of the goals, beyond past runs",
        "Recommend {n: ?} to reach {t: <= 4} chance 95 percent beyond level .8",
        recommend("n", goals={"t": at_most(4)}, chance=0.95, beyond=True, level=0.8),
        _RECOMMEND + "{t: <= 4} level 80% chance 95% beyond",
    ),
    Case(
        "every knob",
        "Reconfigure X = {*: ?, app: FT-2 -> FT-3} to achieve Y = {t: min} from {net: ResNet-50}",
        reconfigure(
            "*",
            change={"app": set_to("FT-3")},
            stated={"app": "FT-2"},
            goals={"t": minimize},
            baseline=Given(config={"net": "ResNet-50"}),
        ),
        "Reconfigure X = {*: ?, app: 'FT-2' -> 'FT-3'} to achieve Y = {t: minimize} "
        "from {net: 'ResNet-50'}",
    ),
    Case(
        "clauses in any order",
        "Recommend {n: ?} to reach {t: max} seed 0 top 1 where C = {a < 1}",
        recommend("n", goals={"t": maximize}, seed=0, count=1, where=("a < 1",)),
        _RECOMMEND + "{t: maximize} where C = {a < 1} top 1 seed 0",
    ),
    Case(
        "a baseline written out",
        "Reconfigure X = {n: ?} to achieve Y = {t: min} from {n: 8, app: FT, is_gpu: True, "
        "cap: none, `core 0`: -1.5e-3, note: 'a, b'}",
        reconfigure(
            "n",
            goals={"t": minimize},
            baseline=Given(
                config={
                    "n": 8,
                    "app": "FT",
                    "is_gpu": True,
                    "cap": None,
                    "core 0": -0.0015,
                    "note": "a, b",
                }
            ),
        ),
        _RECONFIGURE + "{t: minimize} from {n: 8, app: 'FT', is_gpu: true, cap: none, "
        "`core 0`: -0.0015, note: 'a, b'}",
    ),
    Case(
        "what-if from a row",
        "what if X = {n: 4} how does it change Y = {t} from row 0?",
        what_if(change={"n": set_to(4)}, goals={"t": observe}, baseline=Row(row=0)),
        "What if we change X = {n: old -> 4}, how would that affect Y = {t} from row 0",
    ),
    Case(
        "what-if that wants to keep an outcome within a share",
        "What if I change X = {n: 4}, but I want to keep Y = {t: same within 2%, u} unchanged",
        what_if(change={"n": set_to(4)}, goals={"t": Same(tolerance=0.02), "u": same}),
        "What if we change X = {n: old -> 4}, how would that affect "
        "Y = {t: same within 2%, u: same}",
    ),
    Case(
        "equals instead of colon, wildcards and odd names",
        "Recommend X = {X+_*_STALL = ?, *_level=?, core 0 = ?, Time[s]: ?, Mem (GB): ?} "
        "to achieve Y = {*power*: minimize}",
        recommend(
            "X+_*_STALL", "*_level", "core 0", "Time[s]", "Mem (GB)", goals={"*power*": minimize}
        ),
        "Recommend a configuration X = {`X+_*_STALL`: ?, `*_level`: ?, `core 0`: ?, `Time[s]`: ?, "
        "`Mem (GB)`: ?} to achieve Y = {`*power*`: minimize}",
    ),
    Case(
        "columns that are called like words of the language",
        "Recommend X = {min: ?, from: ?, where: ?, top: ?, same: ?, old: ?, x: ?, in: ?} "
        "to achieve Y = {minimize: minimize, true: max} where C = {seed > 1, weights < 2}",
        recommend(
            *("min", "from", "where", "top", "same", "old", "x", "in"),
            goals={"minimize": minimize, "true": maximize},
            where=("seed > 1", "weights < 2"),
        ),
        "Recommend a configuration X = {min: ?, from: ?, `where`: ?, top: ?, same: ?, old: ?, "
        "x: ?, `in`: ?} to achieve Y = {minimize: minimize, `true`: maximize} "
        "where C = {seed > 1, weights < 2}",
    ),
    Case(
        "backticks keep everything, doubled they are one",
        "Recommend X = {` a `: ?, `b``c`: ?, `d\ne`: ?, ``: ?} to achieve Y = {t: min}",
        recommend(" a ", "b`c", "d\ne", "", goals={"t": minimize}),
        "Recommend a configuration X = {` a `: ?, `b``c`: ?, `d\ne`: ?, ``: ?} "
        "to achieve Y = {t: minimize}",
    ),
    Case(
        "numbers keep their digits",
        "Recommend X = {a: 9007199254740993, b: 1e22, c: 1e-300, d: .5, e: 5.} "
        "to achieve Y = {t: min} weights {a: 2.50}",
        recommend(
            change={
                "a": set_to(9007199254740993),
                "b": set_to(1e22),
                "c": set_to(1e-300),
                "d": set_to(0.5),
                "e": set_to(5),
            },
            goals={"t": minimize},
            weights={"a": 2.5},
        ),
        "Recommend a configuration X = {a: 9007199254740993, b: 1e+22, c: 1e-300, d: 0.5, e: 5} "
        "to achieve Y = {t: minimize} weights {a: 2.5}",
    ),
]
