"""JSON files of strangers: read with limits on size and depth."""

import json
from pathlib import Path
from typing import Any

from compass.domain.errors import DataProblem
from compass.readers import files

LARGEST = 512 << 20  # bytes
_PIECE = 1 << 20


def load_json(path: Path) -> Any:
    """The content of a JSON file, or the error that says what is wrong with it."""
    text = whole_text(path, LARGEST)
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise DataProblem(
            f"{path} is not JSON: {problem}", hint="is it complete? copy it again"
        ) from problem
    except (RecursionError, ValueError) as problem:
        raise DataProblem(
            f"{path} is nested too deeply, or holds a number too long",
            hint="was it written by a program that went wrong?",
        ) from problem


def whole_text(path: Path, largest: int) -> str:
    """The uncompressed text of a file that is not larger than it may be."""
    with files.opened(path) as stream:
        try:
            pieces, size = [], 0
            while size <= largest and (piece := stream.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
        except OSError as problem:
            raise DataProblem(
                f"cannot uncompress {path}: {problem}", hint="is it complete? copy it again"
            ) from problem
    content = b"".join(pieces)
    if len(content) > largest:
        raise DataProblem(
            f"{path} holds more than {largest >> 20} MB", hint="is it really one run?"
        )
    if not content.strip():
        raise files.empty(path)
    try:
        return str(content, "utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataProblem(
            f"{path} is not UTF-8 text",
            hint=f"convert it: iconv -f ISO-8859-1 -t UTF-8 {path} > utf8-{path.name}",
        ) from problem
