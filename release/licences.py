"""The licences of everything that Compass brings along.

    python -m release.licences [--json]

Ends with exit code 1 if the core or an extra needs a package with a copyleft or source-available
licence, or one that says nothing.
"""

import argparse
import json
import re
import sys
from dataclasses import asdict

from release.dependencies import Package, packages

# Copyleft of whole programs or libraries, and licences that forbid uses.
_REFUSED = re.compile(
    r"\bA?L?GPL|General Public|\bEUPL|European Union Public|\bCDDL|\bEPL|\bOSL|CC-BY-(NC|SA|ND)"
    r"|SSPL|Server Side Public|BUSL|Business Source|Elastic|Commons Clause|PolyForm|Proprietary",
    re.IGNORECASE,
)
_FILES = re.compile(r"\bMPL|Mozilla Public", re.IGNORECASE)  # binds changes of its own files only


def verdict(package: Package) -> str:
    """What a licence means for who uses Compass: `fine`, `own files` or `refused`."""
    said = package.licence
    # Of several to choose from, one that is fine is enough.
    choices = re.split(r"\s+OR\s+", said) if " AND " not in said else [said]
    if not said or all(_REFUSED.search(one) for one in choices):
        return "refused"
    return "own files" if _FILES.search(said) else "fine"


def main() -> int:
    """Print the table; 1 if a licence is refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    found = list(packages().values())
    if parser.parse_args().json:
        print(json.dumps([{**asdict(one), "verdict": verdict(one)} for one in found], indent=1))
    else:
        for one in found:
            row = (one.name, one.version, one.licence[:60], ",".join(one.needed_by), verdict(one))
            print("{:<22} {:<12} {:<60} {:<14} {}".format(*row).rstrip())
    refused = [one.name for one in found if verdict(one) == "refused"]
    if refused:
        print(f"error: refused: {', '.join(refused)}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
