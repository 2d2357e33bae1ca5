"""Which Keras models may be built: nothing but Keras' own numeric layers.

A Keras file names the classes to build it from, and Keras would import what it names. So the
configuration is read as plain JSON first, and every name in it must be on a list.
"""

import json
import re
from typing import Any

from compass.domain.errors import BadInput

MODELS = frozenset({"Sequential", "Functional", "Model"})
# Layers that compute with numbers. Left out on purpose: Lambda and wrappers of other libraries'
# modules, which hold code, and lookups, which read files.
_LAYERS_LISTED = """
    InputLayer Dense EinsumDense Embedding Identity Masking
    Activation ReLU LeakyReLU PReLU ELU Softmax
    BatchNormalization LayerNormalization GroupNormalization UnitNormalization RMSNormalization
    SpectralNormalization Normalization Rescaling Discretization CategoryEncoding
    Dropout AlphaDropout GaussianDropout GaussianNoise ActivityRegularization
    SpatialDropout1D SpatialDropout2D SpatialDropout3D
    Add Average Concatenate Dot Maximum Minimum Multiply Subtract
    Flatten Reshape Permute RepeatVector Cropping1D UpSampling1D ZeroPadding1D
    Conv1D Conv2D Conv3D SeparableConv1D DepthwiseConv1D Conv1DTranspose
    AveragePooling1D MaxPooling1D GlobalAveragePooling1D GlobalMaxPooling1D
    AveragePooling2D MaxPooling2D GlobalAveragePooling2D GlobalMaxPooling2D
    LSTM GRU SimpleRNN Bidirectional TimeDistributed LSTMCell GRUCell SimpleRNNCell
    Attention AdditiveAttention MultiHeadAttention GroupQueryAttention
"""
LAYERS = frozenset(_LAYERS_LISTED.split())
# Small parts, all of whose classes are plain numbers and formulas.
_PARTS = frozenset(
    {"keras.initializers", "keras.regularizers", "keras.constraints", "keras.dtype_policies"}
)
_FORMULAS = frozenset({"keras.src.ops.numpy", "keras.src.ops.nn", "keras.src.ops.math"})
# Names that stand without a module, as `.h5` files write them.
_BARE_LISTED = """
    __keras_tensor__ __tuple__ __ellipsis__ DTypePolicy Policy
    Zeros Ones Constant RandomNormal RandomUniform TruncatedNormal VarianceScaling Orthogonal
    Identity GlorotUniform GlorotNormal HeUniform HeNormal LecunUniform LecunNormal
    L1 L2 L1L2 OrthogonalRegularizer MaxNorm MinMaxNorm NonNeg UnitNorm
"""
_BARE = frozenset(_BARE_LISTED.split())
_CLASS = re.compile(r"[A-Z]\w*")


def check(text: str | bytes, name: str) -> dict[str, Any]:
    """The configuration of a model, without how it was trained (which names more classes).

    Whatever is not Keras' own is refused.
    """
    try:
        config = _untrained(json.loads(text))
        _walk(config, name)
    except (ValueError, RecursionError):
        raise BadInput(
            f"{name} has a damaged Keras configuration", hint="save the model again"
        ) from None
    if not isinstance(config, dict) or config.get("class_name") not in MODELS:
        raise BadInput(
            f"{name} holds no Keras model of layers",
            hint="bring a Sequential or Functional model",
        )
    return config


def _untrained(part: Any) -> Any:
    if isinstance(part, dict):
        kept = {key: value for key, value in part.items() if key != "compile_config"}
        return {key: _untrained(value) for key, value in kept.items()}
    return [_untrained(value) for value in part] if isinstance(part, list) else part


def _walk(part: Any, name: str) -> None:
    if isinstance(part, dict):
        if "class_name" in part or "module" in part:
            _known(part, name)
        for value in part.values():
            _walk(value, name)
    elif isinstance(part, list):
        for value in part:
            _walk(value, name)


def _known(part: dict[str, Any], name: str) -> None:
    module, kind = part.get("module"), part.get("class_name")
    registered = part.get("registered_name")
    if not isinstance(kind, str) or not (module is None or isinstance(module, str)):
        raise ValueError(name)
    if _allowed(module, kind) and registered in (None, kind):
        return
    shown = f"{module}.{kind}" if module else kind
    if kind in ("Lambda", "__lambda__"):
        raise BadInput(
            f"{name} has a Lambda layer, which is Python code in a file",
            hint="write the layer with Keras operations (keras.ops), or export the model to ONNX",
        )
    raise BadInput(
        f"{name} is built from {shown!r}, which is not one of Keras' own numeric layers",
        hint="use layers of keras.layers, or export the model to ONNX",
    )


def _allowed(module: str | None, kind: str) -> bool:
    if module is None:
        return kind in LAYERS | MODELS | _BARE
    if module == "keras":
        return kind in MODELS | {"DTypePolicy"}
    if module == "keras.layers" or module.startswith("keras.src.layers."):
        return kind in LAYERS
    if module.startswith("keras.src.models."):
        return kind in MODELS
    return module in _PARTS | _FORMULAS and _CLASS.fullmatch(kind) is not None
