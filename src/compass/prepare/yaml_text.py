"""YAML as people expect it, read and written."""

import re
from collections.abc import Mapping
from typing import Any

import yaml


class Loader(yaml.SafeLoader):
    """YAML as people expect it: `on`, `no` and `12:30:00` are text, `1e5` is a number."""


Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})\\Z"), list(_first)
    )


def _float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


def _int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


Loader.add_constructor("tag:yaml.org,2002:float", _float)
Loader.add_constructor("tag:yaml.org,2002:int", _int)


class Dumper(yaml.SafeDumper):
    """Quotes what either this loader or an ordinary one would take for something else."""


Dumper.yaml_implicit_resolvers = {
    first: yaml.SafeDumper.yaml_implicit_resolvers.get(first, [])
    + Loader.yaml_implicit_resolvers.get(first, [])
    for first in {*yaml.SafeDumper.yaml_implicit_resolvers, *Loader.yaml_implicit_resolvers}
}


def from_yaml(text: str) -> Any:
    """What a text says; a ValueError where it is not well formed."""
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a safe one
    except yaml.YAMLError as problem:
        raise ValueError(str(problem)) from problem


def to_yaml(raw: Mapping[str, Any]) -> str:
    """A text that both this loader and an ordinary one read as it was."""
    form: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "width": 100}
    readable: str = yaml.dump(raw, Dumper=Dumper, allow_unicode=True, **form)
    # YAML counts these as line breaks and would fold them; escaped they survive.
    if re.search("[\x85\u2028\u2029]", readable):
        readable = yaml.dump(raw, Dumper=Dumper, allow_unicode=False, **form)
    return readable
