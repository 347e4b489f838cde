"""Text for the tagger to learn from, labelled by a teacher with more knowledge than the labelled sets hold.

    python teach_tagger.py --tokenizer-dir TOK --vectors VECTORS.npy --out TAUGHT.npz [--count 12000]

A first teacher (case_teacher.py) is fitted on the labelled sets and labels plain text; a second one also sees how the first labelled
a word wherever it stood, and labels `count` of the sentences for the tagger. Minutes on one core.
"""

import argparse
import json
import random
import re
from pathlib import Path

import numpy as np
import torch

from case_teacher import EDITED, CaseTeacher, Knowledge
from entities import LABELS, NER_SETS, f1, ner_sentences, scores, total_f1
from name_lists import names_by_type
from opinion_teacher import TOKEN
from private_details import with_details
from splits import reader_rows
from texts import DEFAULT_DATA_DIR, general_documents

SENTENCES = {"paragraphs": 12000, "factbook": 3000, "openstax": 12000}  # that are labelled; the first are those of the reader's sets


def sentences_of(paragraphs):
    """Words of the sentences of plain text, cut as the labelled sets are."""
    for paragraph in paragraphs:
        for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z\"'])", paragraph):
            words = TOKEN.findall(sentence)
            if 6 <= len(words) <= 60:
                yield words


def plain_sentences(data_dir, rng):
    contexts = {row["context"]: None for rows in reader_rows(data_dir, "train").values() for row in rows}
    found = []
    for name, count in SENTENCES.items():
        texts = list(contexts) if name == "paragraphs" else [" ".join(document) for document in general_documents(data_dir, name)]
        rng.shuffle(texts)
        found += [words for words, _ in zip(sentences_of(texts), range(count))]
    return found


def show(teacher, data_dir):
    for name in NER_SETS:
        part = ner_sentences(data_dir, name, "dev")
        said = [[LABELS[i] for i in teacher.probabilities(one.words, name in EDITED).argmax(1)] for one in part]
        counts = scores([one.labels for one in part], said, name)
        print(name, "dev F1 of the teacher", round(total_f1(counts), 1), {kind: round(f1(*count), 1) for kind, count in counts.items()},
              flush=True)


def save_taught(path, sentences, targets):
    np.savez(path, words=np.array("\n".join(" ".join(words) for words in sentences)), targets=np.concatenate(targets).astype(np.float16))


def load_taught(path):
    """(words, soft targets [words, labels]) of every sentence."""
    data = np.load(path)
    sentences = [line.split(" ") for line in str(data["words"]).split("\n")]
    ends = np.cumsum([len(words) for words in sentences])[:-1]
    return list(zip(sentences, np.split(data["targets"].astype(np.float32), ends)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=12000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    vocab = json.loads((args.tokenizer_dir / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    knowledge = Knowledge(vocab, np.load(args.vectors), names_by_type(args.data_dir))
    train = [(with_details(one), name) for name in NER_SETS for one in ner_sentences(args.data_dir, name, "train")]
    rng = random.Random(1)
    teacher = CaseTeacher(train, knowledge)
    show(teacher, args.data_dir)
    sentences = plain_sentences(args.data_dir, rng)
    knowledge.learn(sentences, map(teacher.probabilities, sentences))
    teacher = CaseTeacher(train, knowledge)
    show(teacher, args.data_dir)
    rng.shuffle(sentences)
    taught, targets = [], []
    for words in sentences:
        chances = teacher.probabilities(words)
        if chances[:, 0].min() < 0.5 or rng.random() < 0.1:  # most seem to hold a name
            taught.append(words)
            targets.append(chances)
        if len(taught) == args.count:
            break
    save_taught(args.out, taught, targets)
    print(f"{len(taught)} taught sentences")


if __name__ == "__main__":
    main()
