"""Measures what pre-training gains: half of a time budget for pre-training and half for fine-tuning, against fine-tuning for all of it.

    python tests/bench/pretraining_gain.py --task sentiment|reader --minutes 12 --out FILE.jsonl

Both ways begin with the same random weights of the demo model's architecture. Minutes are processor time of one thread; evaluation and the
preparation of texts do not count. Each line of the result has the scores on development sets after some seconds. Pre-training reads the texts of
the training parts and general English text: masked words, and for the reader also questions with recurring spans (half of its steps each).
Needs what tools/train/requirements.txt names.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import AutoConfig, ConvBertForSequenceClassification, DebertaV2ForQuestionAnswering

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "train"))

import reader
import sentiment
from shared import attention, reading, recurring
from shared.span_batches import Batches, Joined, encode_rows
from shared.texts import DEFAULT_DATA_DIR, general_documents, passages, qamr_rows, reader_rows, sentiment_rows
from shared.training import Average, Tokenizer, cached, descend, equal_length_batches, hide_words, make_optimizer, single_thread, trapezoid_rate

LOOKS = 6  # evaluations of a way
WINDOW, MASKED, FIRST_WORD = 128, 0.15, 5
SENTIMENT = ("rt-polarity", "pros-cons")
# One in so many documents: a run of this length does not read all of them.
DOCUMENTS = {"sentiment": {"standard-ebooks": 6, "openstax": 6}, "reader": {"standard-ebooks": 20, "openstax": 4, "factbook": 4, "us-speeches": 4}}


class Budget:
    """Processor time since the start, without what `paused` spends."""

    def __init__(self, seconds):
        self.seconds, self.begun, self.spent = seconds, time.process_time(), 0.0

    @property
    def elapsed(self):
        return time.process_time() - self.begun - self.spent

    def paused(self, use):
        before = time.process_time()
        use()
        self.spent += time.process_time() - before


class MaskedWords(nn.Module):
    """Whole words to predict by the encoder's own token embeddings: of those chosen, 80 % are hidden and 10 % replaced."""

    def __init__(self, encoder, ids, vocab, rng):
        super().__init__()
        width = encoder.config.embedding_size
        self.dense, self.norm = nn.Linear(encoder.config.hidden_size, width), nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(len(vocab)))
        self.encoder, self.ids, self.rng = [encoder], ids, rng
        self.cls, self.sep, self.mask = (vocab[name] for name in ("[CLS]", "[SEP]", "[MASK]"))
        self.continues = np.array([token.startswith("##") for token in sorted(vocab, key=vocab.get)])

    def loss(self, count):
        starts = self.rng.integers(0, len(self.ids) - WINDOW, (count, 1))
        ids = self.ids[starts + np.arange(WINDOW)].astype(np.int64)
        ids[:, 0], ids[:, -1] = self.cls, self.sep
        words = np.cumsum(~self.continues[ids].reshape(-1))
        chosen = (self.rng.random(words[-1] + 1) < MASKED)[words].reshape(ids.shape) & (ids >= FIRST_WORD)
        kind = self.rng.random(ids.shape)
        read = np.where(chosen & (kind < 0.8), self.mask, ids)
        read = np.where(chosen & (kind >= 0.9), self.rng.integers(FIRST_WORD, len(self.continues), ids.shape), read)
        types = torch.zeros(ids.shape, dtype=torch.long)
        types[::2, 1:] = 1  # Both token types see text.
        hidden = self.encoder[0](input_ids=torch.from_numpy(read), attention_mask=torch.ones_like(types), token_type_ids=types).last_hidden_state
        states = self.norm(F.gelu(self.dense(hidden[torch.from_numpy(chosen)])))
        return F.cross_entropy(states @ self.encoder[0].get_input_embeddings().weight.T + self.bias, torch.from_numpy(ids[chosen]))


