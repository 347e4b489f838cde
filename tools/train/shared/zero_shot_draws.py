"""Draws training examples of the zero-shot model: a text with labels that fit it more or less.

Labelled sets say which of some three hundred labels are true of a text. For thousands of other labels, and for texts without any, the
model that the recipe goes on from says how true they are, so that it does not forget what it knows of words.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass

from shared.sorting import DIMENSIONS, SortingMaker
from shared.templates import word_lists
from shared.texts import general_documents, passages, reader_rows, sentences
from shared.zero_shot_sets import beginning, label_table, labelled_sets, parts_of

SET_SHARES = {"clinc150": 6, "clinc150-domains": 4, "banking77": 2, "goemotions": 4, "opinions": 2, "products": 1,
              "subjectivity": 0.5, "subjects": 2}
OTHER_TEXTS = {"questions": 6000, "sentences": 12000, "countries": 1500}
MOST_PHRASES = 6000
LABELS = 6  # of each text
SHARES = {"labelled": 0.3, "message": 0.45, "any": 0.25}  # of draws from the labelled sets, everyday messages, and any words
HARD = 0.4  # share of the wrong labels that come from the same group
STOP_WORDS = set(word_lists("words.txt")["stop_words"])


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


def plain_texts(data_dir, rng, most):
    """Questions, sentences and beginnings of passages that carry no label."""
    def some(found, most):
        found = sorted(set(found))
        return rng.sample(found, min(most, len(found)))

    questions = (row["question"] for rows in reader_rows(data_dir, "train").values() for row in rows)
    countries = (beginning(paragraph) for document in general_documents(data_dir, "factbook") for paragraph in document[1:])
    split = (one for passage in passages(data_dir, "train") for one in sentences(passage, 4, 39))
    return [text for name, found in (("questions", questions), ("sentences", split), ("countries", countries)) for text in some(found, most[name])]


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


class Source:
    """Draws texts with labels. Each label of a set gets the same chance."""

    def __init__(self, data_dir, words, seed, shares=SHARES, other_texts=OTHER_TEXTS):
        self.shares, self.rng, self.rows, self.names, self.excluded, self.groups = shares, random.Random(seed), {}, {}, {}, {}
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
        self.texts = [*plain_texts(data_dir, self.rng, other_texts), *labelled]
        self.phrases = any_phrases(self.texts, words)
        self.is_phrase = set(self.phrases)
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

    def cloze(self):
        """A text without one of its own words or phrases, which is true of it; names of labels that are trained on are among the wrong ones."""
        rng = self.rng
        while True:
            text = rng.choice(self.texts)
            words = re.findall(r"[a-z]+", text.lower())
            own = [" ".join(words[at:at + size]) for size in (1, 2, 3) for at in range(len(words) - size + 1)]
            own = [phrase for phrase in own if phrase in self.is_phrase]
            if own:
                break
        longer = [phrase for phrase in own if " " in phrase]
        phrase = rng.choice(longer if longer and rng.random() < 0.5 else own)
        rest = text if rng.random() < 0.15 else re.sub(rf"\b{phrase.replace(' ', '[^a-z]+')}\b", " ", text, flags=re.I)
        names = self.names[rng.choice(list(self.names))]
        wrong = [rng.choice(names[key]) for key in rng.sample(list(names), rng.choice((0, 1, 2)))] + rng.sample(self.phrases, LABELS + len(own))
        wrong = [other for other in wrong if other not in own][:LABELS - 1]
        return Draw(" ".join(rest.split()) or text, [phrase, *wrong], [1.0] + [0.0] * (LABELS - 1))

    def draws(self, count):
        kinds = self.rng.choices(list(self.shares), self.shares.values(), k=count)
        return [self.filled(getattr(self, kind)()) for kind in kinds]

    def filled(self, draw):
        """The draw with other phrases as wrong labels where its set has fewer than LABELS."""
        lacking = LABELS - len(draw.phrases)
        if not lacking:
            return draw
        return Draw(draw.text, draw.phrases + self.rng.sample(self.phrases, lacking), draw.truth + [0.0] * lacking)
