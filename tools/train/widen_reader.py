"""Makes a `wide` reader of a `narrow` one that gives nearly the same answers, to go on with where the narrow one has no more room.

    python widen_reader.py --weights NARROW/model.safetensors --vectors VECTORS.npy --tokenizer-dir TOK --data-dir DATA --out-dir WIDE

Half of the hidden channels, of the heads and of the inner channels stand twice (Net2Net, Chen et al., 2016). A weight that read one channel
is split between the two copies at random, so that the copies get different gradients (LEMON, Wang et al., 2024); equal halves would
stay equal. That would be exact but for LayerNorm, whose mean and variance change: the hidden channels that stand twice are chosen so
that they change least. Word vectors stand beside the token embeddings that there are, and are read with weight 0 at first.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

import finetune_reader
import grown_reader
from architectures import reader_config
from schedule import load_weights, single_thread

UNEVEN = 0.5  # of the split, in standard deviations of the weight


class Copies:
    """Of `count` channels, `twice` stand a second time, behind all others."""

    def __init__(self, count, twice):
        self.source = torch.cat([torch.arange(count), twice])
        self.first, self.second = twice, count + torch.arange(len(twice))

    def outputs(self, rows):
        return rows[self.source]

    def inputs(self, weight):
        """[out, count] -> [out, count + twice]: the two parts of a weight add up to it."""
        made = weight[:, self.source]
        part = made[:, self.second] * 0.5 + torch.randn(len(made), len(self.second)) * (UNEVEN * weight.std())
        made[:, self.first], made[:, self.second] = part, made[:, self.second] - part
        return made


def widened(state, hidden, heads, inner, vectors):
    """State of the wide reader. `vectors` [vocabulary, n] become the last columns of the token embeddings."""
    made, more = {}, vectors.shape[1]
    for name, value in state.items():
        if name.endswith("word_embeddings.weight"):
            made[name] = torch.cat([value, vectors], dim=1)
        elif name.endswith(("token_type_embeddings.weight", "embed_proj.weight")):
            made[name] = torch.cat([value, torch.zeros(len(value), more)], dim=1)
            if name.endswith("embed_proj.weight"):
                made[name] = hidden.outputs(made[name])
        elif name == "deberta.encoder.rel_embeddings.weight":
            made[name] = value[:, hidden.source]
        elif name.startswith("qa_outputs"):
            made[name] = hidden.inputs(value) if value.ndim == 2 else value
        else:
            out = heads if "attention.self" in name else inner if "intermediate" in name else hidden
            read = heads if "attention.output.dense" in name else inner if ".output.dense" in name else hidden
            made[name] = out.outputs(value)
            if value.ndim == 2:
                made[name] = read.inputs(made[name])
    return made


@torch.no_grad()
def normalised_states(model, batch):
    """[n, hidden]: what the layers of LayerNorm read."""
    found = []
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0].flatten(0, -2)))
    shown = batch["attention_mask"].flatten() == 1
    model.eval()(**batch)
    return torch.cat([states[shown] if len(states) == len(shown) else states for states in found])


def least_change(states, count, tries=2000, swaps=4000):
    """The `count` channels that change mean and variance of the states least when they stand twice."""
    states = states[torch.randperm(len(states))[:4000]]  # time
    width = states.shape[1]
    states = (states - states.mean(1, keepdim=True)) / states.std(1, keepdim=True, correction=0)

    def change(weights):  # [width, n], 1 or 2
        total = width + count
        mean = states @ weights / total
        variance = states.square() @ weights / total - mean.square()
        return (mean.square() + 0.25 * variance.log().square()).mean(0)

    choices = torch.stack([torch.randperm(width) for _ in range(tries)])
    weights = torch.ones(width, tries).scatter_(0, choices[:, :count].T, 2.0)
    best = weights[:, change(weights).argmin()]
    for _ in range(swaps // 100):  # the best of 100 exchanges of one channel, again and again
        twice, once = torch.nonzero(best == 2)[:, 0], torch.nonzero(best == 1)[:, 0]
        near = best[:, None].repeat(1, 101)
        for n in range(1, 101):
            near[twice[torch.randint(len(twice), ())], n] = 1
            near[once[torch.randint(len(once), ())], n] = 2
        best = near[:, change(near).argmin()]
    return torch.nonzero(best == 2)[:, 0], float(change(best[:, None]).sqrt())


def principal(vectors, count):
    """The `count` directions in which word vectors differ most, of variance 1 together."""
    vectors = vectors - vectors.mean(0)
    _, _, directions = torch.linalg.svd(vectors, full_matrices=False)
    made = vectors @ directions[:count].T
    return made / made.std()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    grown_reader.add_arguments(parser, "narrow")
    parser.add_argument("--vectors", type=Path, required=True, help="result of word_vectors.py for the same tokenizer")
    args = parser.parse_args()
    single_thread(1)
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    size, vectors = tokenizer.get_vocab_size(), torch.from_numpy(np.load(args.vectors))
    if len(vectors) != size:
        parser.error(f"{args.vectors} has {len(vectors)} vectors, the tokenizer {size} tokens.")
    narrow, wide = (finetune_reader.build_model(size, 0.0, name) for name in ("narrow", "wide"))
    state = load_weights(args.weights)
    narrow.load_state_dict(state)
    batch, _, _ = grown_reader.training_batches(args, tokenizer, 40, 4000).next(128)

    before, after = reader_config(size, "narrow"), reader_config(size, "wide")
    more = after.hidden_size - before.hidden_size
    twice, change = least_change(normalised_states(narrow, batch), more)
    inner = torch.randperm(before.intermediate_size)[:after.intermediate_size - before.intermediate_size]
    # Heads are as large as before: the first ones stand twice.
    copies = (Copies(before.hidden_size, twice), Copies(before.hidden_size, torch.arange(more)), Copies(before.intermediate_size, inner))
    wide.load_state_dict(widened(state, *copies, principal(vectors, after.embedding_size - before.embedding_size)))
    print(f"LayerNorm's statistics changed by {change:.3f}")
    grown_reader.save(args, narrow, wide, batch)


if __name__ == "__main__":
    main()
