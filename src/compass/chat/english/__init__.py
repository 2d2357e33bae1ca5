"""Reads a message in plain English: no language model, the same reading every time.

`read` is the only way in: it turns a message about one table into a `Reading`, the parts of a
question that the message states and the words that were not understood. Words become typed spans
(`spans`), one grammar over them (`grammar`, with its actions in `clauses`) must cover the message,
and the facts that it states become parts of a question (`meaning`). Nothing outside this folder
imports the modules in it.

Decision 0038 (docs/decisions).
"""

from compass.chat.english.reader import read

__all__ = ["read"]
