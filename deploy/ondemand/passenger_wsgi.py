"""What Passenger runs for each user of Open OnDemand; see the guide for operators."""

import os
from pathlib import Path

from compass.server.ondemand import application as made

FOLDER = Path(os.environ.get("COMPASS_ONDEMAND", Path.home() / "ondemand" / "data" / "compass"))

# Past runs of the centre to offer, instead of the embedded ones: made(FOLDER, "/data/runs.parquet")
application = made(FOLDER)