def corpus(tokenizer, texts):
    """One stream of token ids; each text ends with [SEP]."""
    texts, end = list(texts), tokenizer.token_to_id("[SEP]")
    random.Random(1).shuffle(texts)
    encoded = (encoding for at in range(0, len(texts), 4000) for encoding in tokenizer.encode_batch(texts[at:at + 4000], add_special_tokens=False))
    return np.concatenate([np.array([*encoding.ids, end], np.uint16) for encoding in encoded])


def general(data_dir, task):
    for name, step in DOCUMENTS[task].items():
        for document in list(general_documents(data_dir, name))[::step]:
            yield from document[1:]


def random_model(model_class, folder):
    """Matrices of variance 1 / inputs, so that states differ from the first step on."""
    model = model_class(AutoConfig.from_pretrained(folder))
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and "embeddings" not in name:
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
    return model


def set_dropout(model, share):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share


class Sentiment:
    model_class, folder, rate, dropout = ConvBertForSequenceClassification, ROOT / "models" / "peruse-sentiment-convbert-tiny", 5e-4, 0.1

    def __init__(self, data_dir, tokenizer, vocab, args):
        self.tokenizer, self.mask, self.seed = tokenizer, vocab["[MASK]"], args.seed
        self.rows = {name: sentiment_rows(data_dir, name, "train") for name in SENTIMENT}
        self.dev = {name: sentiment.encode(tokenizer, sentiment_rows(data_dir, name, "dev")[::1 if name == "rt-polarity" else 4]) for name in SENTIMENT}
        task = [text for rows in self.rows.values() for _, text in rows] + [text for _, text in sentiment_rows(data_dir, "movie-reviews", "train")]
        self.ids = corpus(tokenizer, [*task, *general(data_dir, "sentiment")]) if args.pretraining else None
        self.number, self.queue = 0, []

    def fine_tuning(self, model, progress):
        """As many film sentences as product phrases, in batches of one length."""
        if not self.queue:
            rng = random.Random(f"{self.seed} {self.number}")
            drawn = [row for rows in self.rows.values() for row in rng.sample(rows, 6000)]
            items = sentiment.encode(self.tokenizer, drawn)
            self.queue = [[items[i] for i in batch] for batch in equal_length_batches(items, 4096, 48, rng)]
            self.number += 1
        batch = self.queue.pop()
        ids = hide_words(torch.tensor([ids for ids, _ in batch]), 0.05, self.mask)
        return F.cross_entropy(model(input_ids=ids).logits, torch.tensor([label for _, label in batch]), label_smoothing=0.05)

    def pre_training(self, model, words):
        return words.loss(16)

    def scores(self, model):
        return {f"{name} accuracy": round(sentiment.accuracy(model, items), 2) for name, items in self.dev.items()}


