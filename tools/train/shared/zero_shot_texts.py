"""Texts with labels for the zero-shot model, and draws of them: a text with labels that fit it more or less.

`models/training/labels.tsv` has a row for each label: set, key in the data, part, names. The first name is the one that is scored; the
others are paraphrases for training. Texts of a label whose part is not "train" are never trained on, nor is its name:
"dev" labels are for choosing, "test" labels for reporting.

Labelled sets say which of some three hundred labels are true of a text. For thousands of other labels, and for texts without any, the
model that the recipe goes on from says how true they are, so that it does not forget what it knows of words.
"""

import csv
import functools
import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from shared.sorting import DIMENSIONS, SortingMaker
from shared.templates import MODELS, word_lists
from shared.texts import emotion_rows, general_documents, intent_rows, part_of, passages, read_lines, reader_rows, sentences, sentiment_rows

LABELS_FILE = MODELS / "training" / "labels.tsv"
LONGEST_TEXT = 60  # words of a text that is longer
SET_SHARES = {"clinc150": 6, "clinc150-domains": 4, "banking77": 2, "goemotions": 4, "opinions": 2, "products": 1, "subjectivity": 0.5, "subjects": 2}
OTHER_TEXTS = {"questions": 6000, "sentences": 12000, "countries": 1500}
MOST_PHRASES = 6000
LABELS = 6  # of each text
SHARES = {"labelled": 0.3, "message": 0.45, "any": 0.25}  # of draws from the labelled sets, everyday messages, and any words
HARD = 0.4  # share of the wrong labels that come from the same group
STOP_WORDS = set(word_lists("words.txt")["stop_words"])


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
    """Divides the training texts, because the set has no part to choose by."""
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
        **({} if split == "train" else {"snips": snips(folder, split)})}


def parts_of(row, name, table):
    """The parts of the labels of a text; an intent's part holds for its domain's row too."""
    keys = [table[name][key][0] for key in row.labels]
    if name == "clinc150-domains":
        keys.append(table["clinc150"][row.group][0])
    return set(keys)


def content_words(phrase):
    return set(re.findall(r"[a-z]+", phrase.lower())) - STOP_WORDS


def held_out(table):
    """Content words of each name that is for choosing or reporting and is no name of a label to train on too."""
    names = {part: {name for rows in table.values() for label_part, listed in rows.values()
                    if (label_part == "train") == (part == "train") for name in listed} for part in ("train", "other")}
    return [words for words in (content_words(name) for name in names["other"] - names["train"]) if words]


def frequent_phrases(texts):
    """Runs of two or three words that are no stop words, each counted once per text."""
    counts = Counter()
    for text in texts:
        found = set()
        for run in re.split(r"[^a-z ]+", text.lower().replace("-", " ")):
            words = run.split()
            for size in (2, 3):
                found |= {tuple(words[i:i + size]) for i in range(len(words) - size + 1)}
        counts.update(words for words in found if not STOP_WORDS & set(words) and all(len(word) > 2 for word in words))
    return [" ".join(words) for words, count in counts.most_common(MOST_PHRASES) if count > 1]


def plain_texts(data_dir, rng):
    """Questions, sentences and beginnings of passages that carry no label."""
    def some(found, most):
        found = sorted(set(found))
        return rng.sample(found, min(most, len(found)))

    questions = (row["question"] for rows in reader_rows(data_dir, "train").values() for row in rows)
    countries = (beginning(paragraph) for document in general_documents(data_dir, "factbook") for paragraph in document[1:])
    split = (one for passage in passages(data_dir, "train") for one in sentences(passage, 4, 39))
    return [text for name, found in (("questions", questions), ("sentences", split), ("countries", countries)) for text in some(found, OTHER_TEXTS[name])]


def any_phrases(texts, words):
    """Labels of any kind: frequent phrases and single words, none of them held out."""
    single = [word for word in words if word.isalpha() and len(word) > 2 and word not in STOP_WORDS]
    kept_apart = held_out(label_table())
    return [phrase for phrase in dict.fromkeys([*frequent_phrases(texts), *single])
            if not any(words <= content_words(phrase) for words in kept_apart)]


