"""Fine-tunes the sentiment classifier on film sentences, product phrases and whole reviews.

    python finetune_sentiment.py --vectors VECTORS.npy --tokenizer-dir TOK --out-dir OUT

Keeps the averaged weights of the epoch that is best on the dev splits in OUT/best.pt. Batches hold texts of one length only,
since padding changes what ConvBERT computes. Sentences of whole reviews take part with the soft labels of an n-gram teacher.
"""

import argparse
import copy
import random
import re
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import ConvBertForSequenceClassification

from architectures import MAX_LENGTH, begin_with_vectors, wide_convbert_config
from fast_dropout import replace_dropout
from ngram_teacher import NgramTeacher
from schedule import linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread
from texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, sentiment_rows

LABELS = {"id2label": {0: "NEGATIVE", 1: "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1}}
SHARES = {"rt-polarity": 2, "pros-cons": 0.6, "movie-reviews": 0.2}  # times an epoch shows each set
CHOICE_WEIGHTS = {"rt-polarity": 0.5, "pros-cons": 0.35, "movie-reviews": 0.15}


def build_model(vocab_size, dropout=0.1):
    config = wide_convbert_config(vocab_size, **LABELS)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return replace_dropout(ConvBertForSequenceClassification(config))


def encode(tokenizer, rows):
    """(ids, label) pairs, cut to the positions of the model; a soft label is the probability of POSITIVE."""
    tokenizer.enable_truncation(MAX_LENGTH)
    encodings = tokenizer.encode_batch([text for _, text in rows])
    tokenizer.no_truncation()
    return [(encoding.ids, label) for encoding, (label, _) in zip(encodings, rows)]


def teacher_rows(train):
    """Sentences of the training reviews with the probability that an n-gram teacher gives them."""
    sentences = [s.strip() for _, text in train["movie-reviews"] for s in re.split(r"(?<= [.!?]) ", text)]
    sentences = [s for s in dict.fromkeys(sentences) if 6 <= s.count(" ") < 60]
    teacher = NgramTeacher(train["rt-polarity"], epochs=2)
    return list(zip(teacher.probabilities(sentences).tolist(), sentences))


def epoch_items(encoded, rng):
    """Texts of one epoch: whole repeats, and a random part for the rest of each share."""
    items = []
    for name, share in SHARES.items():
        items += encoded[name] * int(share)
        items += rng.sample(encoded[name], int(len(encoded[name]) * (share % 1)))
    return items


def equal_length_batches(items, tokens, largest, rng=None):
    """Batches of texts of one length: lists of indexes into `items`."""
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


@torch.no_grad()
def predict(model, items):
    """Logits [items, 2] in the order of `items`."""
    model.eval()
    logits = np.zeros((len(items), 2), dtype=np.float32)
    for batch in equal_length_batches(items, 8192, 128):
        output = model(input_ids=torch.tensor([items[i][0] for i in batch]))
        logits[batch] = output.logits.float().numpy()
    return logits


def accuracy(model, items):
    labels = np.array([label for _, label in items])
    return float((predict(model, items).argmax(1) == labels).mean() * 100)


class Average:
    """Exponential moving average of the weights."""

    def __init__(self, model, decay):
        self.model, self.decay, self.steps = copy.deepcopy(model), decay, 0

    @torch.no_grad()
    def update(self, model):
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - decay)


def train_step(model, ids, labels, drop, mask_id, smoothing):
    hidden = (torch.rand(ids.shape) < drop) & (ids > 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(input_ids=torch.where(hidden, mask_id, ids)).logits
    loss = F.cross_entropy(logits.float(), labels, label_smoothing=smoothing)
    loss.backward()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder", type=Path, help="checkpoint of pretrain.py")
    start.add_argument("--vectors", type=Path, help="result of word_vectors.py")
    start.add_argument("--weights", type=Path, help="best.pt of an earlier run of this script, to continue from")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--word-dropout", type=float, default=0.1)
    parser.add_argument("--smoothing", type=float, default=0.05)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--taught", type=int, default=10000, help="softly labelled sentences in an epoch")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    rng = random.Random(args.seed)

    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    model = build_model(len(vocab), args.dropout)
    if args.weights:
        model.load_state_dict(load_checkpoint(args.weights)["model"])
    elif args.encoder:
        model.convbert.load_state_dict(load_checkpoint(args.encoder)["encoder"])
    else:
        begin_with_vectors(model, model.convbert, args.vectors)
    optimizer = make_optimizer([model], args.weight_decay)
    average = Average(model, 0.998)
    train = {name: sentiment_rows(args.data_dir, name, "train") for name in SENTIMENT_SETS}
    held_out = {name: encode(tokenizer, sentiment_rows(args.data_dir, name, "dev")) for name in SENTIMENT_SETS}
    taught = encode(tokenizer, teacher_rows(train))
    print(f"{len(taught)} sentences with soft labels", flush=True)
    encoded = {name: encode(tokenizer, rows) for name, rows in train.items()}
    best = 0.0
    for epoch in range(args.epochs):
        items = epoch_items(encoded, rng)
        items += rng.sample(taught, min(args.taught, len(taught)))
        batches = equal_length_batches(items, 4096, args.batch, rng)
        losses = []
        for number, batch in enumerate(batches):
            set_rate(optimizer, args.rate * linear_rate((epoch + number / len(batches)) / args.epochs, 0.05))
            ids = torch.tensor([items[i][0] for i in batch])
            labels = torch.tensor([[1 - items[i][1], items[i][1]] for i in batch], dtype=torch.float32)
            model.train()
            losses.append(train_step(model, ids, labels, args.word_dropout, vocab["[MASK]"], args.smoothing))
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            average.update(model)
        shown = {name: accuracy(average.model, part) for name, part in held_out.items()}
        choice = sum(CHOICE_WEIGHTS[name] * value for name, value in shown.items())
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} dev", {k: round(v, 2) for k, v in shown.items()},
              f"choice {choice:.2f}", flush=True)
        if choice > best:
            best = choice
            save_checkpoint(args.out_dir / "best.pt", model=average.model.state_dict(), choice=choice)


if __name__ == "__main__":
    main()
