"""Readers for the packed data sets (see the README of each data folder)."""

import gzip
import json
import lzma
from pathlib import Path

DEFAULT_DATA_DIR = Path(__file__).resolve().parents[3] / "shared" / "data"

SENTIMENT_SETS = {  # name -> (file stem, file ending)
    "rt-polarity": ("rt-polarity", "tsv.gz"),
    "pros-cons": ("pros-cons", "tsv.gz"),
    "movie-reviews": ("movie-reviews", "tsv.xz"),
}
READER_SETS = ("new-wiki", "reddit", "amazon-reviews")
GENERAL_TEXTS = ("openstax", "factbook", "us-speeches", "standard-ebooks")


def open_text(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(Path(path).suffix, open)
    return opener(path, "rt", encoding="utf-8")


def read_tsv(path):
    """Rows of (label, text)."""
    with open_text(path) as file:
        for line in file:
            label, text = line.rstrip("\n").split("\t", 1)
            yield int(label), text


def sentiment_rows(data_dir, name, split):
    """Rows of (label, text); label 0 is NEGATIVE (or a con), 1 is POSITIVE (or a pro)."""
    stem, ending = SENTIMENT_SETS[name]
    return list(read_tsv(Path(data_dir) / "classification" / f"{stem}-{split}.{ending}"))


def read_squad(path):
    """Questions of a SQuAD-schema file as flat dictionaries."""
    with open_text(path) as file:
        articles = json.load(file)["data"]
    rows = []
    for article in articles:
        for number, paragraph in enumerate(article["paragraphs"]):
            for qa in paragraph["qas"]:
                answers = [(a["answer_start"], a["text"]) for a in qa["answers"]]
                rows.append({
                    "id": qa["id"], "title": article.get("title", ""), "paragraph": number,
                    "question": qa["question"], "context": paragraph["context"], "answers": answers,
                })
    return rows


def general_documents(data_dir, name):
    """Documents of one general English text, each a list of paragraphs."""
    document = []
    with open_text(Path(data_dir) / "english-text" / f"{name}.txt.xz") as file:
        for line in file:
            line = line.strip()
            if line:
                document.append(line)
            elif document:
                yield document
                document = []
    if document:
        yield document
