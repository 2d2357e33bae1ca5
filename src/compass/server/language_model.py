"""The language model of the operator, which the server asks on behalf of working processes."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from compass.chat.assistant import Ask, Messages, Unusable, model_at
from compass.server.settings import ServerSettings

_CALLS = 8  # requests to it at once


class LanguageModel:
    """Asks a language model in threads of its own: one that hangs must not hold up uploads."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._threads = ThreadPoolExecutor(_CALLS, thread_name_prefix="model")

    async def reply(self, messages: Messages) -> dict[str, str]:
        """What it replies, or why that is of no use, as a working process takes it."""
        try:
            loop = asyncio.get_running_loop()
            return {"content": await loop.run_in_executor(self._threads, self._ask, messages)}
        except Unusable as reason:
            return {"unusable": str(reason)}

    def close(self) -> None:
        """Stop asking; replies that are under way are dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def language_model(settings: ServerSettings) -> LanguageModel | None:
    """The language model that the operator named, if any."""
    if settings.llm_url is None:
        return None
    return LanguageModel(model_at(settings.llm_url, settings.llm_model or ""))
