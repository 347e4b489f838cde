"""Text and questions for reader.py on a GPU, as arrays of token ids in one file, without any test half.

    python reader_examples.py --weights MODEL_DIR --out examples.npz [--texts openstax factbook us-speeches standard-ebooks:2]

`ids` holds passages (uint16), `starts` the first token of each and the end, `questions` and `question_starts` the same of questions.
Of example i: `passage`, `question`, `source` (of SOURCES), `answers` [most 4, first and last token of the passage, -1 for none], `hidden` (tokens
from, to, that are left out), `removable` (its answer stands only in the sentences that hold it), `others` (passages with words of the
question that do not hold the answer, or -1).
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from encode_corpus import CHUNK, corpus_passages, training_texts
from reader import choosing_rows
from shared.facts import FactMaker
from shared.recurring_tokens import examples_of, token_range
from shared.span_examples import LONGEST, SOURCES
from shared.texts import DEFAULT_DATA_DIR, qamr_rows, reader_rows

ANSWERS = 4  # of a question, at most
OTHERS = 4
JOINED = 4  # passages that a single sentence becomes part of
COMMON = 1500  # ids below are words too common to tell passages apart


class Examples:
    """Collects passages, questions and what belongs to them."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.ids, self.asked, self.rows = [], [], []
        self.ends = [tokenizer.token_to_id(mark) for mark in ".?!"]

    def add_passages(self, texts):
        """(number, text, offsets) of each added passage."""
        texts = list(texts)
        for start in range(0, len(texts), CHUNK):
            part = texts[start:start + CHUNK]
            for text, encoding in zip(part, self.tokenizer.encode_batch(part, add_special_tokens=False)):
                self.ids.append(np.array(encoding.ids, np.uint16))
                yield len(self.ids) - 1, text, encoding.offsets

    def add(self, source, passage, question, answers, hidden=(0, 0)):
        """`answers` are (first, last) tokens of the passage."""
        self.asked.append(question.strip())
        self.rows.append((SOURCES.index(source), passage, answers[:ANSWERS], hidden))

    def removable(self, passage, answers):
        """Whether the passage lacks the answers once the sentences with answers are taken out."""
        ids = self.ids[passage].tolist()
        number, sentence = 0, []
        for token in ids:
            sentence.append(number)
            number += token in self.ends
        gone = {one for first, last in answers for one in range(sentence[first], sentence[last] + 1)}
        kept = f" {' '.join(str(token) if sentence[i] not in gone else '|' for i, token in enumerate(ids))} "
        said = {f" {' '.join(map(str, ids[first:last + 1]))} " for first, last in answers}
        return len(gone) <= number and any(s not in gone for s in sentence) and not any(one in kept for one in said)

    def arrays(self):
        questions = [np.array(one.ids, np.uint16) for one in self.tokenizer.encode_batch(self.asked, add_special_tokens=False)]
        answers = np.full((len(self.rows), ANSWERS, 2), -1, np.int16)
        for number, (_, _, spans, _) in enumerate(self.rows):
            answers[number, :len(spans)] = spans or -1
        source = np.array([row[0] for row in self.rows], np.uint8)
        passage = np.array([row[1] for row in self.rows], np.int32)
        removable = np.array([row[0] < 2 and self.removable(row[1], row[2]) for row in self.rows])
        others = np.full((len(self.rows), OTHERS), -1, np.int32)
        real = np.flatnonzero(source == 0)
        others[real] = self.similar(real, passage, questions)
        return {"ids": np.concatenate(self.ids), "starts": np.cumsum([0, *map(len, self.ids)]).astype(np.int32),
                "questions": np.concatenate(questions), "question_starts": np.cumsum([0, *map(len, questions)]).astype(np.int32),
                "passage": passage, "source": source, "answers": answers, "hidden": np.array([row[3] for row in self.rows], np.int16),
                "removable": removable, "others": others}

    def similar(self, real, passage, questions):
        """Passages of other questions that share the most telling words with each question, and do not hold its answer."""
        numbers = np.unique(passage[real])
        has = np.zeros((self.tokenizer.get_vocab_size(), len(numbers)), bool)
        for column, number in enumerate(numbers):
            has[self.ids[number], column] = True
        weight = np.log(len(numbers) / (1.0 + has.sum(1)))
        texts = [f" {' '.join(map(str, self.ids[number].tolist()))} " for number in numbers]
        found = []
        for row in real:
            words = [token for token in set(questions[row].tolist()) if token >= COMMON or weight[token] > 1]
            score = (has[words] * weight[words][:, None]).sum(0) if words else np.zeros(len(numbers))
            said = {f" {' '.join(map(str, self.ids[passage[row]][first:last + 1].tolist()))} " for first, last in self.rows[row][2]}
            best = [column for column in np.argsort(-score)[:4 * OTHERS] if numbers[column] != passage[row] and not any(one in texts[column] for one in said)]
            found.append([*numbers[best[:OTHERS]], *[-1] * OTHERS][:OTHERS])
        return np.array(found, np.int32)


