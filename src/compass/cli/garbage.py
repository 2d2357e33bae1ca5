"""How often Python looks for garbage: seldom in a command that is short, else as usual."""

import gc

_USUAL = gc.get_threshold()
_NEW_OBJECTS = 200_000  # since the last look; an answer makes about as many


def look_seldom() -> None:
    """For the start: looking among what hundreds of modules make takes as long as importing."""
    gc.set_threshold(_NEW_OBJECTS, *_USUAL[1:])


def look_as_usual() -> None:
    """For work that is long, or has no end: its garbage may hold large arrays."""
    gc.set_threshold(*_USUAL)
