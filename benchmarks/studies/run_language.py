"""What a language model of rows costs, by be-great as it is. Runs in an environment of its own.

`python run_language.py TABLE.csv ROWS` prints JSON: CPU seconds of a step of learning (a batch of
eight rows, be-great's default) and of writing one row, for a small network and for one of the size
of distilgpt2, which GReaT takes by default. Both begin with random weights: the time is the same.
"""

import contextlib
import io
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.masked_peers.run_great import blank

BATCH = 8  # be-great's default
NETWORKS = {  # layers, width, vocabulary
    "small network (4 x 128)": (4, 128, 1000),
    "of the size of distilgpt2 (6 x 768)": (6, 768, 50257),
}


def seconds_of_steps(folder: Path, table: Any, steps: int) -> tuple[float, Any]:
    """CPU seconds of a fit that ends after so many steps, and the model."""
    from be_great import GReaT

    model = GReaT(
        str(folder / "blank"),
        experiment_dir=str(folder / "trainer"),
        epochs=1,
        batch_size=BATCH,
        max_steps=steps,
        save_strategy="no",
        use_cpu=True,
    )
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model.fit(table)
    return time.process_time() - began, model


def main() -> None:
    """Measure both networks."""
    import pandas as pd
    import torch

    warnings.filterwarnings("ignore")
    torch.manual_seed(7)
    torch.set_num_threads(1)
    table = pd.read_csv(sys.argv[1]).head(int(sys.argv[2]))
    found = {}
    for name, (layers, width, vocabulary) in NETWORKS.items():
        few, many = (1, 2) if width > 500 else (5, 25)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            blank(table, folder / "blank", layers, width, vocabulary)
            short, _ = seconds_of_steps(folder, table, few)
            long, model = seconds_of_steps(folder, table, many)
        sentence = ", ".join(f"{key} is {value}" for key, value in table.iloc[0].items())
        tokens = len(model.tokenizer(sentence)["input_ids"])
        start = model.tokenizer(f"{table.columns[0]} is", return_tensors="pt")["input_ids"]
        began = time.process_time()
        model.model.generate(
            start, attention_mask=torch.ones_like(start), do_sample=True,
            min_new_tokens=tokens, max_new_tokens=tokens, pad_token_id=0,
        )  # fmt: skip
        wrote = time.process_time() - began
        parameters = sum(one.numel() for one in model.model.parameters())
        found[name] = {
            "parameters": parameters,
            "step": (long - short) / (many - few),
            "row": wrote,
            "tokens": tokens,
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
