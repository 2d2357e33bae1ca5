"""What the networks of synthesizers share: torch, weights as plain arrays, heads of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import EnvironmentProblem
from compass.execute.arrays import Stored, checked, damaged
from compass.synth.base import Arrays
from compass.synth.modes import Block

WEIGHT = "weight."


def torch_library() -> Any:
    """The library torch, or what to do without it."""
    try:
        import torch
    except ImportError:
        raise EnvironmentProblem(
            "networks need torch, which is not installed",
            hint="pip install 'compass-hpc[deep]', or use cart",
        ) from None
    return torch


def activated(
    torch: Any, raw: Any, blocks: Sequence[Block], temperature: float, chance: Any
) -> Any:
    """Raw outputs as rows: tanh of scalars, a Gumbel softmax of modes and labels."""
    parts = []
    for block in blocks:
        if block.scalar is not None:
            parts.append(torch.tanh(raw[:, block.scalar : block.scalar + 1]))
        logits = raw[:, block.first : block.first + block.count]
        uniform = torch.rand(logits.shape, generator=chance).clamp(1e-10, 1 - 1e-7)
        noise = -torch.log(-torch.log(uniform))
        parts.append(torch.softmax((logits + noise) / temperature, dim=1))
    return torch.cat(parts, dim=1)


def weights_of(module: Any) -> dict[str, NDArray[np.generic]]:
    """The state of a module as plain arrays."""
    return {
        f"{WEIGHT}{name}": tensor.detach().cpu().numpy().copy()
        for name, tensor in module.state_dict().items()
    }


def load_weights(torch: Any, module: Any, arrays: Arrays, what: str) -> None:
    """Give a module its saved state; arrays of other names, types or shapes are refused."""
    prefix = WEIGHT.replace("|", ".")
    own: Mapping[str, Any] = module.state_dict()
    expected = {
        f"{prefix}{name}": Stored(tensor.numpy().dtype, tuple(tensor.shape))
        for name, tensor in own.items()
    }
    if {name for name in arrays if name.startswith(prefix)} != set(expected):
        raise damaged(what, "its network has other layers")
    found, _ = checked(arrays, expected, what)
    state = {name: torch.from_numpy(found[f"{prefix}{name}"].copy()) for name in own}
    module.load_state_dict(state)
    module.eval()
