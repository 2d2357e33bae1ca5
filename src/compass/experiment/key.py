"""What makes two configurations the same one."""

import json
from collections.abc import Mapping
from hashlib import blake2b

from compass.domain.base import Value, scalar


def configuration_key(config: Mapping[str, Value]) -> str:
    """The same text for the same configuration: 1 is 1.0 and not True, order does not matter."""
    plain = {name: _plain(scalar(value)) for name, value in config.items()}
    # Escaped names sort as the names do, and a number is never written as a text is.
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _plain(value: Value) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
