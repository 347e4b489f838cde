"""Draws training examples of the zero-shot model: a text with labels that fit it more or less.

Labelled sets say which of some three hundred labels are true of a text. For thousands of other labels, and for texts without any, the
model that the recipe goes on from says how true they are, so that it does not forget what it knows of words.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass

from shared.texts import general_documents, passages, reader_rows
from shared.zero_shot_sets import label_table, labelled_sets, parts_of, sentences

SET_SHARES = {"clinc150": 6, "clinc150-domains": 4, "banking77": 2, "goemotions": 4, "opinions": 2, "products": 1,
              "subjectivity": 0.5, "subjects": 2}
OTHER_TEXTS = {"questions": 6000, "sentences": 12000, "countries": 1500}
MOST_PHRASES = 6000
LABELS = 6  # of each text
TRUE_SHARE = 0.5  # of draws from the labelled sets
HARD = 0.4  # share of the wrong labels that come from the same group
STOP_WORDS = set("""a about after all also am an and any are as at back be because been before being both but by can can't could did
didn't do does doesn't don't down each even every few for from get give go going good got had has have he her here hers him his how i i'd
i'll i'm i've if in into is isn't it it's its just know let like ll made make many may me might more most much must my need new no not now
of off on one only or other our out over own please re really said same say see she should so some such take tell than that that's the
their them then there these they they're thing this those through to too two under until up us use used ve very want was way we well were
what what's when where which while who why will with without won't would yes you you're your""".split())


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
    split = (sentence for passage in passages(data_dir, "train") for sentence in re.split(r"(?<=[.!?]) +", passage))
    countries = (sentences(paragraph) for document in general_documents(data_dir, "factbook") for paragraph in document[1:])
    return [*some(questions, OTHER_TEXTS["questions"]), *some((one for one in split if 4 < len(one.split()) < 40), OTHER_TEXTS["sentences"]),
            *some(countries, OTHER_TEXTS["countries"])]


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

    def any(self):
        names = self.names[self.rng.choice(list(self.names))]
        of_a_set = [self.rng.choice(names[key]) for key in self.rng.sample(list(names), min(2, len(names)))]
        return Draw(self.rng.choice(self.texts), of_a_set + self.rng.sample(self.phrases, LABELS - len(of_a_set)), None)

    def draws(self, count):
        """Draws with LABELS labels each, half of them of the labelled sets."""
        return [self.filled(self.labelled() if self.rng.random() < TRUE_SHARE else self.any()) for _ in range(count)]

    def filled(self, draw):
        """The draw with other phrases as wrong labels where its set has fewer than LABELS."""
        lacking = LABELS - len(draw.phrases)
        if not lacking:
            return draw
        return Draw(draw.text, draw.phrases + self.rng.sample(self.phrases, lacking), draw.truth + [0.0] * lacking)
