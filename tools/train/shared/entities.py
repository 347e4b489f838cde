"""Named-entity data as words with labels: reading, one set of labels for three corpora, spans and their scores."""

import re
from dataclasses import dataclass
from pathlib import Path

from shared.texts import open_text

NER_SETS = ("wikigold", "btc", "wnut17")
TYPES = ("PER", "ORG", "LOC", "MISC")  # what the labelled sets mark, and what is scored
DETAILS = ("DATE", "AMOUNT", "EMAIL", "PHONE", "LINK", "CARD", "IBAN", "ID")  # see details.py
LABELS = ("O", *(f"{prefix}-{kind}" for kind in (*TYPES, *DETAILS) for prefix in "BI"))
TYPE_OF = {"person": "PER", "corporation": "ORG", "group": "ORG", "location": "LOC", "creative-work": "MISC", "product": "MISC"}
WITHOUT_MISC = ("btc",)  # sets whose O may hide an entity of the type MISC
DEV_BLOCK, DEV_EVERY = 20, 12  # of sets without a dev file every twelfth block of 20 sentences is for choosing
HANDLE = re.compile(r"@\w+")


@dataclass
class Sentence:
    words: list
    labels: list  # of LABELS, or None for the account names of tweets, which are neither trained on nor scored


def read_conll(path):
    words, tags = [], []
    with open_text(path) as file:
        for line in [*file, ""]:
            if line.strip():
                word, tag = line.rstrip("\n").replace("\t", " ").rsplit(" ", 1)
                words.append(word)
                tags.append(tag)
            elif words:
                yield words, tags
                words, tags = [], []


def unified(words, tags):
    """The sentence with the labels of LABELS; an entity that an IO tagging doesn't begin begins where its type does."""
    labels, before = [], None
    for tag in tags:
        prefix, _, kind = tag.partition("-")
        kind = TYPE_OF.get(kind, kind) or None
        labels.append("O" if kind is None else f"{'I' if prefix == 'I' and kind == before else 'B'}-{kind}")
        before = kind
    for index, word in enumerate(words):
        if HANDLE.fullmatch(word) or (index and words[index - 1] == "@"):
            labels[index] = None
        elif word == "@" and index + 1 < len(words):
            labels[index] = None
    return Sentence(words, labels)


def ner_sentences(data_dir, name, part):
    """Sentences of one set and part ('train', 'dev' or 'test') in the order of the file."""
    folder = Path(data_dir) / "ner"
    file = {"train": "train", "dev": "dev" if name == "wnut17" else "train", "test": "test-halfA"}[part]
    sentences = [unified(*pair) for pair in read_conll(folder / f"{name}-{file}.conll.gz")]
    if name == "wnut17" or part == "test":
        return sentences
    return [sentence for index, sentence in enumerate(sentences)
            if (index // DEV_BLOCK % DEV_EVERY == DEV_EVERY - 1) == (part == "dev")]


def spans(labels):
    """Entities as (first, last + 1, type). As conlleval, an I- that continues nothing begins an entity."""
    found, start, kind = [], 0, None
    for index, label in enumerate([*labels, "O"]):
        prefix, _, new = (label or "O").partition("-")
        if kind and (prefix != "I" or new != kind):
            found.append((start, index, kind))
            kind = None
        if new and not kind:
            start, kind = index, new
    return found


def scores(gold, predicted, name):
    """Counts by type, {type: (right, predicted, gold)}, of sentences given as lists of labels."""
    counts = {kind: [0, 0, 0] for kind in TYPES if kind != "MISC" or name not in WITHOUT_MISC}
    for truth, guess in zip(gold, predicted):
        guess = [None if label is None else other for label, other in zip(truth, guess)]
        right, said = set(spans(truth)), set(spans(guess))
        for kind, count in counts.items():
            for position, of in enumerate((right & said, said, right)):
                count[position] += sum(span[2] == kind for span in of)
    return counts


def f1(right, predicted, gold):
    return 200 * right / max(predicted + gold, 1)


def total_f1(counts):
    return f1(*(sum(column) for column in zip(*counts.values())))
