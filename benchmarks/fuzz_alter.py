"""How `fuzz_files` alters what it loads: bytes, texts, fields of JSON, arrays, archives."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator
WHOLE = (0, -1, 1, 2, 7, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**62)
REAL = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, -1.0, 1e160, 3.4e38, 709.0)
TEXTS = ("", "x", "nan", "-1", "9223372036854775807", "1e999", "\u0000", "é" * 50, "0x10", "exp")
DEEP = "nested without end"
ODD: tuple[Any, ...] = (None, True, False, [], {}, [[]], *TEXTS, *WHOLE, *REAL, 10**30)


def content(content: bytes, rng: Rng) -> bytes:
    """The content of a file, altered in the way that its kind suggests, or anywhere."""
    how: list[Callable[[bytes, Rng], bytes]] = [scattered]
    if content[:2] == b"PK":
        how = [scattered, archive, archive, archive]
    elif content.startswith(b"tree\n"):
        how = [scattered, lines, lines, lines]
    elif content[:2] in (b'{"', b"{\n"):
        how = [scattered, document, document, document]
    return how[int(rng.integers(len(how)))](content, rng)


def scattered(content: bytes, rng: Rng) -> bytes:
    """Some bytes changed, cut out, repeated or added, or the end missing."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(changed) + 1))
        size = int(rng.choice([1, 2, 4, 8, 40]))
        piece = bytes(rng.integers(0, 256, size, dtype=np.uint8))
        match int(rng.integers(6)):
            case 0 | 1:
                changed[at : at + size] = piece
            case 2:
                changed[at : at + size] = rng.choice([b"\xff", b"\x00", b"\x7f", b"\x80"]) * size
            case 3:
                del changed[at : at + size]
            case 4:
                changed[at:at] = changed[at : at + size]
            case _:
                del changed[at:]
        if not changed:
            break
    return bytes(changed)


def lines(content: bytes, rng: Rng) -> bytes:
    """A text of `key=values` lines with other values, or with lines that are gone or twice."""
    found = content.decode().split("\n")
    places = [place for place, line in enumerate(found) if "=" in line]
    # The first lines are the head, of which there are few beside those of all trees.
    few = places[:8] if rng.random() < 0.3 else places
    at = few[int(rng.integers(len(few)))]
    key, _, values = found[at].partition("=")
    match int(rng.integers(6)):
        case 0:
            del found[at]
        case 1:
            found.insert(at, found[at])
        case 2:
            found[at] = f"{key}={odd(rng)}"
        case _:
            words = values.split(" ")
            place = int(rng.integers(len(words)))
            match int(rng.integers(4)):
                case 0:
                    del words[place]
                case 1:
                    words.insert(place, str(words[place]))
                case _:
                    words[place] = str(odd(rng))
            found[at] = f"{key}={' '.join(words)}"
    return "\n".join(found).encode()


def odd(rng: Rng) -> Any:
    return ODD[int(rng.integers(len(ODD)))]


