"""What Compass is made of, as a CycloneDX document: `python -m release.sbom > sbom.json`."""

import json
import re
import sys
from typing import Any

from release.dependencies import NAME, Package, packages

from compass import release

# An SPDX expression; whatever else a package says of its licence is a name.
_EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")
_PLAIN = re.compile(r"^[A-Z][A-Za-z]*[-0-9][A-Za-z0-9.-]*$|^MIT$|^ISC$")


def bill() -> dict[str, Any]:
    """The packages of the core and of all extras, with their licences."""
    own = {"type": "application", "bom-ref": NAME, "name": NAME, "version": release.version()}
    commit = release.commit().rstrip("+")
    if commit:
        own["pedigree"] = {"commits": [{"uid": commit}]}  # type: ignore[assignment]
    own["licenses"] = [{"license": {"id": "Apache-2.0"}}]  # type: ignore[assignment]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [_component(one) for one in packages().values()],
    }


def _component(package: Package) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": f"{package.name}@{package.version}",
        "name": package.name,
        "version": package.version,
        "purl": f"pkg:pypi/{package.name.lower().replace('_', '-')}@{package.version}",
        "licenses": [_licence(package.licence)],
        "properties": [{"name": "compass:needed-by", "value": ",".join(package.needed_by)}],
    }


def _licence(said: str) -> dict[str, Any]:
    words = re.split(r" (?:AND|OR|WITH) ", said)
    if _EXPRESSION.fullmatch(said) and all(map(_PLAIN.match, words)):
        return {"expression": said}
    return {"license": {"name": said[:200]}}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill(), indent=1) + "\n")
