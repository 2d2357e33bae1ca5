"""How far a prediction can be relied on: novelty, support, uncertainty and a label.

`support` finds past runs near a configuration, `spread` measures how much models trained on
perturbed data disagree, `expected` how large an error is likely; `assess.assess` turns them into a
label with a reason.
"""
