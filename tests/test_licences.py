"""What Compass brings along, and under which licences."""

import json

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from release.dependencies import Package, extras, packages
from release.licences import verdict
from release.sbom import bill


def test_nothing_with_a_licence_that_binds_its_users_is_brought_along() -> None:
    found = packages()
    assert {"numpy", "lightgbm", "torch", "dask", "mpi4py", "onnxruntime", "skops"} <= set(found)
    assert "pytest" not in found
    assert not [(one.name, one.licence) for one in found.values() if verdict(one) == "refused"]


def test_it_is_said_what_a_package_is_needed_for() -> None:
    found = packages()
    assert found["numpy"].needed_by == ["core"]
    assert {"deep", "keras"} <= set(found["torch"].needed_by) <= set(extras())
    assert "dev" not in extras()


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", "fine"),
        ("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0", "fine"),
        ("Apache-2.0 OR GPL-2.0-only", "fine"),
        ("MPL-2.0 AND MIT", "own files"),
        ("LGPL-3.0-only", "refused"),
        ("GNU General Public License (GPL)", "refused"),
        ("MIT AND GPL-3.0-or-later", "refused"),
        ("BUSL-1.1", "refused"),
        ("Business Source License", "refused"),
        ("Boost Software License 1.0 (BSL-1.0)", "fine"),
        ("", "refused"),
    ],
)
def test_licences_are_told_apart(licence: str, expected: str) -> None:
    assert verdict(Package("a", "1", licence)) == expected


def test_the_bill_of_materials_is_valid() -> None:
    found = bill()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(found)) is None
    assert {"numpy", "torch"} <= {one["name"] for one in found["components"]}
