"""What the conversation replies to sentences of the corpus."""

import json
from collections.abc import Iterator
from typing import Any

from tests.chat.corpus_case import sentences, tables

from compass.chat.dialogue import begin, respond

EVERY = 3  # one sentence in so many


def dialogues() -> Iterator[tuple[str, Any]]:
    """Replies to sentences without a past."""
    for sentence in sentences("develop")[::EVERY]:
        space = tables()[sentence.table]
        conversation, _ = begin(space)
        conversation, reply = respond(conversation, sentence.text, space)
        yield f"chat: {sentence.id}", json.loads(reply.model_dump_json())