def spans_in(row, offsets):
    starts, ends = np.array(offsets).T
    spans = [token_range(starts, ends, start, start + len(text)) for start, text in row["answers"]]
    return list(dict.fromkeys((low, high - 1) for low, high in spans if low < high <= LONGEST))


def add_joined(examples, rows, rng):
    """Questions on one sentence, shown among one to four others."""
    asked = {}
    for row in rows:
        asked.setdefault(row["context"], []).append(row)
    for _ in range(JOINED):
        sentences, groups = list(asked), []
        rng.shuffle(sentences)
        while sentences:
            size = rng.randint(1, 5)
            groups.append([sentences.pop() for _ in range(min(size, len(sentences)))])
        for (number, _, offsets), group in zip(examples.add_passages([" ".join(group) for group in groups]), groups):
            at = 0
            for sentence in group:
                for row in rng.sample(asked[sentence], max(1, len(asked[sentence]) // 2)):
                    spans = spans_in({"answers": [(start + at, text) for start, text in row["answers"]]}, offsets)
                    if spans:
                        examples.add("sentence", number, row["question"], spans)
                at += len(sentence) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--weights", type=Path, required=True, help="a folder with the tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", nargs="*", default=["openstax", "factbook", "us-speeches", "standard-ebooks:2"])
    parser.add_argument("--sentiment-sets", nargs="*", default=["rt-polarity", "pros-cons"])
    parser.add_argument("--facts", type=int, default=30000, help="made-up passages")
    parser.add_argument("--recurring", type=int, default=150000, help="questions at most")
    args = parser.parse_args()
    rng = random.Random(1)
    examples = Examples(Tokenizer.from_file(str(args.weights / "tokenizer.json")))
    number_of, recurring = {}, []

    def from_text(texts, ask=True):
        for number, text, offsets in examples.add_passages(texts):
            number_of[text] = number, offsets
            if ask:
                recurring.extend((number, one) for one in examples_of(text, offsets[:LONGEST], rng))

    rows = [row for part in reader_rows(args.data_dir, "train").values() for row in part]
    from_text(training_texts(args.data_dir, args.sentiment_sets))
    for row in rows:
        number, offsets = number_of[row["context"]]
        spans = spans_in(row, offsets)
        if spans:
            examples.add("real", number, row["question"], spans)
    number_of.clear()
    add_joined(examples, qamr_rows(args.data_dir, "train"), rng)
    facts = FactMaker("train", random.Random(2)).rows(args.facts)
    for (number, _, offsets), row in zip(examples.add_passages(row["context"] for row in facts), facts):
        examples.add("facts", number, row["question"], spans_in(row, offsets))
    print(len(examples.rows), "questions", flush=True)
    for name in args.texts:
        texts = list(corpus_passages(args.data_dir, [name]))
        for start in range(0, len(texts), CHUNK):
            from_text(texts[start:start + CHUNK], "ebooks" not in name)
            number_of.clear()
    rng.shuffle(recurring)
    for number, (question, hidden, answers) in recurring[:args.recurring]:
        examples.add("recurring", number, question, answers, hidden)
    arrays = examples.arrays()
    np.savez(args.out, **arrays)
    held_out = {"rows": choosing_rows(args.data_dir, 400), "facts": FactMaker("dev", random.Random(3)).rows(200)}
    args.out.with_suffix(".dev.json").write_text(json.dumps(held_out), encoding="utf-8")
    print({name: int((arrays["source"] == number).sum()) for number, name in enumerate(SOURCES)}, len(arrays["ids"]), "tokens", arrays["removable"].sum(), "removable")


if __name__ == "__main__":
    main()
