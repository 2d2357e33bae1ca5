"""The OpenAPI document as a file: `python -m compass.server.document > web/openapi.json`."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from compass.server.app import create_app
from compass.server.settings import ServerSettings


def document() -> dict[str, Any]:
    """The OpenAPI document; clients are generated from it."""
    with tempfile.TemporaryDirectory() as state:
        app = create_app(ServerSettings(state=Path(state)))
        described = app.openapi()
    # Of the machine, not of the routes; and a new version alone is no other document.
    described["info"]["version"] = "1"
    return described


if __name__ == "__main__":
    sys.stdout.write(json.dumps(document(), indent=1, sort_keys=True) + "\n")
