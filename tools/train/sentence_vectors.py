"""Vectors of sentences and labels: a weighed sum of token vectors, which begin as word vectors and learn which texts belong together.

    python sentence_vectors.py --tokenizer-dir TOK --vectors WORDS.npy --out-dir OUT [--steps 6000]

What belongs together: a question and the sentence that answers it, neighbouring sentences, a title and its paragraphs, a text and its
label, two texts of one label; of labels to train on only. The loss tells a text's partner from those of the rest of the batch. Such sums
train in minutes, and say to the zero-shot model how near any label is to any text. OUT gets the tokenizer and vectors.pt.
"""

import argparse
import random
import re
import shutil
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

from schedule import linear_rate, load_checkpoint, save_checkpoint, set_rate, single_thread
from splits import qamr_rows, reader_rows
from texts import DEFAULT_DATA_DIR, general_documents
from zero_shot_sets import cut, label_table, labelled_sets, parts_of, titled
from zero_shot_sources import MOST_TEXTS, TEMPERATURE, content_words, held_out, training_phrases, training_texts

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
LONGEST = 64  # tokens
SHARES = {"questions": 0.2, "neighbours": 0.3, "titles": 0.1, "labels": 0.3, "same label": 0.1}
NEIGHBOURS = {"openstax": 60000, "standard-ebooks": 40000, "us-speeches": 3000, "factbook": 4000}


