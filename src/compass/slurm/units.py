"""The forms in which Slurm writes times, memory, resources, states and exit codes."""

import math
import re

_WORDS = "unknown none n/a invalid unlimited infinite partition_limit not_set ? (null)"
MISSING = frozenset(("", *_WORDS.split()))

TIME = re.compile(
    r"(?:(?P<days>\d{1,9})-)?(?:(?:(?P<hours>\d{1,9}):)?(?P<minutes>\d{1,9}):)?"
    r"(?P<seconds>\d{1,18}(?:\.\d{1,9})?)"
)
NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)([KMGTPE]?)(?:i?B)?", re.IGNORECASE)
_PER = {"": "", "n": "node", "c": "CPU"}
_POWERS = " KMGTPE"
# Old versions of Slurm marked a request per CPU with this bit; later ones print it as a part of
# the number: 2147486648Mn are 3000 MB per CPU.
_PER_CPU_BIT = 2**31
_MOST_MINUTES = 2**31  # of a time limit; Slurm keeps the largest numbers for words as UNLIMITED
_EXIT = re.compile(r"(\d{1,10}):(\d{1,10})")


def is_missing(text: str) -> bool:
    """Whether Slurm says with this word that it knows no value, or that there is no limit."""
    return text.strip().lower() in MISSING


def seconds(text: str) -> float | None:
    """The seconds of `[DD-[HH:]]MM:SS[.mmm]`; `DD-HH` and plain numbers (seconds) are read too."""
    text = text.strip()
    if is_missing(text):
        return None
    days, dash, rest = text.partition("-")
    if dash and days.isdecimal() and rest.count(":") < 2:
        # With days, Slurm's options count from the left: 2-12 is two days and twelve hours.
        text = f"{days}-{rest}{':00' * (2 - rest.count(':'))}"
    found = TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    parts = found.groupdict(default="0")
    whole = int(parts["days"]) * 86400 + int(parts["hours"]) * 3600 + int(parts["minutes"]) * 60
    return whole + float(parts["seconds"])


def written_time(seconds: float) -> str | None:
    """A time limit as `D-HH:MM:SS`, rounded up to whole seconds; None: longer than Slurm takes."""
    whole = math.ceil(seconds)
    if whole > 60 * _MOST_MINUTES:
        return None
    days, rest = divmod(whole, 86400)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def number(text: str, *, base: int) -> float | None:
    """The number of `12`, `12.5G` or `1234K`; K, M, G ... are powers of `base`."""
    text = text.strip()
    if is_missing(text):
        return None
    found = NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(text)
    digits, prefix = found.groups()
    return float(digits) * scale(prefix, base=base)


def scale(prefix: str, *, base: int) -> float:
    """What K, M, G ... multiply with; 1 without a prefix."""
    return float(base) ** _POWERS.index(prefix.upper() or " ")


def size(text: str) -> float | None:
    """The bytes of `1234K`, `12.5G` or `0`."""
    return number(text, base=1024)


def written_size(size: float) -> str:
    """Bytes as options of sbatch take them: whole MiB, rounded up; `G` where that is exact."""
    whole = math.ceil(size / 2**20)
    return f"{whole // 1024}G" if whole % 1024 == 0 else f"{whole}M"


def amount(text: str) -> float | None:
    """The number of `12`, `12.5M` or `1K`, in thousands: energy, frequency."""
    return number(text, base=1000)


def memory_request(text: str) -> tuple[float | None, str]:
    """The bytes of a `ReqMem`, and whether they are per `CPU` (`4000Mc`), per `node` or in all."""
    text = text.strip()
    per = text[-1:].lower() if text[-1:].lower() in ("n", "c") and text[:1].isdecimal() else ""
    text = text[:-1] if per else text
    # A request without a unit is in megabytes, as in the options of sbatch; 0 is 0.
    text = f"{text}M" if text.isdecimal() else text
    megabytes = int(text[:-1]) if text[-1:] == "M" and text[:-1].isdecimal() else 0
    if _PER_CPU_BIT <= megabytes < 2 * _PER_CPU_BIT:
        return size(f"{megabytes - _PER_CPU_BIT}M"), "CPU"
    return size(text), _PER[per]


def resources(text: str) -> dict[str, float]:
    """The resources of a TRES text by name: `cpu=8,mem=16G,gres/gpu:a100=2`; memory in bytes."""
    found: dict[str, float] = {}
    if is_missing(text):
        return found
    for part in text.strip().split(","):
        name, equals, written = part.rpartition("=")
        name = name.strip().lower()
        if not equals or not name:
            raise ValueError(part)
        value = seconds(written) if ":" in written else size(written)
        if value is not None:
            found[name] = value
    return found


def state(text: str) -> str | None:
    """The state alone: `CANCELLED by 1234` -> CANCELLED."""
    words = text.split()
    return words[0].rstrip("+").upper() if words else None


def exit_code(text: str) -> tuple[int | None, int | None]:
    """The code and the signal of `1:0`."""
    if is_missing(text):
        return None, None
    found = _EXIT.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(found[1]), int(found[2])
