"""How each kind of model is loaded and asked, inside the process apart."""

import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, EnvironmentProblem
from compass.model.files import keras_check
from compass.model.files.archive import members

Floats = NDArray[np.float64]
Texts = Mapping[int, Sequence[str]]
_EXTRA = {
    "onnx": ("onnxruntime", "onnx"),
    "skops": ("skops.io", "skops"),
    "torchscript": ("torch", "deep"),
    "export": ("torch.export", "deep"),
    "keras": ("keras", "keras"),
    "h5": ("keras", "keras"),
}
_FORESTS = ("RandomForest", "ExtraTrees")


@dataclass(frozen=True, eq=False)
class Runner:
    """A loaded model."""

    predict: Callable[[Floats, Texts], Any]
    facts: dict[str, Any]  # names, count, texts, classes: what it says about itself
    batch: int | None = None  # rows that it must be given at once
    arrays: list[NDArray[Any]] = field(default_factory=list)  # of a forest


def prepare(kind: str) -> None:
    """Import what a kind of model needs, and say which package is missing."""
    tempfile.gettempdir()  # libraries ask for it later, when nothing can be tried out any more
    module, extra = _EXTRA.get(kind, ("joblib", "dev"))
    try:
        import_module(module)
        if kind in ("keras", "h5"):
            import_module("h5py")
        if kind == "skops":
            import_module("sklearn")
        if extra in ("deep", "keras"):
            import_module("torch").set_num_threads(1)
    except ImportError as error:
        raise EnvironmentProblem(
            f"this kind of model needs {error.name or module}, which cannot be imported",
            hint=f"pip install 'compass-hpc[{extra}]'",
        ) from None


def load(kind: str, content: bytes, name: str) -> Runner:
    """The model in these bytes, which were checked before."""
    found: dict[str, Callable[[bytes, str], Runner]] = {
        "onnx": _onnx,
        "skops": _skops,
        "torchscript": _torchscript,
        "export": _export,
        "keras": _keras,
        "h5": _h5,
        "pickle": _pickle,
    }
    return found[kind](content, name)


def _onnx(content: bytes, name: str) -> Runner:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.enable_cpu_mem_arena = False
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    inputs, output = session.get_inputs(), _onnx_output(session, name)
    widths = [_width(node.shape, node.name, len(inputs), name) for node in inputs]
    rows = {node.shape[0] for node in inputs if node.shape and isinstance(node.shape[0], int)}
    if len(rows) > 1:
        raise BadInput(f"the inputs of {name} disagree about the number of rows")
    called = [
        node.name if width == 1 else f"{node.name}[{place}]"
        for node, width in zip(inputs, widths, strict=True)
        for place in range(width or 0)
    ]
    text = [
        place
        for place, node in enumerate(
            node for node, width in zip(inputs, widths, strict=True) for _ in range(width or 0)
        )
        if node.type == "tensor(string)"
    ]

    def predict(X: Floats, texts: Texts) -> Any:
        fed, start = {}, 0
        for node, width in zip(inputs, widths, strict=True):
            columns = X[:, start : start + width] if width is not None else X
            fed[node.name] = _typed(columns, node.type, texts.get(start)).reshape(
                (len(X),) if len(node.shape) == 1 else columns.shape
            )
            start += width or 0
        predicted = session.run([output.name], fed)[0]
        if isinstance(predicted, list):  # a score by class for each row
            return np.array([list(row.values()) for row in predicted], dtype=np.float64)
        return predicted

    single = len(inputs) == 1 and widths[0] != 1
    facts = {
        "names": None if single else called,
        "count": widths[0] if single else len(called),
        "texts": text,
    }
    return Runner(predict, facts, rows.pop() if rows else None)


def _width(shape: Sequence[Any], called: str, inputs: int, name: str) -> int | None:
    """Columns of one input tensor; None: any number."""
    if len(shape) > 2:
        raise BadInput(
            f"input {called} of {name} has {len(shape)} dimensions",
            hint="a model must take a table: rows and columns",
        )
    if len(shape) < 2:
        return 1
    if isinstance(shape[1], int):
        return shape[1]
    if inputs > 1:
        raise BadInput(
            f"input {called} of {name} does not say how many columns it has",
            hint="export the model with a fixed number of columns",
        )
    return None


