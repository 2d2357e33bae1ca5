"""Job scripts are read as sbatch reads them."""

from pathlib import Path

import pytest

from compass.domain.errors import BadInput
from compass.slurm.request import options_of_script, request_of_script

SCRIPT = """#!/bin/bash
#SBATCH -J "my job" -t 90   # ninety minutes
#SBATCH --mem-per-cpu=500M
#SBATCH -n 4 -c2
#SBATCH --nodes 2 --exclusive
#SBATCH -p debug
# a comment
srun ./program
#SBATCH --time=1
"""


def test_options_long_and_short() -> None:
    assert options_of_script(SCRIPT) == {
        "job-name": "my job",
        "time": "90",
        "mem-per-cpu": "500M",
        "ntasks": "4",
        "cpus-per-task": "2",
        "nodes": "2",
        "exclusive": "",
        "partition": "debug",
    }


def test_a_script_is_a_request(tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text(SCRIPT)
    found = request_of_script(path, "me")
    assert (found.user, found.name, found.partition) == ("me", "my job", "debug")
    assert (found.limit, found.cores, found.nodes) == (5400, 8, 2)
    assert found.memory == 500 * 2**20 * 4  # of a node
    path.write_text("#!/bin/bash\n#SBATCH --mem=lots\n")
    with pytest.raises(BadInput, match="--mem=lots is no size"):
        request_of_script(path, None)
    path.write_text("#!/bin/bash\n#SBATCH --time='1\n")
    with pytest.raises(BadInput, match="cannot be read"):
        request_of_script(path, None)
    with pytest.raises(BadInput, match="cannot read"):
        request_of_script(tmp_path / "nowhere.sh", None)
