"""Recognises the kind of a model file by its content; names of files are not believed."""

import json
import pickletools
from dataclasses import dataclass, field
from typing import Any

from compass.domain.errors import BadInput
from compass.model.files import archive, keras_check, onnx_check, torch_check, ubjson
from compass.model.files.archive import members

KINDS = {
    "onnx": "ONNX",
    "skops": "scikit-learn (skops)",
    "lightgbm": "LightGBM text",
    "xgboost": "XGBoost JSON or UBJSON",
    "torchscript": "TorchScript",
    "export": "torch.export",
    "keras": "Keras .keras",
    "h5": "Keras .h5",
    "pickle": "pickle, joblib or torch.save",
}
_COMPRESSED = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x5d\x00\x00",
    b"\x04\x22\x4d\x18",
    b"\x28\xb5\x2f\xfd",
    b"\x78\x01",
    b"\x78\x5e",
    b"\x78\x9c",
    b"\x78\xda",
    b"ZF",  # joblib's own old way to compress
)
_TEXT_PICKLE = 2**20  # bytes up to which a file is tried as a pickle of the oldest protocol


@dataclass(frozen=True, eq=False)
class Content:
    """A file that may be opened, in the form in which it was checked."""

    kind: str  # one of KINDS
    name: str
    original: bytes
    checked: bytes  # what the library is given
    document: Any = field(default=None)  # of XGBoost


def content_of(original: bytes, name: str, *, allow_pickle: bool) -> Content:
    """The content of a file after every check that needs no library."""
    kind = sniff(original, name)
    if kind == "pickle":
        if not allow_pickle:
            raise pickled(name)
        return Content(kind, name, original, original)
    if kind == "onnx":
        onnx_check.check(original, name)
    if kind == "xgboost":
        return Content(kind, name, original, original, _document(original, name))
    if original[:2] != b"PK":
        return Content(kind, name, original, original)
    files = members(original, name)
    if kind == "keras":
        config = keras_check.check(files["config.json"], name)
        files = files | {"config.json": json.dumps(config).encode()}
    elif kind == "export":
        torch_check.check_export(files, name)
    elif kind == "torchscript":
        torch_check.check_script(files, name)
    return Content(kind, name, original, archive.packed(files))


def sniff(content: bytes, name: str) -> str:
    """The kind of model, one of KINDS; anything else is refused with what it seems to be."""
    if not content:
        raise BadInput(f"{name} is empty", hint="save the model again")
    if content[:2] == b"PK":
        return _zipped(content, name)
    if content.startswith(b"\x89HDF\r\n\x1a\n"):
        return "h5"
    if content[0] == 0x80 or content.startswith(_COMPRESSED):
        return "pickle"
    if content.startswith(b"tree\n") or content.startswith(b"tree\r\n"):
        return "lightgbm"
    if content.lstrip()[:1] == b"{":
        return _braced(content, name)
    if onnx_check.looks_like(content):
        return "onnx"
    if content.startswith((b"binf", b"bs64")):
        raise BadInput(
            f"{name} is in XGBoost's old binary format",
            hint="save it as JSON: booster.save_model('model.json')",
        )
    if _text_pickle(content):
        return "pickle"
    raise unknown_kind(name)


def pickled(name: str) -> BadInput:
    """Why a pickle is refused."""
    return BadInput(
        f"{name} is a pickle (as joblib and torch.save write it too):"
        " loading it would run whatever program it holds",
        hint="save the model as ONNX, skops, LightGBM text, XGBoost JSON, TorchScript or .keras;"
        " if you made this very file yourself: allow_pickle=True, or --allow-pickle",
    )


def unknown_kind(name: str) -> BadInput:
    """The error for content that is no model."""
    kinds = [words for kind, words in KINDS.items() if kind != "pickle"]
    return BadInput(
        f"{name} holds no model that Compass knows, or is damaged",
        hint=f"bring one of: {', '.join(kinds)}",
    )


def _zipped(content: bytes, name: str) -> str:
    names = list(members(content, name))
    ends = {inside.rpartition("/")[2] for inside in names}
    folders = {inside.partition("/")[2].partition("/")[0] for inside in names}
    if "schema.json" in names:
        return "skops"
    if "config.json" in names and "metadata.json" in names:
        return "keras"
    if "constants.pkl" in ends and "code" in folders:
        return "torchscript"
    if "archive_format" in ends and "models" in folders:
        return "export"
    if "serialized_exported_program.json" in ends:
        raise BadInput(
            f"{name} was exported by an old version of PyTorch",
            hint="export it again: torch.export.save(program, path)",
        )
    if "data.pkl" in ends:
        return "pickle"
    raise unknown_kind(name)


def _braced(content: bytes, name: str) -> str:
    if b"learner" in content[:4096]:
        return "xgboost"
    if b'"tree_info"' in content:
        raise BadInput(
            f"{name} is LightGBM's dump for people, which cannot be read back",
            hint="save the model as text: booster.save_model('model.txt')",
        )
    raise unknown_kind(name)


def _document(content: bytes, name: str) -> Any:
    text = content[1:].lstrip()[:1] in (b'"', b"}")
    try:
        found = json.loads(content) if text else ubjson.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{name} is a damaged XGBoost model: {error}", hint="save the model again"
        ) from None
    return found


def _text_pickle(content: bytes) -> bool:
    """Whether it is a pickle of the protocols 0 or 1, which begin with no mark."""
    if len(content) > _TEXT_PICKLE or content.rstrip()[-1:] != b".":
        return False
    try:
        return sum(1 for _ in pickletools.genops(content)) > 1
    except Exception:  # whatever the bytes are, they are no pickle
        return False
