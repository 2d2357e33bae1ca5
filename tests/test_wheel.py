"""What is in a wheel: the compiled library for this platform, the page, and its commit."""

import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from compass import release
from compass.native import build
from compass.server import page

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(next(iter(built)))


def test_the_wheel_has_the_library_for_this_platform_and_every_python(wheel: Path) -> None:
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read("compass/native/kernels.so")
    assert build.digest().encode() in library


def test_the_wheel_has_the_page(wheel: Path) -> None:
    if not page.built():
        pytest.skip("the page is not built: `make page` needs Node.js")
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [one for one in page.BUILT.rglob("*") if one.is_file()]
    inside = {f"compass/server/page/{one.relative_to(page.BUILT)}" for one in files}
    assert inside
    assert inside <= names


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not in a checkout")
def test_the_wheel_notes_its_commit(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("compass/COMMIT").decode() == release.commit_of(ROOT)