def _onnx_output(session: Any, name: str) -> Any:
    outputs = session.get_outputs()
    scores = [o for o in outputs if o.type in ("tensor(float)", "tensor(double)")]
    scores += [o for o in outputs if o.type.startswith("seq(map(")]
    chosen = scores or [o for o in outputs if o.type in ("tensor(int64)", "tensor(int32)")]
    if len(chosen) != 1:
        listed = ", ".join(f"{o.name} ({o.type})" for o in outputs)
        raise BadInput(
            f"{name} has {len(chosen)} outputs of numbers: {listed}",
            hint="export the model with one output: the prediction, or the scores of the classes",
        )
    return chosen[0]


def _typed(columns: Floats, kind: str, labels: Sequence[str] | None) -> NDArray[Any]:
    if kind == "tensor(string)":
        known = np.array(labels, dtype=object)
        return np.asarray(known[columns.astype(np.int64)])
    types: dict[str, Any] = {
        "tensor(float)": np.float32,
        "tensor(double)": np.float64,
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
        "tensor(bool)": np.bool_,
        "tensor(float16)": np.float16,
    }
    if kind not in types:
        raise BadInput(f"an input of the kind {kind} cannot be fed", hint="use float inputs")
    return columns.astype(types[kind])


def _skops(content: bytes, name: str) -> Runner:
    from skops import io as skops

    unknown = skops.get_untrusted_types(data=content)
    if unknown:
        raise BadInput(
            f"{name} holds types that skops does not know to be harmless:"
            f" {', '.join(map(str, unknown[:8]))}",
            hint="export it to ONNX, or bring a forest or another model of scikit-learn's own",
        )
    return _estimator(skops.loads(content, trusted=[]), name)


def _estimator(model: Any, name: str) -> Runner:
    """An object with `predict`, and with `predict_proba` if it predicts classes."""
    if not callable(getattr(model, "predict", None)):
        raise BadInput(
            f"{name} holds a {type(model).__name__}, which predicts nothing",
            hint="save the fitted model itself",
        )
    classes = getattr(model, "classes_", None)
    names = getattr(model, "feature_names_in_", None)
    facts = {
        "names": None if names is None else [str(one) for one in names],
        "count": _whole(getattr(model, "n_features_in_", None)),
        "classes": None if classes is None else [_scalar(one) for one in classes],
    }

    def predict(X: Floats, texts: Texts) -> Any:
        del texts
        if classes is None:
            return model.predict(X)
        if hasattr(model, "predict_proba"):
            return model.predict_proba(X)
        chosen = np.asarray(model.predict(X))
        return (chosen[:, None] == np.asarray(classes)[None, :]).astype(np.float64)

    if type(model).__name__.startswith(_FORESTS) and getattr(model, "n_outputs_", 0) == 1:
        return Runner(predict, facts | {"forest": True}, arrays=_forest(model))
    return Runner(predict, facts)


def _forest(model: Any) -> list[NDArray[Any]]:
    """The trees of a forest, one after another: sizes, then the arrays of all nodes."""
    trees = [member.tree_ for member in model.estimators_]
    whole = [
        np.concatenate([np.asarray(getattr(tree, field), dtype=np.int64) for tree in trees])
        for field in ("children_left", "children_right", "feature")
    ]
    return [
        np.array([tree.node_count for tree in trees], dtype=np.int64),
        *whole,
        np.concatenate([np.asarray(tree.threshold, dtype=np.float64) for tree in trees]),
        np.concatenate([np.asarray(tree.value[:, 0, :], dtype=np.float64) for tree in trees]),
    ]


def _torchscript(content: bytes, name: str) -> Runner:
    import torch

    del name
    load_script: Any = torch.jit.load
    model = load_script(io.BytesIO(content), map_location="cpu").eval()
    return Runner(_module(model, _weights_type(model)), {"names": None, "count": None})


def _weights_type(model: Any) -> Any:
    import torch

    kinds = [p.dtype for p in [*model.parameters(), *model.buffers()] if p.is_floating_point()]
    return kinds[0] if kinds else torch.float32


def _module(model: Any, dtype: Any) -> Callable[[Floats, Texts], Any]:
    import torch

    def predict(X: Floats, texts: Texts) -> Any:
        del texts
        with torch.no_grad():
            predicted = model(torch.from_numpy(X.copy()).to(dtype))
        if isinstance(predicted, tuple | list) and len(predicted) == 1:
            predicted = predicted[0]
        if not isinstance(predicted, torch.Tensor):
            raise BadInput(
                f"the model returns a {type(predicted).__name__}", hint="let it return one tensor"
            )
        return predicted.detach().to(torch.float64).numpy()

    return predict


