"""Trains the zero-shot classifier: does a text entail "This example is ...", for labels that it has not seen.

    python finetune_zero_shot.py --vectors SENTENCE_DIR --out-dir OUT --steps 2000

The model begins as a comparison of the sums of sentence_vectors.py (comparing_sums.py), and so with what they know of any label. Their
judgements of any words as labels keep it there while it learns to read.
Resumes from OUT/checkpoint.pt. Keeps the averaged weights that are best on the choosing parts in OUT/best.pt.
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import DebertaV2ForSequenceClassification

import comparing_sums
import fast_attention
import sentence_vectors
from architectures import zero_shot_config
from finetune_sentiment import Average
from schedule import linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread
from texts import DEFAULT_DATA_DIR
from zero_shot_sets import label_table, labelled_sets, parts_of
from zero_shot_sources import LABELS, Source

NAMES = {0: "entailment", 1: "not_entailment"}
ENTAILMENT = 0
TEMPLATES = ["This example is {}.", "This text is about {}.", "This example is about {}.", "The topic is {}.", "{}."]
DEFAULT_SHARE = 0.6  # of the first template, the default of zero-shot pipelines
LONGEST = 64  # tokens of a text in training
DRAWS = 256  # texts made into batches of similar length at a time


def build_model(vocab_size, dropout):
    return DebertaV2ForSequenceClassification(zero_shot_config(
        vocab_size, dropout, id2label=NAMES, label2id={name: number for number, name in NAMES.items()}))


def padded(texts, hypotheses, vocab):
    """Inputs of [CLS] text [SEP] hypothesis [SEP], one row for each pair."""
    rows = [([vocab["[CLS]"], *text, vocab["[SEP]"]], [*hypothesis, vocab["[SEP]"]])
            for text, hypothesis in zip(texts, hypotheses)]
    width = max(len(first) + len(second) for first, second in rows)
    ids, mask, types = (np.zeros((len(rows), width), dtype=np.int64) for _ in range(3))
    for number, (first, second) in enumerate(rows):
        length = len(first) + len(second)
        ids[number, :length] = first + second
        mask[number, :length] = 1
        types[number, len(first):length] = 1
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask), "token_type_ids": torch.from_numpy(types)}


class Batches:
    """Batches of draws of similar length and about the same number of tokens."""

    def __init__(self, source, texts, phrases, tokenizer, batch_tokens, rng):
        self.source, self.batch_tokens, self.rng, self.queue = source, batch_tokens, rng, []
        self.vocab = tokenizer.get_vocab()
        self.texts, self.phrases = encode(tokenizer, texts), encode(tokenizer, phrases)
        self.templates = [encode(tokenizer, template.split("{}")) for template in TEMPLATES]

    def refill(self):
        pool = sorted(self.source.draws(DRAWS), key=lambda draw: len(self.texts[draw.text]))
        while pool:
            width = min(LONGEST, len(self.texts[pool[-1].text])) + 12
            size = max(2, self.batch_tokens // (LABELS * width))
            self.queue.append(pool[-size:])
            del pool[-size:]
        self.rng.shuffle(self.queue)

    def next(self):
        """Inputs, and what the logits should be, [n, LABELS] twice."""
        if not self.queue:
            self.refill()
        draws, texts, hypotheses = self.queue.pop(), [], []
        for draw in draws:
            before, after = self.templates[0] if self.rng.random() < DEFAULT_SHARE else self.rng.choice(self.templates)
            texts += [self.texts[draw.text][:LONGEST]] * LABELS
            hypotheses += [[*before, *self.phrases[phrase], *after] for phrase in draw.phrases]
        targets = [torch.tensor([getattr(draw, name) for draw in draws]) for name in ("among", "alone")]
        return padded(texts, hypotheses, self.vocab), *targets


def encode(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def losses_of(logits, among, alone):
    """As the pipeline reads the logits: entailment compared over the labels of a text, and each pair by itself."""
    entailment = logits[:, ENTAILMENT].reshape(among.shape)
    compared = F.cross_entropy(entailment, among)
    return compared, F.binary_cross_entropy_with_logits(logits[:, ENTAILMENT] - logits[:, 1 - ENTAILMENT], alone.reshape(-1))


def train_step(model, batch, weight):
    inputs, among, alone = batch
    compared, judged = losses_of(model(**inputs).logits, among, alone)
    (compared + weight * judged).backward()
    floor = -(among * among.clamp_min(1e-9).log()).sum(1).mean()  # cross-entropy that cannot be helped
    return [(compared - floor).item(), judged.item()]


@torch.no_grad()
def predict(model, tokenizer, texts, names):
    """The number of the best of `names` for every text, with the default template."""
    model.eval()
    vocab = tokenizer.get_vocab()
    hypotheses, texts = encode(tokenizer, [TEMPLATES[0].format(name) for name in names]), encode(tokenizer, texts)
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    size, result = max(1, 256 // len(names)), np.zeros(len(texts), dtype=int)
    for start in range(0, len(order), size):
        part = order[start:start + size]
        inputs = padded([texts[number][:256] for number in part for _ in names], hypotheses * len(part), vocab)
        entailment = model(**inputs).logits[:, ENTAILMENT].reshape(len(part), len(names))
        result[part] = entailment.argmax(1).numpy()
    return result


def accuracy(model, tokenizer, rows, names):
    """Percent of rows whose best label is one of theirs; `names` is {key: name}."""
    keys = list(names)
    best = predict(model, tokenizer, [row.text for row in rows], list(names.values()))
    return float(np.mean([keys[number] in row.labels for row, number in zip(rows, best)]) * 100)


def rows_of(sets, table, name, part, most=None):
    """Texts whose labels are all in `part`, and the names of the labels in that part."""
    rows = [row for row in sets[name] if parts_of(row, name, table) == {part}]
    random.Random(0).shuffle(rows)
    return rows[:most], {key: names[0] for key, (label_part, names) in table[name].items() if label_part == part}


def choosing_parts(data_dir):
    """What the weights are chosen by: {name: (texts, labels)}. The test labels have no part in it."""
    table, sets = label_table(), labelled_sets(data_dir, "dev")
    parts = {name: rows_of(sets, table, name, "train", most)
             for name, most in (("clinc150-domains", 100), ("goemotions", 50), ("opinions", 100), ("subjects", 50))}
    parts["new intents"] = rows_of(sets, table, "clinc150", "dev", 150)
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--vectors", type=Path, required=True, help="what sentence_vectors.py wrote")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--loss-weight", type=float, default=0.5, help="of each pair by itself")
    parser.add_argument("--evaluate-every", type=int, default=500, help="steps")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    fast_attention.use()
    tokenizer = Tokenizer.from_file(str(args.vectors / "tokenizer.json"))
    known = load_checkpoint(args.vectors / "vectors.pt")
    text_vectors, phrase_vectors = known["text_vectors"].float(), known["phrase_vectors"].float()
    model = build_model(tokenizer.get_vocab_size(), 0.0)
    sums = sentence_vectors.load(args.vectors)
    comparing_sums.begin(model, sums.tokens.weight.detach(), sums.weights.detach(), tokenizer.get_vocab())
    path, step, best = args.out_dir / "checkpoint.pt", 0, -1.0
    state = load_checkpoint(path) if path.exists() else None
    if state:
        model.load_state_dict(state["model"])
        step, best = state["step"], state["best"]
    optimizer, average = make_optimizer([model]), Average(model, 0.998)
    if state:
        optimizer.load_state_dict(state["optimizer"])
        average.model.load_state_dict(state["average"])
        average.steps = step
    source = Source(args.data_dir, known["texts"], known["phrases"], text_vectors, phrase_vectors, args.seed + step)
    batches = Batches(source, known["texts"], known["phrases"], tokenizer, args.batch_tokens, random.Random(args.seed + step))
    held_out = choosing_parts(args.data_dir)
    print({name: (len(rows), len(names)) for name, (rows, names) in held_out.items()}, flush=True)
    losses, start = [], time.process_time()

    while step < args.steps:
        set_rate(optimizer, args.rate * linear_rate(step / args.steps))
        model.train()
        losses.append(train_step(model, batches.next(), args.loss_weight))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        average.update(model)
        step += 1
        if step % 50 == 0:
            shown = " ".join(f"{name} {value:.3f}" for name, value in
                             zip(("compared", "alone"), np.mean(losses, 0)))
            print(f"step {step} seconds {time.process_time() - start:.0f} {shown}", flush=True)
            losses = []
        if step % args.evaluate_every == 0 or step == args.steps:
            scores = {name: accuracy(average.model, tokenizer, rows, names) for name, (rows, names) in held_out.items()}
            choice = float(np.mean(list(scores.values())))
            print(f"step {step} choosing parts:", {k: round(v, 1) for k, v in scores.items()}, f"mean {choice:.2f}", flush=True)
            if choice > best:
                best = choice
                save_checkpoint(args.out_dir / "best.pt", model=average.model.state_dict())
            save_checkpoint(path, model=model.state_dict(), average=average.model.state_dict(),
                            optimizer=optimizer.state_dict(), step=step, best=best)


if __name__ == "__main__":
    main()
