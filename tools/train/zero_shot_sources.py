"""Texts and labels that the zero-shot model is trained on, and draws of a text with labels that fit it more or less.

Labelled sets say which of some three hundred labels are true of a text. For thousands of other labels, and for texts without any,
vectors of texts and labels say how near a label is (`sentence_vectors.py`, called the teacher here).
"""

import random
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from splits import reader_rows
from texts import general_documents
from zero_shot_sets import label_table, labelled_sets, parts_of, sentences, titled

SET_SHARES = {"clinc150": 6, "clinc150-domains": 4, "banking77": 2, "goemotions": 4, "opinions": 2, "products": 1,
              "subjectivity": 0.5, "subjects": 2}
MOST_TEXTS = {"goemotions": 16000, "opinions": 6000, "products": 6000, "subjectivity": 3000, "subjects": 5000}
OTHER_TEXTS = {"questions": 6000, "sentences": 12000, "countries": 1500}
MOST_PHRASES = 6000
LABELS = 6  # of each text
TRUE_SHARE = 0.5  # of draws from the labelled sets
HARD = 0.4  # share of the wrong labels that come from the same group
FOREIGN = 0.2  # share of the wrong labels that are anything that the teacher finds far away
FAR = 0.15  # cosine
TEMPERATURE = 0.1  # of the teacher's cosines over the labels of a text
MIDDLE, SLOPE = 0.3, 0.06  # the cosine of a label that is as likely true as not
STOP_WORDS = set("""a about after all also am an and any are as at back be because been before being both but by can can't could did
didn't do does doesn't don't down each even every few for from get give go going good got had has have he her here hers him his how i i'd
i'll i'm i've if in into is isn't it it's its just know let like ll made make many may me might more most much must my need new no not now
of off on one only or other our out over own please re really said same say see she should so some such take tell than that that's the
their them then there these they they're thing this those through to too two under until up us use used ve very want was way we well were
what what's when where which while who why will with without won't would yes you you're your""".split())


def held_out(table):
    """Content words of each name that is for choosing or reporting and is no name of a label to train on too."""
    names = {part: {name for rows in table.values() for label_part, listed in rows.values()
                    if (label_part == "train") == (part == "train") for name in listed} for part in ("train", "other")}
    return [words for words in (content_words(name) for name in names["other"] - names["train"]) if words]


def content_words(phrase):
    return set(re.findall(r"[a-z]+", phrase.lower())) - STOP_WORDS


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


def training_texts(data_dir, seed=1):
    """Texts of the training parts, each once: the labelled ones (some sets in part), then questions and plain sentences."""
    rng, table, texts = random.Random(seed), label_table(), {}

    def take(found, most):
        found = sorted(set(found))
        texts.update(dict.fromkeys(rng.sample(found, min(most, len(found)))))

    for name, rows in labelled_sets(data_dir, "train").items():
        take((row.text for row in rows if parts_of(row, name, table) == {"train"}), MOST_TEXTS.get(name, len(rows)))
    reading = [row for rows in reader_rows(data_dir, "train").values() for row in rows]
    split = [sentence for row in reading for sentence in re.split(r"(?<=[.!?]) +", row["context"])]
    take((row["question"] for row in reading), OTHER_TEXTS["questions"])
    take((sentence for sentence in split if 4 < len(sentence.split()) < 40), OTHER_TEXTS["sentences"])
    take((sentences(paragraph) for document in general_documents(data_dir, "factbook") for paragraph in document[1:]),
         OTHER_TEXTS["countries"])
    return list(texts)


def training_phrases(data_dir, texts, words):
    """Labels: those of the sets, titles, frequent phrases and single words, none of them held out."""
    table = label_table()
    named = [name for rows in table.values() for part, names in rows.values() if part == "train" for name in names]
    titles = [title for title, _, _ in titled(data_dir / "classification", table)]
    single = [word for word in words if word.isalpha() and len(word) > 2 and word not in STOP_WORDS]
    kept_apart = held_out(table)
    others = [phrase for phrase in [*titles, *frequent_phrases(texts), *single]
              if not any(words <= content_words(phrase) for words in kept_apart)]
    return list(dict.fromkeys([*named, *others]))


