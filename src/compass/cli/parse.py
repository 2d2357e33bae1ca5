"""Texts of flags as values: COLUMN=VALUE, files by outcome, weights, and runs to start from."""

import json
import math
import re
from pathlib import Path
from typing import Any

from compass.domain.errors import BadInput, shortened, unknown
from compass.domain.option import LOSS, LOSS_TERMS, TRUST

_MOST = LOSS.most or math.inf
_EXAMPLES = {
    "role": "nodes=knob",
    "unit": "runtime=s",
    "missing": "power_cap=none",
    "domain": "threads=4,8,16",
    "weight": "nodes=5",
    "reference": "runtime=120",
    "loss": "proximity=0",
    "trust": "tau=0.3",
}
_FORMS = {"trust": "NAME=NUMBER"}  # of flags that are not about a column


def column_and_value(flag: str, text: str, known: list[str] | None = None) -> tuple[str, str]:
    """The two parts of COLUMN=VALUE; with `known` values, it has to be one of them."""
    name, found, value = text.rpartition("=")
    # Only a unit can be nothing: it takes away the one that was found.
    if not found or not name or not (value or flag == "unit"):
        raise BadInput(
            f"--{flag} {text} is not {_FORMS.get(flag, 'COLUMN=VALUE')}",
            hint=f"for example --{flag} {_EXAMPLES[flag]}",
        )
    if known is not None and value not in known:
        raise BadInput(
            f"--{flag} {text}: there is no {flag} '{value}'", hint=f"choose {', '.join(known)}"
        )
    return name, value


def reference(texts: list[str] | None) -> dict[str, float]:
    """From where on trade-offs count, from OUTCOME=NUMBER."""
    found = {}
    for text in texts or ():
        name, value = column_and_value("reference", text)
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise BadInput(
                f"--reference {text}: '{value}' is not a number",
                hint="for example --reference runtime=120",
            )
    return found


def weights(texts: list[str] | None) -> dict[str, float]:
    """Costs of changing parameters, from COLUMN=NUMBER."""
    found = {}
    for text in texts or ():
        name, value = column_and_value("weight", text)
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not 0 < found[name] < math.inf:
            raise BadInput(
                f"--weight {text}: '{value}' is not a positive number",
                hint="for example --weight nodes=5",
            )
    return found


def loss(texts: list[str] | None) -> dict[str, float]:
    """Weights of terms of the loss, from TERM=NUMBER."""
    found = {}
    for text in texts or ():
        name, value = column_and_value("loss", text)
        if name not in LOSS_TERMS:
            raise unknown("term of the loss", name, LOSS_TERMS)
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = math.nan
        if not 0 <= found[name] <= _MOST:
            raise BadInput(
                f"--loss {text}: '{value}' is not a number from 0 to {_MOST}",
                hint="for example --loss proximity=0",
            )
    return found


def trust(texts: list[str]) -> dict[str, float]:
    """How labels are made, from NAME=NUMBER; a study checks which numbers can be."""
    found = {}
    for text in texts:
        name, value = column_and_value("trust", text)
        if name not in TRUST:
            raise unknown("setting of trust", name, TRUST)
        share = value.endswith("%")
        try:
            found[name] = float(value.removesuffix("%")) / (100 if share else 1)
        except ValueError:
            raise BadInput(
                f"--trust {text}: '{value}' is not a number",
                hint=f"{name} is {TRUST[name].text}, for example --trust tau=0.3",
            ) from None
    return found


def named_files(texts: list[str], flag: str, example: str) -> dict[str, str]:
    """Files by outcome, from OUTCOME=FILE."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise BadInput(
                f"{flag} {text} names no outcome and file", hint=f"write {flag} {example}"
            )
        found[name] = value
    return found


def run(text: str | None, flag: str = "--from", past: str | None = None) -> Any:
    """A run from `row:N`, or from a JSON or YAML file with one configuration.

    `past` says how to name a past run, where that is not with this flag.
    """
    if text is None:
        return None
    if text.startswith("row:"):
        number = text.removeprefix("row:")
        if not re.fullmatch("[0-9]{1,18}", number):
            raise BadInput(f"{flag} {text} is not a row", hint=f"rows count from 0: {flag} row:0")
        return int(number)
    config = _configuration(text, flag, past or f"write {flag} row:N for a past run")
    scalars = (bool, int, float, str, type(None))
    if not isinstance(config, dict) or not all(
        isinstance(name, str) and isinstance(value, scalars) for name, value in config.items()
    ):
        raise BadInput(f"{text} is not one configuration", hint="write name: value, one per line")
    return config


def _configuration(text: str, flag: str, past: str) -> Any:
    """What the file of that name holds."""
    import yaml

    try:
        written = Path(text).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{flag} {text}: no such file", hint=past) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text file (UTF-8)"
        raise BadInput(
            f"{flag} {shortened(text)}: cannot read it: {why}",
            hint="write row:N for a past run, or name a JSON or YAML file",
        ) from None
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        pass  # then it is YAML, of which JSON is only nearly a part: tabs are not
    try:
        return yaml.safe_load(written)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadInput(
            f"cannot read a configuration from {text}", hint="it should be JSON or YAML"
        ) from None
