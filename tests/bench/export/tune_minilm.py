"""Fine-tunes all-MiniLM-L6-v2 on labelled sets, for precision.mjs: one model for each task, with real weights and a real head.

    python tune_minilm.py <folder of all-MiniLM-L6-v2> <folder of the training data> <folder for the results> [name ...]

On two cores this takes about half an hour.
"""

import gzip
import json
import math
import random
import sys
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

PER_LABEL = 40
BATCH = 16
RATE = 1.5e-4


def lines_of(path):
    return gzip.open(path, "rt", encoding="utf8").read().strip().split("\n")


def opinions(data):
    return [(text, label) for label, text in (line.split("\t", 1) for line in lines_of(data / "classification/rt-polarity-train.tsv.gz"))]


def banking(data):
    return [(text, label) for label, text in (line.split("\t", 1) for line in lines_of(data / "classification/banking77-train.tsv.gz"))]


def clinc(data):
    return [tuple(row) for row in json.loads(lines_of(data / "classification/clinc150-train-val.json.gz")[0])["train"]]


def entities(data):
    rows = []
    for set_name in ("wikigold", "wnut17"):
        text = "\n".join(lines_of(data / f"ner/{set_name}-train.conll.gz"))
        for block in text.split("\n\n"):
            words = [line.split() for line in block.split("\n") if len(line.split()) == 2]
            if words:
                rows.append(([word for word, _ in words], ["O" if tag == "O" else TYPES.get(tag[2:], tag[2:]) for _, tag in words]))
    return rows


TYPES = {"person": "PER", "corporation": "ORG", "group": "ORG", "location": "LOC", "creative-work": "MISC", "product": "MISC"}
CASES = {"clinc150": (clinc, 3), "banking77": (banking, 3), "rt-polarity": (opinions, 1), "entities": (entities, 3)}


def some_of_each(rows, most):
    counts = {}
    random.Random(1).shuffle(rows)
    chosen = []
    for text, label in rows:
        counts[label] = counts.get(label, 0) + 1
        if counts[label] <= most:
            chosen.append((text, label))
    return chosen


def encode_words(tokenizer, batch, ids):
    found = tokenizer([words for words, _ in batch], is_split_into_words=True, truncation=True, max_length=96, padding=True, return_tensors="pt")
    labels = torch.full(found["input_ids"].shape, -100)
    for row, (_, tags) in enumerate(batch):
        last = None
        for column, word in enumerate(found.word_ids(row)):
            if word is not None and word != last:
                labels[row, column] = ids[tags[word]]
            last = word
    return found, labels


def encode_texts(tokenizer, batch, ids):
    found = tokenizer([text for text, _ in batch], truncation=True, max_length=96, padding=True, return_tensors="pt")
    return found, torch.tensor([ids[label] for _, label in batch])


def tune(source, data, folder, name):
    read, epochs = CASES[name]
    rows = read(data)
    is_words = name == "entities"
    labels = sorted({tag for _, tags in rows for tag in tags} if is_words else {label for _, label in rows})
    if len(labels) > 2 and not is_words:
        rows = some_of_each(rows, PER_LABEL)
    ids = {label: index for index, label in enumerate(labels)}
    tokenizer = AutoTokenizer.from_pretrained(source)
    torch.manual_seed(1)
    kind = AutoModelForTokenClassification if is_words else AutoModelForSequenceClassification
    model = kind.from_pretrained(source, id2label=dict(enumerate(labels)), label2id=ids).train()
    encode = encode_words if is_words else encode_texts
    draw = random.Random(1)
    steps = epochs * math.ceil(len(rows) / BATCH)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min((step + 1) / (0.1 * steps), 1 - step / (steps + 1)))
    for epoch in range(epochs):
        total = 0.0
        order = draw.sample(rows, len(rows))
        length = (lambda row: len(row[0])) if is_words else (lambda row: len(row[0].split()))
        order = [row for at in range(0, len(order), 32 * BATCH) for row in sorted(order[at : at + 32 * BATCH], key=length)]
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        for batch in draw.sample(batches, len(batches)):
            inputs, target = encode(tokenizer, batch, ids)
            logits = model(**inputs).logits
            loss = torch.nn.functional.cross_entropy(logits.reshape(-1, len(labels)), target.reshape(-1))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"{name}: epoch {epoch + 1} of {epochs}, loss {total / len(batches):.3f}", flush=True)
    model.eval().save_pretrained(folder / name)
    tokenizer.save_pretrained(folder / name)


def main():
    source, data, folder = map(Path, sys.argv[1:4])
    for name in sys.argv[4:] or CASES:
        tune(source, data, folder, name)


if __name__ == "__main__":
    main()
