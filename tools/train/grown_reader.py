"""What the scripts share that make a larger reader of a trained one (widen_reader.py, deepen_reader.py)."""

import random
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file

from examples import encode_rows
from reader_data import Batches
from splits import reader_rows
from texts import DEFAULT_DATA_DIR


def add_arguments(parser, size):
    parser.add_argument("--weights", type=Path, required=True, help=f"of the {size} reader: model.safetensors, or best.pt of a run")
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--out-dir", type=Path, required=True)


def training_batches(args, tokenizer, rows, tokens):
    """Of the first `rows` questions on Wikipedia."""
    examples = encode_rows(tokenizer, reader_rows(args.data_dir, "train")["new-wiki"][:rows])
    return Batches(examples, tokens, random.Random(1), tokenizer.get_vocab())


def save(args, smaller, grown, batch):
    """Says how much the start logits differ, and writes the grown reader with its tokenizer to --out-dir."""
    with torch.no_grad():
        logits = [model.eval()(**batch).start_logits[batch["attention_mask"] == 1] for model in (smaller, grown)]
    print(f"{sum(p.numel() for p in grown.parameters())} parameters; logits of variance {logits[0].var():.2f} changed by "
          f"{(logits[1] - logits[0]).square().mean():.3f}")
    args.out_dir.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in grown.state_dict().items()}, args.out_dir / "model.safetensors")
    shutil.copyfile(args.tokenizer_dir / "tokenizer.json", args.out_dir / "tokenizer.json")