@dataclass
class Draw:
    text: str
    phrases: list  # LABELS labels
    truth: list  # 1 for the label that is true; None where the model before training says how true each is
    each: list = None  # chances of each label by itself, where a teacher says them


class Source:
    """Draws texts with labels. Each label of a set gets the same chance."""

    def __init__(self, data_dir, words, seed):
        self.rng, self.rows, self.names, self.excluded, self.groups = random.Random(seed), {}, {}, {}, {}
        table = label_table()
        for name, rows in labelled_sets(data_dir, "train").items():
            listed = self.names[name] = {key: names for key, (part, names) in table[name].items() if part == "train"}
            self.excluded[name] = {key: {other for other in listed if set(listed[other]) & set(listed[key])} for key in listed}
            by_label = self.rows[name] = {}
            for row in rows:
                if parts_of(row, name, table) == {"train"}:
                    for key in row.labels:
                        by_label.setdefault(key, []).append(row)
                        self.groups.setdefault((name, row.group), set()).add(key)
        labelled = [row.text for by_label in self.rows.values() for rows in by_label.values() for row in rows[:100]]
        self.texts = [*plain_texts(data_dir, self.rng), *labelled]
        self.phrases = any_phrases(self.texts, words)
        self.messages = SortingMaker("train", self.rng)

    def labelled(self):
        rng = self.rng
        name = rng.choices(list(SET_SHARES), SET_SHARES.values())[0]
        key = rng.choice(list(self.rows[name]))
        row = rng.choice(self.rows[name][key])
        used = set().union(*(self.excluded[name][label] for label in row.labels))
        phrases = [rng.choice(self.names[name][key])]
        for _ in range(LABELS - 1):
            wrong = set(self.names[name]) - used
            if not wrong:
                break
            hard = wrong & self.groups[name, row.group] if name == "clinc150" and rng.random() < HARD else set()
            wrong_key = rng.choice(sorted(hard or wrong))
            used = used | {wrong_key}
            phrases.append(rng.choice(self.names[name][wrong_key]))
        return Draw(row.text, phrases, [1.0] + [0.0] * (len(phrases) - 1))

    def message(self):
        """An everyday message with a label of one dimension, the others of it, and wrong ones of other dimensions."""
        rng, names = self.rng, self.messages.names
        dimension = rng.choice(DIMENSIONS)
        message = self.messages.message(dimension)
        wrong = {name: [(name, key) for key in names[name] if key != true] for name, true in message.labels.items()}
        first = rng.sample(wrong.pop(dimension), min(len(names[dimension]) - 1, LABELS - 1))
        others = [label for listed in wrong.values() for label in listed]
        wrong = first + rng.sample(others, min(len(others), LABELS - 1 - len(first)))
        phrases = [rng.choice(names[name][key]) for name, key in [(dimension, message.labels[dimension]), *wrong]]
        return Draw(message.text, phrases, [1.0] + [0.0] * (len(phrases) - 1))

    def any(self):
        names = self.names[self.rng.choice(list(self.names))]
        of_a_set = [self.rng.choice(names[key]) for key in self.rng.sample(list(names), min(2, len(names)))]
        return Draw(self.rng.choice(self.texts), of_a_set + self.rng.sample(self.phrases, LABELS - len(of_a_set)), None)

    def draws(self, count):
        kinds = self.rng.choices(list(SHARES), SHARES.values(), k=count)
        return [self.filled(getattr(self, kind)()) for kind in kinds]

    def filled(self, draw):
        """The draw with other phrases as wrong labels where its set has fewer than LABELS."""
        lacking = LABELS - len(draw.phrases)
        if not lacking:
            return draw
        return Draw(draw.text, draw.phrases + self.rng.sample(self.phrases, lacking), draw.truth + [0.0] * lacking)
