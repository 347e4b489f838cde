"""Saves a trained demo model, in the hub layout, with F16 weights.

    python export_model.py --weights OUT/best --out-dir MODEL_DIR
"""

import argparse
import math
from pathlib import Path

import torch
import transformers
from transformers import AutoConfig

from shared.training import save_model


@torch.no_grad()
def even_embeddings(model):
    """Where a projection follows the token embeddings, gives their columns one size, by powers of two, and takes it back there.

    No result changes. A row of int8 has one scale: columns of word vectors, ten times as large as those beside them, would leave these three bits.
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
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator)).Q.float()


@torch.no_grad()
def turn_between(model):
    """Turns what lies between two matrices: embeddings and their projection, the values of a head and what is made of them.

    No result changes but by rounding. Where a matrix is nearly diagonal, as those of the zero-shot model's first layers are, one number a row leaves the others of that
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


def load(folder):
    name, = AutoConfig.from_pretrained(folder).architectures
    return getattr(transformers, name).from_pretrained(folder, dtype=torch.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True, help="a saved folder, such as OUT/best of a recipe")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--mix", type=Path, help="another saved folder of the same structure, of whose weights --share is taken")
    parser.add_argument("--share", type=float, default=0.0)
    parser.add_argument("--temperature", type=float, default=1.0, help="divides the logits of a sentiment model")
    parser.add_argument("--cautious", type=float, default=0.5, help="makes a tagger give O half where it gave this chance: it then hides more")
    args = parser.parse_args()
    model = load(args.weights)
    if args.mix:  # a mean with the weights from which the training began: some of what the model forgot comes back
        with torch.no_grad():
            torch._foreach_lerp_(list(model.parameters()), list(load(args.mix).parameters()), args.share)
    for value in model.classifier.out_proj.parameters() if args.temperature != 1 else ():
        value.data /= args.temperature
    if args.cautious != 0.5:
        model.classifier.bias.data[model.config.label2id["O"]] -= math.log(args.cautious / (1 - args.cautious))
    even_embeddings(model)
    turn_between(model)
    save_model(model.half(), args.weights, args.out_dir)
    print((args.out_dir / "model.safetensors").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
