"""Which PyTorch archives may be opened: graphs of tensor operators, nothing that is unpickled.

`torch.export` files are JSON, but loading one looks up whatever operator it names, evaluates its
size expressions, and unpickles weights where it says so. So all of that is read here first.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from compass.domain.errors import BadInput

_OPERATOR = re.compile(
    r"torch\.ops\.(aten|prims)\.[a-z_]\w*\.\w+"
    r"|_operator\.(add|sub|mul|floordiv|truediv|mod|neg|pow|ge|le|gt|lt|eq|ne|getitem)"
    r"|torch\.sym_(int|float|max|min|not|sqrt|ite)"
    r"|math\.(ceil|floor|trunc)"
)
# Operators that reach for files.
_FILES = re.compile(r"\b(from_file|save|_save|load|_load)\b")
_WORDS_LISTED = """
    Symbol Integer Float Rational Add Mul Pow Max Min Mod Abs Eq Ne Ge Gt Le Lt And Or Not
    FloorDiv ModularIndexing CeilDiv PythonMod CleanDiv IntTrueDiv FloatTrueDiv ToFloat
    TruncToInt FloorToInt CeilToInt
    positive integer nonnegative real true false True False None
"""
_WORDS = frozenset(_WORDS_LISTED.split())
_TOKEN = re.compile(r"\s+|'\w+'|[A-Za-z]\w*|\d+(\.\d+)?(e[+-]?\d+)?|[-+*/%(),=<>]+")
_TREES = ("builtins.tuple", "builtins.list", "builtins.dict")
_MEMBER = re.compile(
    r"models/[\w-]+\.json|archive_format|archive_version|version|byteorder|\.data/\w+"
    r"|data/weights/(weight_\d+|[\w-]+_weights_config\.json)"
    r"|data/constants/(tensor_\d+|[\w-]+_constants_config\.json)"
    r"|data/sample_inputs/[\w-]+\.pt|\.format_version|\.storage_alignment"
)
# Operators of TorchScript that read or write files, talk to other machines, or run Python.
_SCRIPT = re.compile(
    r"\b(from_file|rpc\w*|distributed|c10d|PythonOp|_load_for\w*)\b|\b(torch|aten|prim)\.(save|load)\b"
    r"|\bops\.(?!prim\.|aten\.|quantized\.|prims\.)\w+"
)


def check_export(files: Mapping[str, bytes], name: str) -> None:
    """Refuse a `torch.export` archive that does more than name operators and weights."""
    roots = {file.partition("/")[0] for file in files}
    if len(roots) != 1:
        raise _refused(name, "files beside the archive of the model")
    for file, content in files.items():
        inside = file.partition("/")[2]
        if not _MEMBER.fullmatch(inside):
            raise _refused(name, f"a file that no exported graph needs: {inside!r}")
        if inside.endswith(".json"):
            _walk(_json(content, name), name)


def check_script(files: Mapping[str, bytes], name: str) -> None:
    """Refuse TorchScript that reads or writes files, or leaves its interpreter."""
    for file, content in files.items():
        if "/code/" in file and file.endswith(".py"):
            found = _SCRIPT.search(content.decode("utf-8", errors="replace"))
            if found:
                raise _refused(name, f"an operator that is not about tensors: {found.group()!r}")


def _walk(part: Any, name: str) -> None:
    if isinstance(part, list):
        for value in part:
            _walk(value, name)
    elif isinstance(part, dict):
        for key, value in part.items():
            _field(str(key), value, name)
            _walk(value, name)


def _field(key: str, value: Any, name: str) -> None:
    if key == "use_pickle" and value is not False:
        raise _refused(name, "weights that would have to be unpickled")
    if key in ("target", "as_operator") and isinstance(value, str) and not _operator(key, value):
        raise _refused(name, f"an operator that is not about tensors: {value!r}")
    if key == "as_operator" and not isinstance(value, str | None):
        raise _refused(name, "an operator that has no name")
    if key == "expr_str" and not _plain_expression(value):
        raise _refused(name, f"a size that is no plain formula: {value!r}")
    if key == "as_custom_obj" and value is not None:
        raise _refused(name, "objects of a class of its own")
    if key in ("in_spec", "out_spec") and value:
        _tree(_json(value, name), name)


def _operator(key: str, value: str) -> bool:
    # Signatures have a field `target` too: the name of a parameter, never called.
    parameter = key == "target" and re.fullmatch(r"(?!torch|math|_operator|#)[\w.]+", value)
    known = _OPERATOR.fullmatch(value) and not _FILES.search(value)
    return bool(parameter or known)


def _plain_expression(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > 10_000:
        return False
    place = 0
    while place < len(value):
        token = _TOKEN.match(value, place)
        if token is None:
            return False
        word = token.group()
        named = word[0].isalpha() and word not in _WORDS
        if named and not re.fullmatch(r"[suz]\d+", word):
            return False
        place = token.end()
    return "__" not in value


def _tree(spec: Any, name: str) -> None:
    if isinstance(spec, list):
        for part in spec:
            _tree(part, name)
    elif isinstance(spec, dict):
        if spec.get("type") not in (None, *_TREES):
            raise _refused(name, f"inputs of the kind {spec['type']!r}")
        for part in spec.get("children_spec") or ():
            _tree(part, name)


def _json(content: bytes | str, name: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput(
            f"{name} is damaged: its JSON cannot be read", hint="save it again"
        ) from None


def _refused(name: str, what: str) -> BadInput:
    return BadInput(
        f"{name} holds {what}",
        hint="export the model to ONNX, or script it: torch.jit.script(model).save(path)",
    )
