"""Readers for the packed data sets (see the README of each data folder), and their parts for training, choosing and reporting."""

import gzip
import hashlib
import json
import lzma
import re
from pathlib import Path

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[4] / "shared" / "data"

SENTIMENT_SETS = {"rt-polarity": "tsv.gz", "pros-cons": "tsv.gz", "movie-reviews": "tsv.xz"}
READER_SETS = ("new-wiki", "reddit", "amazon-reviews")


def open_text(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(Path(path).suffix, open)
    return opener(path, "rt", encoding="utf-8")


def read_lines(path):
    with open_text(path) as file:
        return [line.rstrip("\n") for line in file]


def sentences(text, least, most):
    """The sentences of a text that have at least `least` spaces and fewer than `most`; a sentence ends at a point before a space."""
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if least <= part.strip().count(" ") < most]


def part_of(key):
    """'dev' for 4 % of the keys, 'test' for another 4 %, else 'train'; depends on the key only."""
    bucket = int(hashlib.sha256(key.encode("utf-8")).hexdigest()[:8], 16) % 100
    return "dev" if bucket < 4 else "test" if bucket < 8 else "train"


def sentiment_rows(data_dir, name, split):
    rows = read_lines(Path(data_dir) / "classification" / f"{name}-{split}.{SENTIMENT_SETS[name]}")
    return [(int(label), text) for label, text in (row.split("\t", 1) for row in rows)]


def emotion_rows(data_dir, split):
    """(text, names of its emotions) of GoEmotions."""
    folder = Path(data_dir) / "classification"
    names = read_lines(folder / "goemotions-labels.txt")
    rows = [row.split("\t") for row in read_lines(folder / f"goemotions-{split}.tsv.gz")]
    return [(text, [names[int(number)] for number in numbers.split(",")]) for text, numbers, *_ in rows]


def intent_rows(data_dir, split):
    """(text, intent) of CLINC150; its 'val' rows are for choosing."""
    file = "clinc150-test-halfA.json.gz" if split == "test" else "clinc150-train-val.json.gz"
    with open_text(Path(data_dir) / "classification" / file) as stream:
        return [tuple(row) for row in json.load(stream)[{"train": "train", "dev": "val", "test": "test"}[split]]]


def read_squad(path):
    with open_text(path) as file:
        articles = json.load(file)["data"]
    rows = []
    for article in articles:
        for number, paragraph in enumerate(article["paragraphs"]):
            for qa in paragraph["qas"]:
                answers = [(a["answer_start"], a["text"]) for a in qa["answers"]]
                rows.append({"id": qa["id"], "title": article.get("title", ""), "paragraph": number, "question": qa["question"],
                             "context": paragraph["context"], "answers": answers})
    return rows


def reader_rows(data_dir, part):
    """Rows of every reader training set in one part, keyed by set. Paragraphs never cross parts."""
    folder = Path(data_dir) / "qa-english"
    rows = {name: [row for row in read_squad(folder / f"{name}.json.xz") if part_of(row["context"]) == part] for name in READER_SETS}
    fairytale_file = {"train": "train", "dev": "val", "test": "test-halfA"}[part]
    rows["fairytaleqa"] = read_squad(folder / f"fairytaleqa-{fairytale_file}.json.xz")
    return rows


def passages(data_dir, part, names=(*READER_SETS, "fairytaleqa")):
    rows = reader_rows(data_dir, part)
    return list(dict.fromkeys(row["context"] for name in names for row in rows[name]))


def qamr_rows(data_dir, part):
    """Questions on single sentences; there is a part for training and one for choosing."""
    rows = read_squad(Path(data_dir) / "qamr" / "qamr-dev.json.gz")
    return [row for row in rows if (part_of(row["context"]) == "dev") == (part == "dev")]


def general_documents(data_dir, name):
    """Documents of one general English text, each a list of paragraphs."""
    document = []
    for line in [*read_lines(Path(data_dir) / "english-text" / f"{name}.txt.xz"), ""]:
        if line.strip():
            document.append(line.strip())
        elif document:
            yield document
            document = []