class Reader:
    model_class, folder, rate, dropout = DebertaV2ForQuestionAnswering, ROOT / "models" / "peruse-reader-deberta-tiny", 4e-4, 0.05

    def __init__(self, data_dir, tokenizer, vocab, args):
        self.tokenizer, self.rng = tokenizer, random.Random(args.seed)
        real = encode_rows(tokenizer, [row for part in reader_rows(data_dir, "train").values() for row in part])
        sentence = Joined(encode_rows(tokenizer, qamr_rows(data_dir, "train")), self.rng)
        self.batches = {name: Batches(examples, 2048, self.rng, vocab) for name, examples in (("real", real), ("sentence", sentence))}
        self.dev = reader.choosing_rows(data_dir, 700)
        self.dev_batches = list(self.fixed(encode_rows(tokenizer, self.dev), vocab))
        if args.pretraining:
            recurring.TEXTS = DOCUMENTS["reader"]
            examples = cached(args.out.with_suffix(".pickle"), lambda: encode_rows(tokenizer, recurring.recurring_rows(data_dir, 40000)))
            self.recurring = Batches(examples, 2048, self.rng, vocab)
            self.ids = corpus(tokenizer, [*passages(data_dir, "train"), *general(data_dir, "reader")])
            print(f"{len(examples)} questions with recurring spans", flush=True)

    @staticmethod
    def fixed(examples, vocab):
        batches, seen = Batches(examples, 4096, random.Random(2), vocab), 0
        while seen < len(examples):
            batch = batches.next(WINDOW)
            seen += len(batch[1])
            yield batch

    @staticmethod
    def span_loss(model, batch):
        return reader.span_loss(model, *batch)

    def fine_tuning(self, model, progress):
        """At first half the questions are about sentences, then a tenth: they are easier."""
        name = "sentence" if self.rng.random() < (0.5 if progress < 0.3 else 0.1) else "real"
        return self.span_loss(model, self.batches[name].next(WINDOW))

    def pre_training(self, model, words):
        return words.loss(16) if self.rng.random() < 0.5 else self.span_loss(model, self.recurring.next(WINDOW))

    @torch.no_grad()
    def scores(self, model):
        model.eval()
        loss = np.mean([self.span_loss(model, batch).item() for batch in self.dev_batches])
        exact, f1 = reading.scores(reading.predict(model, self.tokenizer, self.dev), self.dev)
        return {"loss": round(float(loss), 3), "exact": round(exact, 2), "F1": round(f1, 2)}


def train(model, loss_of, modules, rate, budget, until, decay, look=None):
    """Trains until `until` of the budget and leaves the mean of the weights in `model`; returns the number of steps."""
    optimizer, average, begun = make_optimizer([p for module in modules for p in module.parameters()]), Average(model, 0.998), budget.elapsed
    due, losses = [begun + (until * budget.seconds - begun) * (k + 1) / LOOKS for k in range(LOOKS)], []
    while (progress := (budget.elapsed - begun) / (until * budget.seconds - begun)) < 1:
        model.train()
        loss = loss_of(progress)
        descend(optimizer, loss, rate * trapezoid_rate(progress, decay=decay))
        losses.append(loss.item())
        average.update(model)
        while due and budget.elapsed >= due[0]:
            due.pop(0)
            if look:
                budget.paused(lambda: look(average.model, average.steps, float(np.mean(losses[-100:]))))
            else:
                print(f"{budget.elapsed:.0f} s: step {average.steps} loss {np.mean(losses[-100:]):.3f}", flush=True)
    model.load_state_dict(average.model.state_dict())
    return average.steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--task", choices=("sentiment", "reader"), required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--pretraining", type=float, default=0.5, help="share of the minutes; 0 is fine-tuning alone")
    parser.add_argument("--rate", type=float, help="peak learning rate of fine-tuning; that of pre-training is 1.5 times as high")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    attention.use()
    kind = {"sentiment": Sentiment, "reader": Reader}[args.task]
    tokenizer = Tokenizer.from_file(str(kind.folder / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    model = random_model(kind.model_class, kind.folder)
    task = kind(args.data_dir, tokenizer, vocab, args)
    budget, steps, rate = Budget(60 * args.minutes), 0, args.rate or task.rate
    if args.pretraining:
        set_dropout(model, 0.0)
        words = MaskedWords(model.base_model, task.ids, vocab, np.random.default_rng(args.seed))
        print(f"{len(task.ids)} tokens of text", flush=True)
        steps = train(model, lambda _: task.pre_training(model, words), [model, words], 1.5 * rate, budget, args.pretraining, 0.35)
    set_dropout(model, kind.dropout)

    def look(averaged, number, loss):
        line = {"task": args.task, "minutes": args.minutes, "pretraining": args.pretraining, "seconds": round(budget.elapsed), "pre-training steps": steps,
                "steps": number, "training loss": round(loss, 3), **task.scores(averaged)}
        print(line, flush=True)
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    train(model, lambda progress: task.fine_tuning(model, progress), [model], rate, budget, 1.0, 0.5, look)


if __name__ == "__main__":
    main()