class SentenceVectors(nn.Module):
    def __init__(self, tokenizer, size):
        super().__init__()
        self.tokenizer = tokenizer
        self.tokens = nn.EmbeddingBag(tokenizer.get_vocab_size(), size, mode="sum", include_last_offset=True)
        self.weights = nn.Parameter(torch.ones(tokenizer.get_vocab_size()))

    def forward(self, rows):
        flat = torch.from_numpy(np.concatenate(rows).astype(np.int64))
        offsets = torch.from_numpy(np.cumsum([0, *map(len, rows)]))
        return F.normalize(self.tokens(flat, offsets, per_sample_weights=self.weights[flat]), dim=1)

    def encode(self, texts):
        return [encoding.ids[:LONGEST] or [1] for encoding in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    @torch.inference_mode()
    def embed(self, texts):
        """Vectors of length 1, [texts, size]."""
        rows = self.encode(texts)
        return torch.cat([self(rows[start:start + 4096]) for start in range(0, len(rows), 4096)])

    def accuracy(self, rows, names):
        """Percent of rows to which one of their labels is the nearest; `names` is {key: name}."""
        keys = list(names)
        best = (self.embed(row.text for row in rows) @ self.embed(names.values()).T).argmax(1).tolist()
        return float(np.mean([keys[number] in row.labels for row, number in zip(rows, best)]) * 100)


def load(tokenizer_dir):
    """What this script wrote to OUT."""
    state = load_checkpoint(Path(tokenizer_dir) / "vectors.pt")["model"]
    model = SentenceVectors(Tokenizer.from_file(str(Path(tokenizer_dir) / "tokenizer.json")), state["tokens.weight"].shape[1])
    model.load_state_dict(state)
    return model


def begin(model, vectors, counts):
    """Rare tokens weigh more (Arora et al., 2017)."""
    share = torch.from_numpy(counts / counts.sum())
    with torch.no_grad():
        model.tokens.weight.copy_(torch.from_numpy(vectors) / vectors.shape[1] ** 0.5)
        model.weights.copy_(1e-3 / (1e-3 + share))


def pairs_of(data_dir, rng):
    """{what: pairs of texts}."""
    pairs = {"questions": [], "neighbours": [], "titles": []}
    reading = [row for rows in reader_rows(data_dir, "train").values() for row in rows] + qamr_rows(data_dir, "train")
    for row in reading:
        start = row["answers"][0][0]
        before = max(row["context"].rfind(mark, 0, start) for mark in (". ", "? ", "! ")) + 1
        pairs["questions"].append((row["question"], cut(row["context"][max(before, 0):start + 200])))
    contexts = list({row["context"]: None for row in reading})
    sources = [([context for context in contexts], 40000)]
    sources += [([p for document in general_documents(data_dir, name) for p in document[1:]], most) for name, most in NEIGHBOURS.items()]
    for paragraphs, most in sources:
        rng.shuffle(paragraphs)
        found = []
        for paragraph in paragraphs:
            sentences = [s for s in re.split(r"(?<=[.!?]) +", paragraph) if 4 <= len(s.split()) <= 50]
            if len(sentences) > 1:
                at = rng.randrange(len(sentences) - 1)
                found.append((sentences[at], sentences[at + 1]))
            if len(found) >= most:
                break
        pairs["neighbours"] += found
    table = label_table()
    kept_apart = held_out(table)
    for title, _, paragraphs in titled(Path(data_dir) / "classification", table):
        if not any(words <= content_words(title) for words in kept_apart):
            pairs["titles"] += [(title, cut(p)) for p in rng.sample(paragraphs, min(3, len(paragraphs)))]
    return pairs


def labelled_texts(data_dir):
    """{set: {label: (names, texts)}} of labels to train on."""
    table, result = label_table(), {}
    for name, rows in labelled_sets(data_dir, "train").items():
        listed = {key: (names, []) for key, (part, names) in table[name].items() if part == "train"}
        for row in rows[:MOST_TEXTS.get(name, len(rows)) * 2]:
            if parts_of(row, name, table) == {"train"}:
                for key in row.labels:
                    listed[key][1].append(row.text)
        result[name] = {key: value for key, value in listed.items() if value[1]}
    return result


class Batches:
    def __init__(self, data_dir, model, rng, size):
        self.rng, self.size = rng, size
        self.labelled = [(names, model.encode(texts)) for listed in labelled_texts(data_dir).values() for names, texts in listed.values()]
        self.labelled = [(model.encode(names), texts) for names, texts in self.labelled]
        self.pairs = {name: list(zip(model.encode(a for a, _ in found), model.encode(b for _, b in found)))
                      for name, found in pairs_of(data_dir, rng).items()}

    def next(self):
        """Two lists of ids, the partners. A batch of labels holds each label once: partners of others are wrong."""
        rng = self.rng
        name = rng.choices(list(SHARES), SHARES.values())[0]
        if name in self.pairs:
            first, second = zip(*rng.sample(self.pairs[name], min(self.size, len(self.pairs[name]))))
            return first, second
        listed = rng.sample(self.labelled, min(self.size, len(self.labelled)))
        second = [rng.choice(names if name == "labels" else texts) for names, texts in listed]
        return [rng.choice(texts) for _, texts in listed], second


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True, help="result of word_vectors.py")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3)
    args = parser.parse_args()
    single_thread(1)
    rng, start = random.Random(1), time.process_time()
    vectors = np.load(args.vectors)
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    model = SentenceVectors(tokenizer, vectors.shape[1])
    texts = training_texts(args.data_dir)
    counts = np.bincount(np.concatenate(model.encode(texts)), minlength=tokenizer.get_vocab_size()).astype(np.float64)
    begin(model, vectors, counts)
    batches = Batches(args.data_dir, model, rng, args.batch)
    print({name: len(found) for name, found in batches.pairs.items()}, len(batches.labelled), "labels", flush=True)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.0), []
    for step in range(args.steps):
        set_rate(optimizer, args.rate * linear_rate(step / args.steps))
        first, second = (model(rows) for rows in batches.next())
        scores = first @ second.T / TEMPERATURE
        target = torch.arange(len(scores))
        loss = (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)) / 2
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % 500 == 0:
            print(f"step {step + 1} seconds {time.process_time() - start:.0f} loss {np.mean(losses):.3f}", choosing_scores(args, model), flush=True)
            losses = []
    tokens = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    phrases = training_phrases(args.data_dir, texts, tokens)
    args.out_dir.mkdir(parents=True, exist_ok=True)
    for name in TOKENIZER_FILES:
        shutil.copyfile(args.tokenizer_dir / name, args.out_dir / name)
    save_checkpoint(args.out_dir / "vectors.pt", texts=texts, phrases=phrases, model=model.state_dict(),
                    phrase_vectors=model.embed(phrases).half(), text_vectors=model.embed(texts).half())


def choosing_scores(args, model, kept={}):
    """Accuracy on labels that are for choosing; none of them was trained on."""
    if not kept:
        from finetune_zero_shot import choosing_parts  # which imports this module
        kept.update(choosing_parts(args.data_dir))
    return {name: round(model.accuracy(rows, names), 1) for name, (rows, names) in kept.items()}


if __name__ == "__main__":
    main()
