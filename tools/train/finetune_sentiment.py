"""Fine-tunes the sentiment classifier on film sentences, product phrases, comments and whole reviews.

    python finetune_sentiment.py --weights MODEL_DIR/model.safetensors --tokenizer-dir TOK --out-dir OUT --rounds 30

Most texts of a round are sentences that carry no label: varied at every showing, and labelled softly by a teacher
(`opinion_teacher.py`). Keeps the averaged weights of the round that is best on the dev splits in OUT/best.pt. The teacher and a
checkpoint after every round are in OUT, too; the same command goes on from there. Batches hold texts of one length only, since
padding changes what ConvBERT computes.
"""

import argparse
import copy
import random
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import ConvBertForSequenceClassification

from architectures import MAX_LENGTH, convbert_config
from fast_dropout import replace_dropout
from opinion_teacher import OpinionTeacher, best_temperature
from opinion_texts import labelled_rows, product_sentences, review_sentences, varied
from schedule import load_checkpoint, load_weights, make_optimizer, save_checkpoint, set_rate, single_thread, trapezoid_rate
from texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, sentiment_rows

LABELS = {"id2label": {0: "NEGATIVE", 1: "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1}}
LABELLED = {"rt-polarity": 2400, "pros-cons": 2000, "feelings": 1000, "movie-reviews": 30}  # texts of a round
TAUGHT = {"film": 4800, "product": 600, "phrase": 600}  # softly labelled texts of a round
TEACHER_REPEATS = {"rt-polarity": 2}
LONGEST = 6000  # characters of a whole review that is shown
CHOICE_WEIGHTS = {"rt-polarity": 0.5, "pros-cons": 0.35, "movie-reviews": 0.15}


def build_model(vocab_size, dropout=0.1):
    config = convbert_config(vocab_size, **LABELS)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return replace_dropout(ConvBertForSequenceClassification(config))


def encode(tokenizer, rows):
    """(ids, label) pairs, cut to the positions of the model; a soft label is the probability of POSITIVE."""
    tokenizer.enable_truncation(MAX_LENGTH)
    encodings = tokenizer.encode_batch([text for _, text in rows])
    tokenizer.no_truncation()
    return [(encoding.ids, label) for encoding, (label, _) in zip(encodings, rows)]


class Texts:
    """Labelled rows, and what the teacher labels, drawn anew for every round."""

    def __init__(self, data_dir, teacher_path, seed):
        self.rows, self.seed = labelled_rows(data_dir), seed
        sentences = review_sentences(self.rows["movie-reviews"])
        if not teacher_path.exists():
            began = time.process_time()
            OpinionTeacher.fit(self.rows | {"movie-reviews": sentences}, TEACHER_REPEATS).save(teacher_path)
            print(f"teacher fitted in {time.process_time() - began:.0f} processor seconds", flush=True)
        self.teacher = OpinionTeacher.load(teacher_path)
        film = [text for _, text in sentences] + [text for _, text in self.rows["rt-polarity"]] * 2
        phrases = [text for _, text in self.rows["pros-cons"]]
        self.plain = {  # name -> (texts, sets whose weights of the teacher they are read with)
            "film": (film, ["rt-polarity"]), "phrase": (phrases, ["pros-cons"]),
            "product": (product_sentences(data_dir), ["rt-polarity", "pros-cons"])}
        self.temperature = 1.0

    def calibrate(self, data_dir):
        for name in ("rt-polarity", "pros-cons"):
            rows = sentiment_rows(data_dir, name, "dev")
            logits = self.teacher.logits([text for _, text in rows], [name])
            labels = np.array([label for label, _ in rows])
            print(f"teacher on {name} dev: {((logits > 0) == labels).mean() * 100:.2f}", flush=True)
            if name == "rt-polarity":
                self.temperature = best_temperature(logits, labels)
        print(f"temperature {self.temperature:.1f}", flush=True)

    def round(self, number):
        """(chance of POSITIVE, text) rows."""
        rng = random.Random(f"{self.seed} {number}")
        drawn = []
        for name, count in LABELLED.items():
            drawn += [(float(label), text[:LONGEST]) for label, text in rng.sample(self.rows[name], count)]
        for name, count in TAUGHT.items():
            texts, sets = self.plain[name]
            shown = [varied(text, texts, rng) for text in rng.sample(texts, count)]
            logits = torch.from_numpy(self.teacher.logits(shown, sets)) / self.temperature
            drawn += list(zip(torch.sigmoid(logits).tolist(), shown))
        return drawn


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


def run_round(model, average, optimizer, items, args, number, mask_id):
    """Trains on one round's items; the mean loss."""
    rng = random.Random(f"batches {args.seed} {number}")
    batches = equal_length_batches(items, 4096, args.batch, rng)
    losses = []
    for at, batch in enumerate(batches):
        set_rate(optimizer, args.rate * trapezoid_rate((number + at / len(batches)) / args.rounds, 0.02, 0.5))
        ids = torch.tensor([items[i][0] for i in batch])
        labels = torch.tensor([[1 - items[i][1], items[i][1]] for i in batch], dtype=torch.float32)
        model.train()
        losses.append(train_step(model, ids, labels, args.word_dropout, mask_id, args.smoothing))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        average.update(model)
    return float(np.mean(losses))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder", type=Path, help="checkpoint of pretrain.py")
    start.add_argument("--weights", type=Path, help="best.pt of an earlier run, or the model.safetensors of a saved model")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--evaluate-every", type=int, default=5)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--word-dropout", type=float, default=0.05)
    parser.add_argument("--smoothing", type=float, default=0.05)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)

    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    model = build_model(len(vocab), args.dropout)
    if args.weights:
        model.load_state_dict(load_weights(args.weights))
    else:
        model.convbert.load_state_dict(load_checkpoint(args.encoder)["encoder"])
    optimizer = make_optimizer([model], args.weight_decay)
    average = Average(model, 0.998)
    begun, best = 0, 0.0
    path = args.out_dir / "checkpoint.pt"
    if path.exists():
        state = load_checkpoint(path)
        model.load_state_dict(state["model"])
        average.model.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        begun, best, average.steps = state["rounds"], state["best"], state["steps"]
    held_out = {name: encode(tokenizer, sentiment_rows(args.data_dir, name, "dev")) for name in SENTIMENT_SETS}
    texts = Texts(args.data_dir, args.out_dir / "teacher.pt", args.seed)
    texts.calibrate(args.data_dir)
    for number in range(begun, args.rounds):
        torch.manual_seed(args.seed * 1000 + number)
        items = encode(tokenizer, texts.round(number))
        loss = run_round(model, average, optimizer, items, args, number, vocab["[MASK]"])
        print(f"round {number + 1} steps {average.steps} loss {loss:.4f}", flush=True)
        if (number + 1) % args.evaluate_every == 0 or number + 1 == args.rounds:
            shown = {name: accuracy(average.model, part) for name, part in held_out.items()}
            choice = sum(CHOICE_WEIGHTS[name] * value for name, value in shown.items())
            print("dev", {k: round(v, 2) for k, v in shown.items()}, f"choice {choice:.2f}", flush=True)
            if choice > best:
                best = choice
                save_checkpoint(args.out_dir / "best.pt", model=average.model.state_dict(), choice=choice)
        save_checkpoint(path, model=model.state_dict(), average=average.model.state_dict(), optimizer=optimizer.state_dict(),
                        rounds=number + 1, best=best, steps=average.steps)


if __name__ == "__main__":
    main()
