"""Texts with labels for the zero-shot model, and readable names of the labels.

`models/training/labels.tsv` has a row for each label: set, key in the data, part, names. The first name is the one that is scored; the
others are paraphrases for training. Texts of a label whose part is not "train" are never trained on, nor is its name:
"dev" labels are for choosing, "test" labels for reporting.
"""

import csv
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from shared.templates import MODELS
from shared.texts import emotion_rows, general_documents, intent_rows, part_of, read_lines, sentiment_rows

LABELS_FILE = MODELS / "training" / "labels.tsv"
LONGEST_TEXT = 60  # words of a text that is longer


@dataclass
class Labelled:
    text: str
    labels: list  # keys of the labels that are true of it, within its set
    group: str = ""  # labels of the same group are the hard ones to tell apart


def label_table():
    table = {}
    with open(LABELS_FILE, encoding="utf-8", newline="") as file:
        for name, key, part, names in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            table.setdefault(name, {})[key] = (part, names.split("; "))
    return table


def cut(text):
    return " ".join(text.split()[:LONGEST_TEXT])


def clinc150(folder, split):
    listed = json.loads((folder / "clinc150-domains.json").read_text(encoding="utf-8"))
    domain_of = {intent: domain for domain, intents in listed.items() for intent in intents}
    return [Labelled(text, [intent], domain_of[intent]) for text, intent in intent_rows(folder.parent, split)]


def banking77(folder, split):
    """The set has no choosing part: its training texts are divided."""
    name = "banking77-test-halfA.tsv.gz" if split == "test" else "banking77-train.tsv.gz"
    rows = [line.split("\t", 1) for line in read_lines(folder / name)]
    return [Labelled(cut(text), [intent]) for intent, text in rows
            if split == "test" or (part_of(text) == "dev") == (split == "dev")]


def snips(folder, split):
    """Not trained on at all: every label is a test label."""
    rows = read_lines(folder / ("snips-validate-halfA.jsonl.gz" if split == "test" else "snips-train.jsonl.gz"))
    return [Labelled(row["text"].strip(), [row["intent"]]) for row in map(json.loads, rows)]


def goemotions(folder, split):
    return [Labelled(text, names) for text, names in emotion_rows(folder.parent, "test-halfA" if split == "test" else split)]


def judgements(folder, split, sets):
    part = "test-halfA" if split == "test" else split
    return [Labelled(cut(text), [str(label)]) for name in sets for label, text in sentiment_rows(folder.parent, name, part)]


def subjectivity(folder, split):
    rows = read_lines(folder / f"subjectivity-{'test-halfA' if split == 'test' else split}.tsv.gz")
    return [Labelled(text, [label]) for label, text in (row.split("\t", 1) for row in rows)]


@functools.cache
def books(folder):
    """(key of the book, document) of every document of the textbooks."""
    listed, found = {}, []
    with open(folder.parent / "english-text" / "sources.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["file"] == "openstax.txt.xz":
                listed[row["repository"].split("/")[1]] = int(row["documents"])
    documents = general_documents(folder.parent, "openstax")
    for key, count in listed.items():
        found += [(key, next(documents)) for _ in range(count)]
    return found


def beginning(paragraph):
    """The paragraph's beginning, some whole sentences if it is long."""
    text = ""
    for sentence in re.split(r"(?<=[.!?]) +", paragraph):
        if text and len(text.split()) + len(sentence.split()) > LONGEST_TEXT:
            break
        text = f"{text} {sentence}".strip()
    return cut(text)


def subjects(folder, split):
    """Two paragraphs or so of every document of the textbooks; a document, whole, is in one part."""
    kept = [(key, document) for key, document in books(folder) if part_of(key + document[0]) == split]
    return [Labelled(beginning(paragraph), [key]) for key, document in kept
            for paragraph in document[1::max(1, len(document) // 3)] if len(paragraph.split()) >= 12]


def labelled_sets(data_dir, split):
    folder = Path(data_dir) / "classification"
    intents = clinc150(folder, split)
    return {
        "clinc150": intents,
        "clinc150-domains": [Labelled(row.text, [row.group], row.labels[0]) for row in intents],
        "banking77": banking77(folder, split),
        "goemotions": goemotions(folder, split),
        "opinions": judgements(folder, split, ["rt-polarity", "movie-reviews"]),
        "products": judgements(folder, split, ["pros-cons"]),
        "subjectivity": subjectivity(folder, split),
        "subjects": subjects(folder, split),
        **({} if split == "train" else {"snips": snips(folder, split)}),
    }


def parts_of(row, name, table):
    """The parts of the labels of a text; an intent's part holds for its domain's row too."""
    keys = [table[name][key][0] for key in row.labels]
    if name == "clinc150-domains":
        keys.append(table["clinc150"][row.group][0])
    return set(keys)
