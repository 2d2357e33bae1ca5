"""GReaT (be-great 0.0.14): rows completed by a language model. Runs in an environment of its own.

Weights from a hub are not at hand, so the model begins with nothing: a GPT-2 of four layers of 128
with a vocabulary learnt from the table, as Compass's own generator of that kind has. It learns 300
rows for 8 epochs, is given all columns but the asked ones with the middle of the asked range, and
completes the row; for a what-if the outcome is what it completes.
"""

import contextlib
import io
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.masked_peers.case import (
    RECOMMEND,
    WHAT_IF,
    Case,
    Question,
    Reply,
    main,
    replies,
)

ROWS, EPOCHS, BATCH = 300, 8, 32
OUTCOME = "outcome"
VOCABULARY, LENGTH = 1000, 400


def run(case: Case) -> dict[str, list[Reply]]:
    """The replies to recommendations and what-ifs."""
    import torch

    warnings.filterwarnings("ignore")
    torch.manual_seed(case.seed)
    torch.set_num_threads(1)
    some = np.random.default_rng(case.seed).permutation(len(case.X))[:ROWS]
    table = frame(case, case.X[some], case.y[some])
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        model = taught(table, Path(folder), EPOCHS, layers=4, width=128, vocabulary=VOCABULARY)
        took = time.process_time() - began
    print(f"GReaT learnt {len(table)} rows in {took:.0f} CPU s")

    def ask(question: Question) -> Any:
        middle = (question.low + question.high) / 2
        outcome = np.nan if question.kind == WHAT_IF else middle
        row = frame(case, np.array([question.row]), np.array([outcome]))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = model.impute(row, max_length=LENGTH, device="cpu").iloc[0]
        if question.kind == WHAT_IF:
            return None, float(found[OUTCOME]), ""
        told = list(question.row)
        for place in case.asked:
            column, value = case.columns[place], found[case.columns[place].name]
            told[place] = float(value[1:]) if column.labels else column.nearest(float(value))
        return told, None, ""

    return {"GReaT": replies("GReaT", case.of(RECOMMEND, WHAT_IF), ask)}


def frame(case: Case, X: Any, y: Any) -> Any:
    """Encoded rows with their outcome; labels are words, and what is asked for is missing."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for j, column in enumerate(case.columns):
        words = [f"v{int(v)}" if np.isfinite(v) else None for v in X[:, j]]
        columns[column.name] = words if column.labels else X[:, j]
    return pd.DataFrame({**columns, OUTCOME: np.array([float(f"{v:.4g}") for v in y])})


def taught(
    table: Any,
    folder: Path,
    epochs: float,
    *,
    layers: int,
    width: int,
    vocabulary: int,
    **more: Any,
) -> Any:
    """A model that begins with nothing and learns a table, by be-great as it is."""
    from be_great import GReaT

    blank(table, folder / "blank", layers, width, vocabulary)
    model = GReaT(
        str(folder / "blank"),
        experiment_dir=str(folder / "trainer"),
        epochs=epochs,
        batch_size=BATCH,
        learning_rate=1e-3,
        save_strategy="no",
        use_cpu=True,
        **more,
    )
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model.fit(table)
    return model


def blank(table: Any, folder: Path, layers: int, width: int, vocabulary: int) -> None:
    """Weights drawn at random, and byte pairs learnt from the rows as sentences."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    sentences = [
        ", ".join(f"{name} is {value}" for name, value in row.items())
        for row in table.to_dict("records")
    ]
    pairs = ByteLevelBPETokenizer()
    pairs.train_from_iterator(
        sentences, vocab_size=vocabulary, special_tokens=["<|endoftext|>"], show_progress=False
    )
    words = PreTrainedTokenizerFast(
        tokenizer_object=pairs._tokenizer, eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )
    words.save_pretrained(folder)
    end = words.eos_token_id
    heads = max(width // 64, 1)
    config = GPT2Config(
        vocab_size=max(vocabulary, len(words)),
        n_layer=layers,
        n_embd=width,
        n_head=heads,
        bos_token_id=end,
        eos_token_id=end,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)


if __name__ == "__main__":
    main(run, "run_great")
