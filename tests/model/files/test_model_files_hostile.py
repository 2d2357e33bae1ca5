"""Files made to do harm: each is refused with a reason, and none leaves a trace."""

import gzip
import io
import json
import pickle
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_file_cases import CODED, SPACE, changed, net, onnx_model, quiet, refused

from compass.domain.errors import BadInput, CompassError
from compass.model.base import Task
from compass.model.files import (
    Limits,
    archive,
    bring,
    bring_bytes,
    torch_check,
)
from compass.model.files.limits import landlock
from compass.model.files.sniff import sniff
from property_examples import examples

torch = pytest.importorskip("torch")


class Bomb:
    """Unpickling it would create a file."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (str(self.canary), "w")


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.mark.parametrize(
    "name", ["m.pt", "m.pt2", "m.onnx", "m.skops", "m.joblib", "m.keras", "m.h5", "m.json", "m.txt"]
)
@pytest.mark.parametrize("protocol", [0, 1, 2, 5])
def test_a_pickle_is_refused_whatever_its_name(canary: Path, name: str, protocol: int) -> None:
    content = pickle.dumps(Bomb(canary), protocol=protocol)
    error = refused(content, name, "is a pickle")
    assert "allow_pickle=True" in error.hint
    assert not canary.exists()


@pytest.mark.parametrize("squeeze", [gzip.compress, zlib.compress])
def test_compressed_pickles_are_refused(canary: Path, squeeze: Callable[[bytes], bytes]) -> None:
    refused(squeeze(pickle.dumps(Bomb(canary))), "m.joblib", "is a pickle")
    assert not canary.exists()


@pytest.mark.parametrize("method", ["bz2", "xz", "lzma", "zlib", "gzip"])
def test_joblib_files_are_refused(canary: Path, tmp_path: Path, method: str) -> None:
    import joblib

    joblib.dump({"model": Bomb(canary)}, tmp_path / "m.joblib", compress=(method, 3))
    with pytest.raises(BadInput, match="is a pickle"):
        bring(tmp_path / "m.joblib")
    assert not canary.exists()


@pytest.mark.parametrize("old", [True, False])
def test_whole_torch_files_are_refused(canary: Path, old: bool) -> None:
    made = io.BytesIO()
    with quiet():
        torch.save({"model": Bomb(canary)}, made, _use_new_zipfile_serialization=not old)
    refused(made.getvalue(), "m.pt", "is a pickle")
    assert not canary.exists()


def test_an_allowed_pickle_cannot_write_or_start_programs(canary: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(Bomb(canary)))
    with pytest.raises(BadInput, match=r"cannot be used|predicts nothing"):
        bring(path, columns=CODED, allow_pickle=True)
    if landlock() < 1:  # such a kernel lets an empty file be made, no more
        assert not canary.exists() or canary.stat().st_size == 0
    else:
        assert not canary.exists()


def test_what_came_over_a_network_can_never_allow_a_pickle() -> None:
    with pytest.raises(TypeError):
        bring_bytes(b"", "m.pkl", allow_pickle=True)  # type: ignore[call-arg]


# Archives


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return made.getvalue()


def test_zip_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped(**{"config.json": b"{}", "metadata.json": b"{}", "x": bytes(2**26)})
    assert len(bomb) < 2**17
    monkeypatch.setattr(archive, "EXPANDED", 2**25)
    refused(bomb, "m.keras", "unpacks to 3 files of 64 MiB")
    many = zipped(**{f"{place}": b"" for place in range(archive.MEMBERS + 1)})
    refused(many, "m.keras", "unpacks to 10001 files")


def test_a_member_that_lies_about_its_size_is_refused() -> None:
    honest = zipped(**{"config.json": b"{}" + b" " * 5000, "metadata.json": b"{}"})
    size = struct.pack("<I", 5002)
    assert honest.count(size) == 2
    refused(honest.replace(size, struct.pack("<I", 10)), "m.keras", "damaged archive")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b", "c:\\x", "a\\b"])
def test_names_that_point_outside_are_refused(name: str) -> None:
    refused(zipped(**{"config.json": b"{}", "metadata.json": b"{}", name: b"x"}), "m", "outside")


def test_two_members_of_one_name_are_refused() -> None:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as target:
        warnings.simplefilter("ignore")
        for text in ("{}", "[]"):
            target.writestr("config.json", text)
    refused(made.getvalue(), "m.keras", "two files of the same name")


@examples(80)
@given(st.binary(min_size=1, max_size=200))
def test_noise_is_no_model(noise: bytes) -> None:
    for content in (noise, b"PK\x03\x04" + noise, b"\x08\x09" + noise, b"{" + noise):
        with pytest.raises(CompassError) as told:
            bring_bytes(content, "noise", columns=CODED).fitted(SPACE, "runtime", Task())
        assert told.value.hint


def test_empty_files_and_other_things_are_told() -> None:
    refused(b"", "m.onnx", "is empty")
    refused(b"binf\x00\x00", "m.model", "old binary format")
    refused(b'{"tree_info": []}', "m.json", "dump for people")
    refused(b"nodes,size\n1,2\n", "m.csv", "no model that Compass knows")
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(3))
    refused(buffer.getvalue(), "m.npz", "no model that Compass knows")


# ONNX


def with_weights(folder: Path, change: Callable[[Any], None]) -> bytes:
    from onnx import TensorProto, helper, load

    weights = helper.make_tensor("t", 1, [3, 1], [1.0] * 3)
    nodes = [
        helper.make_node("Constant", [], ["w"], value=weights),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    model = load(onnx_model(folder, [("x", TensorProto.FLOAT, [None, 3])], nodes))
    change(model)
    return bytes(model.SerializeToString())


def external(tensor: Any) -> None:
    from onnx import TensorProto

    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "../../etc/passwd"


def in_an_initializer(model: Any) -> None:
    from onnx import helper

    model.graph.initializer.append(helper.make_tensor("v", 1, [3], [1.0] * 3))
    external(model.graph.initializer[0])


def in_a_branch(model: Any) -> None:
    from onnx import helper

    inner = helper.make_tensor("t", 1, [1], [1.0])
    external(inner)
    constant = helper.make_node("Constant", [], ["c"], value=inner)
    graph = helper.make_graph([constant], "inner", [], [])
    model.graph.node.append(
        helper.make_node("If", ["x"], ["z"], then_branch=graph, else_branch=graph)
    )


@pytest.mark.parametrize(
    "change",
    [in_an_initializer, in_a_branch, lambda model: external(model.graph.node[0].attribute[0].t)],
)
def test_onnx_that_reads_other_files_is_refused(
    tmp_path: Path, change: Callable[[Any], None]
) -> None:
    pytest.importorskip("onnx")
    refused(with_weights(tmp_path, change), "m.onnx", "another file: '../../etc/passwd'")


def test_onnx_with_operators_of_its_own_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnx")

    def strange(model: Any) -> None:
        model.graph.node[1].domain = "com.example"

    refused(with_weights(tmp_path, strange), "m.onnx", "com.example.MatMul")


def test_truncated_onnx_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    content = with_weights(tmp_path, lambda model: None)
    for size in (1, 5, len(content) // 2, len(content) - 3):
        refused(content[:size], "m.onnx", "damaged|no model|cannot be used")


def test_an_onnx_model_that_wants_too_much_memory_is_stopped(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Constant", [], ["shape"], value_ints=[2**17, 2**17]),
        helper.make_node("Expand", ["x", "shape"], ["big"]),
        helper.make_node("ReduceSum", ["big"], ["y"]),
    ]
    path = onnx_model(tmp_path, [("x", TensorProto.FLOAT, [1, 1])], nodes)
    with pytest.raises(BadInput, match="more memory than it may use") as told:
        bring(path, columns=["size"]).fitted(SPACE, "runtime", Task())
    assert "Limits(memory=" in told.value.hint


# PyTorch


class Endless(torch.nn.Module):
    """Never ends once it is asked."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = 0
        while count >= 0:
            count = (count + 1) % 7
        return x


