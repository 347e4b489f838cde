"""Saves a trained demo model in the hub layout with F16 weights.

    python export_model.py --task sentiment|reader|tagger|zero-shot --weights OUT/best.pt --tokenizer-dir TOK --out-dir MODEL_DIR
"""

import argparse
import shutil
from pathlib import Path

import torch
from tokenizers import Tokenizer

import finetune_reader
import finetune_sentiment
import finetune_tagger
import finetune_zero_shot
from architectures import READER_SIZES
from schedule import load_checkpoint

TASKS = {"sentiment": finetune_sentiment, "reader": finetune_reader, "tagger": finetune_tagger, "zero-shot": finetune_zero_shot}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


@torch.no_grad()
def even_embeddings(model):
    """Where a projection follows the token embeddings, gives their columns one size, by powers of two, and takes it back there.

    No result changes. A row of int8 has one scale: columns of word vectors, ten times as large as those beside them (widen_reader.py), would
    leave these three bits.
    """
    embeddings = next((module for module in model.modules() if hasattr(module, "embed_proj")), None)
    if embeddings is None or embeddings.embed_proj is None:
        return
    tables = embeddings.word_embeddings, embeddings.token_type_embeddings
    size = sum(table.weight.square().mean(dim=0) for table in tables).sqrt().clamp_min(2.0 ** -10).log2()
    factor = (size.mean() - size).round().exp2()
    for table in tables:
        table.weight.mul_(factor)
    embeddings.embed_proj.weight.div_(factor)


def turn(size, generator):
    """A random rotation, [size, size]."""
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator)).Q.float()


@torch.no_grad()
def turn_between(model):
    """Turns what lies between two matrices: embeddings and their projection, the values of a head and what is made of them.

    No result changes but by rounding. Where a matrix is nearly diagonal, as comparing_sums.py makes them, one number a row leaves the others of that
    row few levels of int8; turned, all are of one size.
    """
    generator = torch.Generator().manual_seed(0)
    for module in model.modules():
        if getattr(module, "embed_proj", None) is not None:
            turned = turn(module.embed_proj.in_features, generator)
            for table in (module.word_embeddings, module.token_type_embeddings, module.embed_proj):
                table.weight.copy_(table.weight @ turned)
        if hasattr(module, "self") and hasattr(module.self, "value_proj"):
            value, output = module.self.value_proj, module.output.dense
            width = value.out_features // module.self.num_attention_heads
            for start in range(0, value.out_features, width):
                head, turned = slice(start, start + width), turn(width, generator)
                value.weight[head], value.bias[head] = turned @ value.weight[head], turned @ value.bias[head]
                output.weight[:, head] = output.weight[:, head] @ turned.T


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
    even_embeddings(model)
    turn_between(model)
    model.half().save_pretrained(args.out_dir, safe_serialization=True)
    (args.out_dir / "model.safetensors").chmod(0o644)
    for name in TOKENIZER_FILES:
        shutil.copyfile(args.tokenizer_dir / name, args.out_dir / name)
    print((args.out_dir / "model.safetensors").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