def _export(content: bytes, name: str) -> Runner:
    import torch

    for file, data in members(content, name).items():
        if "/sample_inputs/" in file:
            # Loading would fall back to unpickling whatever this does not accept.
            torch.load(io.BytesIO(data), weights_only=True)
    program = torch.export.load(io.BytesIO(content))
    wanted = program.graph_signature.user_inputs
    taken = [node for node in program.graph.nodes if node.name in wanted]
    if len(taken) != 1 or taken[0].meta["val"].ndim != 2:
        raise BadInput(
            f"{name} takes {len(taken)} inputs, or one that is no table",
            hint="export a model that takes one tensor: rows and columns",
        )
    value = taken[0].meta["val"]
    rows, count = value.shape
    facts = {"names": None, "count": count if isinstance(count, int) else None}
    batch = rows if isinstance(rows, int) else None
    return Runner(_module(program.module(), value.dtype), facts, batch)


def _keras(content: bytes, name: str) -> Runner:
    from keras.src.saving import saving_lib

    for file, data in members(content, name).items():
        if file.endswith(".h5"):
            _plain_h5(data, name)
    load_model = saving_lib._load_model_from_fileobj
    return _layers(load_model(io.BytesIO(content), None, False, True), name)


def _h5(content: bytes, name: str) -> Runner:
    import h5py
    from keras.src.legacy.saving import legacy_h5_format

    _plain_h5(content, name)
    with h5py.File(io.BytesIO(content), "r") as file:
        config = file.attrs.get("model_config")
        if config is None:
            raise BadInput(
                f"{name} holds weights without a model", hint="save it whole: model.save(path)"
            )
        keras_check.check(config, name)
        model = legacy_h5_format.load_model_from_hdf5(file, compile=False, safe_mode=True)
    return _layers(model, name)


def _plain_h5(content: bytes, name: str) -> None:
    """Refuse HDF5 files that reach for other files, or that unfold to far more than they are."""
    import h5py

    total, seen = 0, set()

    def look(group: Any) -> None:
        nonlocal total
        for key in group:
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                raise BadInput(f"{name} links to other places: {key!r}", hint="do not use it")
            item = group[key]
            address = h5py.h5o.get_info(item.id).addr
            if address in seen:
                raise BadInput(f"{name} holds {key!r} twice", hint="do not use it")
            seen.add(address)
            if isinstance(item, h5py.Group):
                look(item)
                continue
            if not isinstance(item, h5py.Dataset):
                raise BadInput(f"{name} holds a type of its own: {key!r}", hint="do not use it")
            if item.external or item.is_virtual:
                raise BadInput(f"{name} wants to read another file: {key!r}", hint="do not use it")
            total += item.size * item.dtype.itemsize
        if total > 2**30:
            raise BadInput(f"{name} unfolds to more than 1 GiB", hint="bring a smaller model")

    with h5py.File(io.BytesIO(content), "r") as file:
        look(file)


def _layers(model: Any, name: str) -> Runner:
    import keras

    shape = model.input_shape
    if isinstance(shape, list | dict) or len(shape) != 2:
        raise BadInput(
            f"{name} takes several inputs, or one that is no table",
            hint="bring a model that takes one tensor: rows and columns",
        )

    def predict(X: Floats, texts: Texts) -> Any:
        del texts
        return keras.ops.convert_to_numpy(model(X.astype(np.float32), training=False))

    return Runner(predict, {"names": None, "count": shape[1]}, shape[0])


def _pickle(content: bytes, name: str) -> Runner:
    """An opted-in pickle: the only place where a file may run code, and it is bounded."""
    if content[:2] == b"PK" or content.startswith(b"\x80\x02\x8a\x0al\xfc\x9cF"):
        import torch

        torch.set_num_threads(1)
        model = torch.load(io.BytesIO(content), map_location="cpu", weights_only=False)
        if not isinstance(model, torch.nn.Module):
            raise BadInput(
                f"{name} holds weights without a model",
                hint="bring the model itself: torch.jit.script(model).save(path)",
            )
        return Runner(_module(model.eval(), _weights_type(model)), {"names": None, "count": None})
    joblib: Any = import_module("joblib")
    return _estimator(joblib.load(io.BytesIO(content)), name)


def _scalar(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, bool | int | float | str) else str(plain)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | np.integer) else None
