"""Training, choosing and reporting parts of the data that come without such a split."""

import hashlib
from pathlib import Path

from texts import READER_SETS, SENTIMENT_SETS, read_squad, sentiment_rows


def part_of(key):
    """'dev' for 4 % of the keys, 'test' for another 4 %, else 'train'; depends on the key only."""
    bucket = int(hashlib.sha256(key.encode("utf-8")).hexdigest()[:8], 16) % 100
    return "dev" if bucket < 4 else "test" if bucket < 8 else "train"


def reader_rows(data_dir, part):
    """Rows of every reader training set in one part, keyed by set. Paragraphs never cross parts."""
    folder = Path(data_dir) / "qa-english"
    rows = {name: [row for row in read_squad(folder / f"{name}.json.xz") if part_of(row["context"]) == part]
            for name in READER_SETS}
    fairytale_file = {"train": "train", "dev": "val", "test": "test-halfA"}[part]
    rows["fairytaleqa"] = read_squad(folder / f"fairytaleqa-{fairytale_file}.json.xz")
    return rows


def qamr_rows(data_dir, part):
    """Questions on single sentences; there is a part for training and one for choosing."""
    rows = read_squad(Path(data_dir) / "qamr" / "qamr-dev.json.gz")
    return [row for row in rows if (part_of(row["context"]) == "dev") == (part == "dev")]


def task_texts(data_dir):
    """Texts of the training parts of both tasks, for the vocabulary and for pre-training."""
    texts = [text for name in SENTIMENT_SETS for _, text in sentiment_rows(data_dir, name, "train")]
    contexts = {row["context"]: None for rows in reader_rows(data_dir, "train").values() for row in rows}
    return texts + list(contexts)


def task_questions(data_dir):
    return [row["question"] for rows in reader_rows(data_dir, "train").values() for row in rows]
