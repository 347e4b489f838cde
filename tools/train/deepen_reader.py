"""Makes a `deep` reader of a `wide` one that gives nearly the same answers: six layers instead of four.

    python deepen_reader.py --weights WIDE/best.pt --tokenizer-dir TOK --data-dir DATA --out-dir DEEP

Behind each of the two layers in the middle stands a new one. It begins as a copy of the one before it, but adds nothing to what it reads: the
projections whose output is added are zero (Zhang et al., Fixup, 2019). That would be exact but for its two LayerNorms, which normalise what
already is normalised: their weights and biases are fitted to give back what they read.
"""

import argparse
import re

import torch
from tokenizers import Tokenizer

import finetune_reader
import grown_reader
from architectures import reader_config
from schedule import load_weights, single_thread

# The layer of the wide reader that each layer of the deep one begins as; the second of two is the new one.
SOURCE = (0, 1, 1, 2, 2, 3)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
ADDED = ("attention.output.dense", "output.dense")


def is_new(layer):
    return layer > 0 and SOURCE[layer] == SOURCE[layer - 1]


def deepened(state):
    """State of the deep reader, whose new layers add nothing."""
    made = {name: value for name, value in state.items() if ".encoder.layer." not in name}
    for layer, source in enumerate(SOURCE):
        prefix = f"deberta.encoder.layer.{source}."
        for name, value in state.items():
            if not name.startswith(prefix):
                continue
            rest = name.removeprefix(prefix)
            adds = is_new(layer) and any(re.fullmatch(rf"{part}\.(weight|bias)", rest) for part in ADDED)
            made[f"deberta.encoder.layer.{layer}.{rest}"] = torch.zeros_like(value) if adds else value.clone()
    return made


@torch.no_grad()
def fit_norms(model, batch):
    """Each LayerNorm of a new layer gives back what it reads, as well as a weight and a bias for each channel can (least squares)."""
    shown = batch["attention_mask"].flatten() == 1
    modules = dict(model.named_modules())
    for layer in filter(is_new, range(len(SOURCE))):
        for name in NORMS:
            norm, read = modules[f"deberta.encoder.layer.{layer}.{name}"], []
            hook = norm.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].flatten(0, -2)[shown]))
            model.eval()(**batch)
            hook.remove()
            target = read[0].double()  # [tokens, hidden]
            found = torch.nn.functional.layer_norm(target, target.shape[1:], eps=norm.eps)
            spread = found - found.mean(0)
            weight = (spread * (target - target.mean(0))).sum(0) / spread.square().sum(0)
            norm.weight.copy_(weight)
            norm.bias.copy_(target.mean(0) - weight * found.mean(0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    grown_reader.add_arguments(parser, "wide")
    args = parser.parse_args()
    single_thread(1)
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    wide, deep = (finetune_reader.build_model(tokenizer.get_vocab_size(), 0.0, name) for name in ("wide", "deep"))
    if reader_config(0, "deep").num_hidden_layers != len(SOURCE):
        raise ValueError("SOURCE and the configuration differ.")
    state = load_weights(args.weights)
    wide.load_state_dict(state)
    deep.load_state_dict(deepened(state))
    batches = grown_reader.training_batches(args, tokenizer, 200, 8000)
    fit_norms(deep, batches.next(128)[0])
    grown_reader.save(args, wide, deep, batches.next(128)[0])


if __name__ == "__main__":
    main()
