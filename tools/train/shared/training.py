"""What the recipes share: arguments, a saved model to go on from, batches, the rate's schedule, a mean of the weights, checkpoints."""

import argparse
import copy
import os
import pickle
import random
import shutil
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from shared.texts import DEFAULT_DATA_DIR

MAX_LENGTH = 512  # positions of the models
MASK_LENGTH = 1 << 23
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
USUAL_DROPOUT = 0.1  # what a saved configuration says


class SlicedDropout(nn.Module):
    """Dropout whose masks are slices of one long random mask: to draw a number for every value is slow on a CPU."""

    masks = {}

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        key = (self.p, x.dtype)
        if key not in self.masks:
            self.masks[key] = ((torch.rand(MASK_LENGTH) >= self.p) / (1 - self.p)).to(x.dtype)
        count = x.numel()
        if count > MASK_LENGTH:
            return nn.functional.dropout(x, self.p)
        start = int(torch.randint(MASK_LENGTH - count + 1, ()))
        return x * self.masks[key][start:start + count].view_as(x)


def recipe_parser(doc, length, **settings):
    """Parser of a recipe's arguments. `length` is what its run counts, rounds or steps; `settings` are numbers with their defaults."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--weights", type=Path, required=True, help="folder of a saved model of the recipe")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument(f"--{length}", type=int, required=True)
    for name, value in {**settings, "seed": 1}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return parser


def load_model(model_class, folder, dropout, **config):
    model = model_class.from_pretrained(folder, dtype=torch.float32, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout, **config)
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, SlicedDropout(child.p))
    return model, Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))


def save_model(model, tokenizer_dir, out_dir):
    model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = USUAL_DROPOUT
    model.save_pretrained(out_dir, safe_serialization=True)
    (out_dir / "model.safetensors").chmod(0o644)
    for name in TOKENIZER_FILES:
        if (tokenizer_dir / name).exists():
            shutil.copyfile(tokenizer_dir / name, out_dir / name)


def single_thread(seed):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(seed)


def trapezoid_rate(progress, warmup=0.02, decay=0.35):
    """Factor on the peak rate: linear warm-up, constant, then linear decay; the constant part may be made longer while it lasts."""
    return min(max(progress / warmup, 0.01), 1.0, max((1 - progress) / decay, 0.01))


def at(stages, progress):
    """The value of the last stage that has begun."""
    return [value for start, value in stages if progress >= start][-1]


def make_optimizer(parameters, weight_decay=0.01):
    parameters = list(parameters)
    groups = [{"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
              {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-6, fused=True)


def descend(optimizer, loss, rate):
    """One step along the gradient of `loss`, at this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss.backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()
    optimizer.zero_grad()


class Average:

    def __init__(self, model, decay):
        self.model, self.decay, self.steps = copy.deepcopy(model), decay, 0

    @torch.no_grad()
    def update(self, model):
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - decay)


class Run:
    """A model in training. Goes on from OUT/checkpoint.pt if there is one; OUT/best is the mean of the weights that was best so far.

    `number` counts what the recipe calls finished: rounds or steps.
    """

    def __init__(self, model, folder, out_dir, average=0.998, save=save_model):
        """`save(model, folder, out_dir)` writes a model with the tokenizer of `folder`."""
        self.model, self.folder, self.out_dir, self.write = model, Path(folder), Path(out_dir), save
        self.optimizer, self.average = make_optimizer(model.parameters()), Average(model, average)
        self.number, self.best = 0, float("-inf")
        self.path = self.out_dir / "checkpoint.pt"
        if self.path.exists():
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            self.model.load_state_dict(state["model"])
            self.average.model.load_state_dict(state["average"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.average.steps, self.best, self.number = state["steps"], state["best"], state["number"]

    def step(self, loss, rate):
        """One step; the loss as a number."""
        descend(self.optimizer, loss, rate)
        self.average.update(self.model)
        return loss.item()

    def keep(self, choice):
        """Keeps the mean of the weights if `choice`, what the dev parts say of it, is the best so far."""
        if choice > self.best:
            self.best = choice
            self.write(copy.deepcopy(self.average.model), self.folder, self.out_dir / "best")

    def save(self):
        """Writes a second file and renames it, so that nobody reads half a checkpoint."""
        self.out_dir.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        torch.save({"model": self.model.state_dict(), "average": self.average.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "steps": self.average.steps, "best": self.best, "number": self.number}, partial)
        os.replace(partial, self.path)


def train_rounds(run, args, texts_of, loss_of, choice, tokens, decay):
    """Trains up to `args.rounds` rounds. `texts_of(number)` returns a round's texts, each (ids, ...), `loss_of(texts)` the loss of texts of one
    length, and `choice(model)` a number to choose the best round by. The rate falls over the last part `decay` of the rounds.
    """
    while run.number < args.rounds:
        texts, losses = texts_of(run.number), []
        batches = equal_length_batches(texts, tokens, args.batch, random.Random(f"batches {args.seed} {run.number}"))
        run.model.train()
        for index, batch in enumerate(batches):
            loss = loss_of([texts[i] for i in batch])
            losses.append(run.step(loss, args.rate * trapezoid_rate((run.number + index / len(batches)) / args.rounds, decay=decay)))
        run.number += 1
        print(f"round {run.number} steps {run.average.steps} loss {sum(losses) / len(losses):.4f} after {time.process_time():.0f} s", flush=True)
        run.keep(choice(run.average.model))
        run.save()


def train_steps(run, args, loss_of, choice, decay):
    """Trains up to `args.steps` steps. `loss_of(progress)` returns the loss of the next batch, and `choice(model)` a number to choose the best step by."""
    losses, saved = [], time.monotonic()
    while run.number < args.steps:
        progress = run.number / args.steps
        run.model.train()
        losses.append(run.step(loss_of(progress), args.rate * trapezoid_rate(progress, decay=decay)))
        run.number += 1
        if run.number % args.evaluate_every == 0 or run.number == args.steps:
            print(f"step {run.number} loss {sum(losses) / len(losses):.3f}", flush=True)
            losses = []
            run.keep(choice(run.average.model))
        if time.monotonic() - saved > 120 or run.number == args.steps:
            run.save()
            saved = time.monotonic()


def equal_length_batches(items, tokens, largest, rng=None):
    """Batches of texts of one length, as lists of indexes into `items`, whose first members are lists of ids.

    ConvBERT's convolutions do not look at the attention mask, so padding would change what it computes.
    """
    by_length = {}
    order = list(range(len(items)))
    if rng:
        rng.shuffle(order)
    for index in order:
        by_length.setdefault(len(items[index][0]), []).append(index)
    batches = []
    for length, indexes in by_length.items():
        size = max(1, min(largest, tokens // length))
        batches += [indexes[i:i + size] for i in range(0, len(indexes), size)]
    if rng:
        rng.shuffle(batches)
    return batches


def padded(rows, second):
    """Inputs of rows of token ids, filled up to one length; row i is of the second token type from `second[i]` on."""
    ids, mask, types = (torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long) for _ in range(3))
    for number, (row, start) in enumerate(zip(rows, second)):
        ids[number, :len(row)] = torch.as_tensor(row)
        mask[number, :len(row)] = 1
        types[number, start:len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def cached(path, make):
    """Returns the result of `make()`, and keeps it in a file: some texts take a minute to collect."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(make()))
    return pickle.loads(path.read_bytes())


def hide_words(ids, share, mask_id):
    """Some tokens become [MASK], so that no single word is relied on. Ids below 5 are special tokens."""
    return torch.where((torch.rand(ids.shape, device=ids.device) < share) & (ids > 4), mask_id, ids)