class Reader(torch.nn.Module):
    """Would read a file of the machine that it runs on."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.from_file("/etc/passwd", size=8).sum()


def scripted(module: Any) -> bytes:
    with quiet():
        return bytes(torch.jit.script(module).save_to_buffer())


def test_torchscript_without_end_is_stopped_and_tried_anew() -> None:
    limits = Limits(seconds=1.0)
    brought = bring_bytes(scripted(Endless()), "m.pt", columns=CODED, limits=limits)
    process = brought.opened.sandbox._child.process  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="took longer than 1 s to predict") as told:
        brought.fitted(SPACE, "runtime", Task())
    assert "Limits(seconds=" in told.value.hint
    assert process is not None
    assert process.poll() is not None


def test_torchscript_that_reads_files_is_refused() -> None:
    refused(scripted(Reader()), "m.pt", "not about tensors: 'from_file'")


@pytest.fixture(scope="module")
def exported() -> bytes:
    made = io.BytesIO()
    dynamic = ({0: torch.export.Dim("rows")},)
    with quiet():
        program = torch.export.export(net(), (torch.zeros(4, 3),), dynamic_shapes=dynamic)
        torch.export.save(program, made)
    return made.getvalue()


def sizes(expression: str, files: dict[str, bytes]) -> None:
    """Another formula for every size that is not fixed."""
    written = 0
    for name, content in files.items():
        if name.endswith(".json"):
            new = f'"expr_str": {json.dumps(expression)}'.encode()
            files[name], count = re.subn(rb'"expr_str": "[^"]*"', lambda _, new=new: new, content)
            written += count
    assert written > 0


def test_exported_graphs_may_only_name_operators_of_tensors(exported: bytes) -> None:
    def edit(old: bytes, new: bytes) -> bytes:
        def change(files: dict[str, bytes]) -> None:
            for name, content in files.items():
                if name.endswith(".json"):
                    files[name] = content.replace(old, new)

        return changed(exported, change)

    assert sniff(exported, "m") == "export"
    operator = b'"torch.ops.aten.linear.default"'
    for target in (b'"torch.os.system"', b'"torch.ops.aten.from_file.default"', b'"torch.load"'):
        refused(edit(operator, target), "m.pt2", "not about tensors")
    for expression in ("__import__('os').system('touch canary')", "().__class__", "lambda: 0"):
        harmful = changed(exported, partial(sizes, expression))
        refused(harmful, "m.pt2", "no plain formula")
    for expression in ("s77 + 1", "Max(1, s0)", "2*s1"):
        assert torch_check._plain_expression(expression)
    for expression in ("__import__('os')", "os.system", "s0.x", "open('a b')", "x[0]", 3):
        assert not torch_check._plain_expression(expression)
    refused(edit(b'"use_pickle": false', b'"use_pickle": true'), "m.pt2", "unpickled")
    refused(edit(b"builtins.tuple", b"collections.defaultdict"), "m.pt2", "inputs of the kind")


def test_exported_archives_hold_nothing_else(exported: bytes, canary: Path) -> None:
    root = next(iter(archive.members(exported, "m"))).partition("/")[0]

    def more(name: str) -> bytes:
        return changed(exported, lambda files: files.update({f"{root}/{name}": b"x"}))

    for name in ("data/aotinductor/model/m.so", "data/constants/custom_obj_0", "code/a.py"):
        refused(more(name), "m.pt2", "no exported graph needs")

    def bomb(files: dict[str, bytes]) -> None:
        made = io.BytesIO()
        torch.save(Bomb(canary), made)
        for name in files:
            if "/sample_inputs/" in name:
                files[name] = made.getvalue()

    refused(changed(exported, bomb), "m.pt2", "cannot be used")
    assert not canary.exists()


def test_truncated_torch_files_are_refused(exported: bytes) -> None:
    for content in (exported, scripted(net())):
        refused(content[: len(content) // 2], "m.pt", "damaged archive")
