"""Saves a trained demo model in the hub layout with F16 weights.

    python export_model.py --task sentiment|reader|tagger|zero-shot --weights OUT/best.pt --tokenizer-dir TOK --out-dir MODEL_DIR
"""

import argparse
import shutil
from pathlib import Path

from tokenizers import Tokenizer

import finetune_reader
import finetune_sentiment
import finetune_tagger
import finetune_zero_shot
from architectures import READER_SIZES
from schedule import load_checkpoint

TASKS = {"sentiment": finetune_sentiment, "reader": finetune_reader, "tagger": finetune_tagger, "zero-shot": finetune_zero_shot}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=list(TASKS), required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--size", choices=READER_SIZES, help="of the reader")
    args = parser.parse_args()
    size = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json")).get_vocab_size()
    model = TASKS[args.task].build_model(size, 0.1, **({"size": args.size} if args.size else {}))
    model.load_state_dict(load_checkpoint(args.weights)["model"])
    model.half().save_pretrained(args.out_dir, safe_serialization=True)
    (args.out_dir / "model.safetensors").chmod(0o644)
    for name in TOKENIZER_FILES:
        shutil.copyfile(args.tokenizer_dir / name, args.out_dir / name)
    print((args.out_dir / "model.safetensors").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