@dataclass
class Draw:
    text: int
    phrases: list  # LABELS numbers
    among: list  # the share of each label if one of them has to be true
    alone: list  # how likely each is true by itself


class Labelled:
    """Texts of the labelled sets with one true label each. Each label gets the same chance within its set."""

    def __init__(self, data_dir, text_numbers, phrase_numbers, rng):
        self.rng, self.rows, self.names, self.excluded, self.groups = rng, {}, {}, {}, {}
        table = label_table()
        for name, rows in labelled_sets(data_dir, "train").items():
            listed = {key: [phrase_numbers[one] for one in names] for key, (part, names) in table[name].items() if part == "train"}
            self.names[name], by_label = listed, {}
            self.excluded[name] = {key: {other for other in listed if set(listed[other]) & set(listed[key])} for key in listed}
            for row in rows:
                if row.text not in text_numbers or parts_of(row, name, table) != {"train"}:
                    continue
                for key in row.labels:
                    by_label.setdefault(key, []).append((text_numbers[row.text], row))
                    self.groups.setdefault((name, row.group), set()).add(key)
            self.rows[name] = by_label

    def draw(self, far):
        """`far` gives a label that the teacher finds far from a text."""
        rng = self.rng
        name = rng.choices(list(SET_SHARES), SET_SHARES.values())[0]
        key = rng.choice(list(self.rows[name]))
        number, row = rng.choice(self.rows[name][key])
        used = set().union(*(self.excluded[name][label] for label in row.labels))
        phrases = [rng.choice(self.names[name][key])]
        while len(phrases) < LABELS:
            wrong = set(self.names[name]) - used
            chance = rng.random()
            hard = wrong & self.groups[name, row.group] if name == "clinc150" and chance < FOREIGN + HARD else set()
            if not wrong or chance < FOREIGN:
                phrases.append(far(number))
            else:
                wrong_key = rng.choice(sorted(hard or wrong))
                used = used | {wrong_key}
                phrases.append(rng.choice(self.names[name][wrong_key]))
        truth = [1.0] + [0.0] * (LABELS - 1)
        return Draw(number, phrases, truth, truth)


class Source:
    """Draws from the labelled sets and from the teacher."""

    def __init__(self, data_dir, texts, phrases, text_vectors, phrase_vectors, seed):
        self.rng = random.Random(seed)
        self.text_vectors, self.phrase_vectors = text_vectors, phrase_vectors
        numbers = [{text: number for number, text in enumerate(listed)} for listed in (texts, phrases)]
        self.labelled = Labelled(data_dir, *numbers, self.rng)

    def far(self, text):
        while True:
            phrase = self.rng.randrange(len(self.phrase_vectors))
            if float(self.text_vectors[text] @ self.phrase_vectors[phrase]) < FAR:
                return phrase

    def taught(self, count):
        """Texts with labels from very near to anywhere."""
        rng = self.rng
        texts = [rng.randrange(len(self.text_vectors)) for _ in range(count)]
        cosines = self.text_vectors[texts] @ self.phrase_vectors.T
        nearest = cosines.topk(1000).indices.tolist()
        for text, near, row in zip(texts, nearest, cosines):
            phrases = [near[rng.randrange(most)] for most in (8, 60, 1000)]
            phrases += [rng.randrange(len(row)) for _ in range(LABELS - len(phrases))]
            rng.shuffle(phrases)
            chosen = row[phrases]
            yield Draw(text, phrases, torch.softmax(chosen / TEMPERATURE, 0).tolist(),
                       torch.sigmoid((chosen - MIDDLE) / SLOPE).tolist())

    def draws(self, count):
        labelled = int(np.round(count * TRUE_SHARE))
        return [*self.taught(count - labelled), *(self.labelled.draw(self.far) for _ in range(labelled))]
