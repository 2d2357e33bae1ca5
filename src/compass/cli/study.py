"""The study that a command is given: what columns mean, from a file and from flags."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.cli import flags, parse
from compass.cli.parse import column_and_value
from compass.domain.errors import BadInput

if TYPE_CHECKING:
    from compass.domain.study import Study


@dataclass(frozen=True)
class GivenStudy:
    """A study file and the study that flags make; flags have the last word."""

    file: Path | None
    flags: "Study"

    def merged(self, known: "Study | None" = None) -> "Study":
        """The study of the file, or else a known one, and of the flags."""
        from compass.domain.study import Study
        from compass.prepare.study import merge
        from compass.prepare.study_file import load_study

        first = (known or Study()) if self.file is None else load_study(self.file)
        return merge(first, self.flags)

    def over(self, known: "Study") -> "Study":
        """A known study, changed by the file and by the flags."""
        from compass.prepare.study import merge
        from compass.prepare.study_file import load_study

        below = known if self.file is None else merge(known, load_study(self.file))
        return merge(below, self.flags)

    @property
    def empty(self) -> bool:
        """Whether nothing was given."""
        from compass.domain.study import Study

        return self.file is None and self.flags == Study()


@dataclass(frozen=True)
class StudyFlags:
    """What columns mean, as the flags say it."""

    study: flags.StudyFile = None
    role: flags.Roles = None
    unit: flags.Units = None
    domain: flags.Domains = None
    missing: flags.Missing = None
    drop: flags.Drop = None
    rule: flags.Rules = None
    group: flags.Group = None
    comparable: flags.ComparableBy = None
    trust: flags.TrustValues = None

    def parsed(self) -> GivenStudy:
        """The flags as a study, so that they mean the same as in a file."""
        from compass.domain.space import Role
        from compass.prepare.study_file import study_of

        columns: dict[str, dict[str, Any]] = {}
        for key, texts, known in (
            ("role", self.role, [role.value for role in Role]),
            ("unit", self.unit, None),
            ("missing", self.missing, ["none", "drop"]),
        ):
            for text in texts or ():
                name, value = column_and_value(key, text, known)
                columns.setdefault(name, {})[key] = value
        for text in self.domain or ():
            name, value = column_and_value("domain", text)
            columns.setdefault(name, {}).update(_domain(name, value))
        given: dict[str, Any] = {
            "columns": columns,
            "drop": list(self.drop or ()),
            "rules": list(self.rule or ()),
        }
        if self.group is not None:
            given["group"] = self.group
        if self.comparable is not None:
            names = [name.strip() for name in self.comparable.split(",") if name.strip()]
            given["comparable"] = [] if names == ["all"] else names
        if self.trust:
            given["trust"] = parse.trust(self.trust)
        return GivenStudy(self.study, study_of(given, where="the flags"))


@dataclass(frozen=True)
class SampleStudyFlags:
    """The part of a study that a sample of large files needs."""

    study: flags.StudyFile = None
    role: flags.Roles = None
    missing: flags.Missing = None
    drop: flags.Drop = None

    def parsed(self) -> GivenStudy:
        """The flags as a study."""
        whole = StudyFlags(self.study, role=self.role, missing=self.missing, drop=self.drop)
        return whole.parsed()


def _domain(name: str, text: str) -> dict[str, Any]:
    """Legal values: a range, numbers, or labels."""
    try:
        if ".." in text:
            span, _, step = text.partition(":")
            low, high = (float(end) for end in span.split(".."))
            size = float(step) if step else None
            if not (math.isfinite(high - low) and low <= high and (size is None or size > 0)):
                raise ValueError
            return {"low": low, "high": high} | ({} if size is None else {"step": size})
        numbers = sorted({float(part) for part in text.split(",")})
    except ValueError:
        if ".." in text:
            raise BadInput(
                f"--domain {name}={text} is not a range", hint="write low..high or low..high:step"
            ) from None
        return {"values": [part.strip() for part in text.split(",")]}
    if not all(map(math.isfinite, numbers)):
        raise BadInput(
            f"--domain {name}={text} is not a list of numbers", hint="write plain numbers: 4,8,16"
        )
    return {"allowed": numbers}
