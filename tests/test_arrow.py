"""Columns as arrays: what Arrow's own ways give, without pandas."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compass as cp
from compass.arrow import nulls_of, values_of
from property_examples import examples

KINDS = {
    "int64": (pa.int64(), st.integers(-(2**62), 2**62)),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "uint32": (pa.uint32(), st.integers(0, 2**32 - 1)),
    "float64": (pa.float64(), st.floats()),
    "float32": (pa.float32(), st.floats(width=32)),
    "bool": (pa.bool_(), st.booleans()),
}


@pytest.mark.parametrize("name", KINDS)
@examples(60)
@given(data=st.data())
def test_they_are_what_arrow_gives(name: str, data: st.DataObject) -> None:
    kind, cells = KINDS[name]
    pieces = data.draw(st.lists(st.lists(st.none() | cells, max_size=20), max_size=3))
    column = pa.chunked_array([pa.array(piece, kind) for piece in pieces], kind)
    start = data.draw(st.integers(0, len(column)))
    column = column.slice(start, data.draw(st.integers(0, len(column) - start)))
    zero = False if pa.types.is_boolean(kind) else 0
    expected = pc.fill_null(column, zero).to_numpy()
    np.testing.assert_array_equal(values_of(column), expected)
    assert values_of(column).dtype == expected.dtype
    np.testing.assert_array_equal(nulls_of(column), column.is_null().to_numpy())
    if pa.types.is_floating(kind):
        np.testing.assert_array_equal(values_of(column, np.nan), column.to_numpy())
    for chunk in column.chunks:
        np.testing.assert_array_equal(
            values_of(chunk), pc.fill_null(chunk, zero).to_numpy(zero_copy_only=False)
        )


def test_what_is_in_a_column_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        values_of(pa.array([1.0, 2.0]))[0] = 9


@pytest.mark.parametrize("kind", [pa.null(), pa.large_string(), pa.timestamp("us")])
def test_nulls_of_other_columns(kind: pa.DataType) -> None:
    column = pa.array([None, None, None], kind)
    assert nulls_of(column).tolist() == [True, True, True]
    assert nulls_of(column.slice(1, 0)).tolist() == []
    texts = pa.array(["a", None, "", None, "b"], pa.large_string())
    assert nulls_of(texts.slice(1, 3)).tolist() == [True, False, True]


def test_reading_and_answering_need_no_pandas(engine: cp.Compass, tmp_path: Path) -> None:
    """It is installed here, and its import takes longer than all the rest of a short program."""
    pytest.importorskip("pandas")
    (tmp_path / "runs.csv").write_text("n,t,s\n1,1.5,a\n,2.5,b\n3,,\n4,inf,a\n")
    place = engine.save(tmp_path / "e.compass")
    program = (
        "import sys, compass as cp\n"
        "cp.read(sys.argv[1]).table.fingerprint\n"
        "answer = cp.load(sys.argv[2]).recommend(ask=['gpus'], goals={'runtime': cp.minimize})\n"
        "print(len(answer), 'pandas' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "runs.csv"), str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split()[1:] == ["False"], done.stderr
