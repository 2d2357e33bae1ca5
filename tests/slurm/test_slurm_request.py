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
    assert found.memory_per_cpu
    assert found.exclusive
    path.write_text("#!/bin/bash\n#SBATCH --mem=lots\n")
    with pytest.raises(BadInput, match="--mem=lots is no size"):
        request_of_script(path, None)
    path.write_text("#!/bin/bash\n#SBATCH --time='1\n")
    with pytest.raises(BadInput, match="cannot be read"):
        request_of_script(path, None)
    with pytest.raises(BadInput, match="cannot read"):
        request_of_script(tmp_path / "nowhere.sh", None)


@pytest.mark.parametrize(
    ("lines", "gpus"),
    [
        ("#SBATCH --gpus=a100:2", 2),
        ("#SBATCH -N 2 --gpus-per-node=4", 8),
        ("#SBATCH -n 6 --gpus-per-task=v100:1", 6),
        ("#SBATCH -N 2 --gres=tmp:5,gpu:a100:2", 4),
        ("#SBATCH --gres=gpu", 1),
        ("#SBATCH --gres=tmp:5 --mem=0", None),
    ],
)
def test_gpus_are_those_of_the_job(tmp_path: Path, lines: str, gpus: float | None) -> None:
    path = tmp_path / "job.sh"
    path.write_text(f"#!/bin/bash\n{lines}\n")
    found = request_of_script(path, None)
    assert found.gpus == gpus
    assert found.exclusive == ("--mem=0" in lines)  # all memory of a node is all of the node
    assert not found.memory_per_cpu