def document(content: bytes, rng: Rng) -> bytes:
    """JSON with one to three other fields, at any depth."""
    found = json.loads(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        _field(found, rng)
    return json.dumps(found).replace(f'"{DEEP}"', "[" * 3000 + "]" * 3000).encode()


def _field(part: Any, rng: Rng) -> None:
    """Change a field somewhere below; deep ones are as likely as others."""
    places: list[tuple[Any, Any]] = []

    def look(inside: Any) -> None:
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        for key in list(keys)[:200]:
            places.append((inside, key))
            if isinstance(inside[key], dict | list):
                look(inside[key])

    look(part)
    if not places:
        return
    held, key = places[int(rng.integers(len(places)))]
    other, other_key = places[int(rng.integers(len(places)))]
    match int(rng.integers(8)):
        case 0:
            del held[key]
        case 1 if isinstance(held[key], list) and held[key]:
            rng.shuffle(held[key])
        case 2 if isinstance(held[key], list) and held[key]:
            held[key].append(held[key][0])
        case 3:
            held[key] = json.loads(json.dumps(other[other_key]))
        case 4 if isinstance(held[key], int | float) and not isinstance(held[key], bool):
            held[key] = (held[key] + 1, -held[key], held[key] * 1000)[int(rng.integers(3))]
        case 5:
            held[key] = DEEP if rng.random() < 0.1 else [held[key]]
        case _:
            value = odd(rng)
            held[key] = str(value) if isinstance(held[key], str) and rng.random() < 0.5 else value


def archive(content: bytes, rng: Rng) -> bytes:
    """An archive with another member: a document, an array or bytes altered, missing or twice."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        found = {item.filename: source.read(item) for item in source.infolist()}
    names = list(found)
    name = names[int(rng.integers(len(names)))]
    if rng.random() < 0.1:
        del found[name]
    elif found[name][:1] == b"{":
        found[name] = document(found[name], rng)
    elif found[name][:6] == b"\x93NUMPY" and rng.random() < 0.8:
        found[name] = npy(found[name], rng)
    else:
        found[name] = scattered(found[name], rng)
    twice = (name, found[name]) if name in found and rng.random() < 0.05 else None
    return zipped(found, twice)


def zipped(files: dict[str, bytes], twice: tuple[str, bytes] | None = None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, held in files.items():
            target.writestr(name, held)
        if twice is not None:
            target.fp.seek(target.start_dir)  # without the warning of writestr
            target.NameToInfo.pop(twice[0])
            target.writestr(*twice)
    return made.getvalue()


def npy(content: bytes, rng: Rng) -> bytes:
    """The bytes of an array file with other values, another type or shape, or a lying header."""
    if rng.random() < 0.05:
        lies = (b"(9223372036854775807,)", b"(2000000000, 1)", b"(-1,)", b"(1, -1)", b"[]")
        lie = lies[int(rng.integers(len(lies)))]
        start, end = content.find(b"("), content.find(b")") + 1
        # The header keeps its length: the blanks at its end make room.
        head = content[:start] + lie + content[end:128]
        return head[:127].ljust(127) + b"\n" + content[128:]
    try:
        given = np.load(io.BytesIO(content))
    except (ValueError, MemoryError):  # altered before: it is an array no more
        return scattered(content, rng)
    made = io.BytesIO()
    np.save(made, array(given, rng))
    return made.getvalue()


def array(given: np.ndarray, rng: Rng) -> np.ndarray:
    """An array with other values, of another type or of another shape."""
    if given.dtype.names:
        found = given.copy()
        name = found.dtype.names[int(rng.integers(len(found.dtype.names)))]
        found[name] = _values(found[name], rng)
        return found
    how = (_values, _values, _values, _values, _values, _typed, _shaped)
    return how[int(rng.integers(len(how)))](given, rng)


def _values(given: np.ndarray, rng: Rng) -> np.ndarray:
    found = given.copy()
    if not found.size:
        return np.zeros(3, found.dtype)
    if found.dtype.kind not in "iufb":
        return np.array(TEXTS[int(rng.integers(len(TEXTS)))] * 2).reshape((1,) * found.ndim)
    flat = found.reshape(-1)
    many = 1 if rng.random() < 0.6 else flat.size if rng.random() < 0.5 else 3
    places = rng.integers(flat.size, size=many)
    with np.errstate(all="ignore"):
        match int(rng.integers(6)):
            case 0:
                rng.shuffle(flat)
            case 1:
                flat[places] = flat[rng.integers(flat.size, size=many)]
            case 2:
                flat[places] = (-flat if found.dtype.kind in "if" else ~flat)[places]
            case 3:
                flat[places] = (flat.astype(np.float64) * 1.001 + 1).astype(found.dtype)[places]
            case _:
                choice = REAL if found.dtype.kind == "f" else (*WHOLE, flat.size, flat.size - 1)
                value = np.array(choice[int(rng.integers(len(choice)))])
                flat[places] = value.astype(found.dtype)
    return flat.reshape(found.shape)


def _typed(given: np.ndarray, rng: Rng) -> np.ndarray:
    kinds = ("f4", "f8", "i4", "i8", "u1", "u8", "?", ">f8", ">i8", "c16", "U9", "f2", "O", "S4")
    kind = kinds[int(rng.integers(len(kinds)))]
    with np.errstate(all="ignore"):
        try:
            return given.astype(kind)
        except (TypeError, ValueError, OverflowError):
            return np.zeros(given.shape, kind)


def _shaped(given: np.ndarray, rng: Rng) -> np.ndarray:
    match int(rng.integers(8)):
        case 0:
            return given[..., :-1] if given.ndim else given.reshape(1)
        case 1:
            return given[:-1] if given.ndim else given.reshape(1, 1)
        case 2:
            return np.concatenate([given, given]) if given.ndim else given
        case 3:
            return given.reshape(-1)
        case 4:
            return given[np.newaxis]
        case 5:
            return np.asfortranarray(given.T)
        case 6:
            return given[:0] if given.ndim else given.reshape(1)[:0]
        case _:
            return given.reshape(-1)[:1].reshape(()) if given.size else given


def engine(source: Path, target: Path, rng: Rng) -> None:
    """A copy of a saved engine with one file altered, by somebody who knows the format."""
    shutil.copytree(source, target)
    folder = target / (target / "CURRENT").read_text().strip()
    models = sorted(folder.glob("*.npz"))
    chance = rng.random()
    if chance < 0.06:
        file = (folder / "data.parquet", target / "CURRENT")[int(rng.integers(2))]
        file.write_bytes(scattered(file.read_bytes(), rng))
        return
    if chance < 0.25 or not models:
        file = folder / "engine.json"
        file.write_bytes((scattered if rng.random() < 0.1 else document)(file.read_bytes(), rng))
        return
    file = models[int(rng.integers(len(models)))]
    before = file.read_bytes()
    after = scattered(before, rng) if rng.random() < 0.05 else _arrays(before, rng)
    file.write_bytes(after)
    described = folder / "engine.json"
    old, new = (hashlib.blake2b(c, digest_size=16).hexdigest() for c in (before, after))
    described.write_text(described.read_text().replace(old, new))


def _arrays(content: bytes, rng: Rng) -> bytes:
    """The arrays of a model with one to three altered, swapped or missing."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        found = {item.filename: source.read(item) for item in source.infolist()}
    names = list(found)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        one, other = (names[int(i)] for i in rng.integers(len(names), size=2))
        # The model itself is a few arrays among those of many trees.
        own = [name for name in names if name.startswith("model")]
        one = own[int(rng.integers(len(own)))] if own and rng.random() < 0.6 else one
        match int(rng.integers(12)):
            case 0:
                found.pop(one, None)
            case 1 if one in found and other in found:
                found[one], found[other] = found[other], found[one]
            case _ if one in found:
                found[one] = npy(found[one], rng)
    twice = (names[0], found[names[0]]) if rng.random() < 0.02 and names[0] in found else None
    return zipped(found, twice)
