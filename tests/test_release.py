"""What a Compass says of itself, in a checkout, in a wheel and in a source archive."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

from compass import release

ROOT = Path(__file__).resolve().parents[1]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_a_checkout_has_the_commit_of_git(checkout: Path) -> None:
    assert release.commit_of(checkout) == git(checkout, "rev-parse", "HEAD")[:12]


def test_changed_files_are_told(checkout: Path) -> None:
    (checkout / "file").write_text("2")
    assert release.commit_of(checkout) == git(checkout, "rev-parse", "HEAD")[:12] + "+"


def test_a_folder_within_another_checkout_has_none(checkout: Path) -> None:
    inside = checkout / "inside"
    inside.mkdir()
    assert release.commit_of(inside) == ""


def test_a_noted_commit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = tmp_path / "COMMIT"
    noted.write_text("0123456789ab")
    monkeypatch.setattr(release, "NOTED", noted)
    assert release.commit() == "0123456789ab"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not in a checkout")
def test_a_source_archive_notes_its_commit(tmp_path: Path) -> None:
    built = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(next(iter(built))) as archive:
        (name,) = [one for one in archive.getnames() if one.endswith("/src/compass/COMMIT")]
        member = archive.extractfile(name)
        assert member is not None
        assert member.read().decode() == release.commit_of(ROOT)


def test_the_command_tells_version_and_commit() -> None:
    words = [sys.executable, "-m", "compass.cli.main", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    commit = f" (commit {release.commit()})" if release.commit() else ""
    assert done.stdout == f"compass {release.version()}{commit}\n"


def test_the_citation_names_the_same_version() -> None:
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == release.version()
