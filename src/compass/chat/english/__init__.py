"""Reads a message in plain English by rules: no language model, the same reading every time.

`read` is the only way in: it turns a message about one table into a `Reading`, the parts of a
question that the message states. Nothing outside this folder imports the modules in it.

Decision 0028 (docs/decisions).
"""

from compass.chat.english.reader import read

__all__ = ["read"]
