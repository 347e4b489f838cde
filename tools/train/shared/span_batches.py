"""Span-selection examples for the reader (a question, a context and the answer spans inside it, as token ids), their batches, and what makes a few go further."""

from dataclasses import dataclass

import numpy as np
import torch

from shared.training import padded


NO_ANSWER = [(-1, -1)]


@dataclass
class Example:
    question: np.ndarray  # uint16 ids
    context: np.ndarray  # uint16 ids
    answers: list  # (first, last) token of the context, inclusive


def token_span(offsets, start, end):
    """First and last token that cover the characters [start, end), or None."""
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
    return (inside[0], inside[-1]) if inside else None


def encode_rows(tokenizer, rows):
    """Examples of SQuAD-schema rows; rows whose answers do not map to tokens are left out, those without answers have NO_ANSWER."""
    contexts = list({row["context"]: None for row in rows})
    encoded = dict(zip(contexts, tokenizer.encode_batch(contexts, add_special_tokens=False)))
    questions = tokenizer.encode_batch([row["question"].strip() for row in rows], add_special_tokens=False)
    examples = []
    for row, question in zip(rows, questions):
        context = encoded[row["context"]]
        spans = [token_span(context.offsets, start, start + len(text)) for start, text in row["answers"]]
        spans = [span for span in spans if span] if row["answers"] else NO_ANSWER
        if spans:
            examples.append(Example(np.array(question.ids, np.uint16), np.array(context.ids, np.uint16), spans))
    return examples


def assemble(example, answer, window, max_length, cls_id, sep_id):
    """[CLS] question [SEP] part of the context [SEP], and the answer's (first, last) position in it.

    `window` is the first context token shown. Without an answer in the window both positions are 0, [CLS].
    """
    question = example.question[:max_length // 3]
    room = max_length - len(question) - 3
    part = example.context[window:window + room]
    ids = np.concatenate([[cls_id], question, [sep_id], part, [sep_id]]).astype(np.int64)
    base = len(question) + 2
    first, last = answer[0] - window, answer[1] - window
    if first < 0 or last >= len(part):
        return ids, (0, 0)
    return ids, (first + base, last + base)


class Renamed:
    """Examples in which, now and then, words that question and passage share are called something else, in both.

    What matches is then the sameness of two words, not what the words are: an example stands for many.
    """

    def __init__(self, examples, chance, vocab_size, rng, common=1500):
        self.examples, self.chance, self.rng = examples, chance, rng
        self.common, self.vocab_size = common, vocab_size

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, number):
        example = self.examples[number]
        if self.rng.random() >= self.chance:
            return example
        shared = [t for t in np.intersect1d(example.question, example.context).tolist() if t >= self.common]
        if not shared:
            return example
        question, context = example.question.copy(), example.context.copy()
        for token in self.rng.sample(shared, self.rng.randint(1, len(shared))):
            other = self.rng.randrange(self.common, self.vocab_size)
            question[question == token] = other
            context[context == token] = other
        return Example(question, context, example.answers)


class Unanswered:
    """Examples of which some are asked where the answer is not: marked at [CLS].

    A third each get the passage of a question nearby in the list, often of one article, the passage of any other, or their own without
    the sentences that hold the answer. That a passage is short says nothing, for others lose sentences without an answer.
    """

    SHORTENED = 0.2  # share of the answerable ones that lose sentences

    def __init__(self, examples, share, rng, sentence_ends):
        self.examples, self.share, self.rng, self.ends = examples, share, rng, sorted(sentence_ends)

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, number):
        example, chance = self.examples[number], self.rng.random()
        if chance < self.share / 3:
            return self.without_answer(example)
        if chance < self.share:
            near = number + self.rng.choice((-40, -20, -10, -5, 5, 10, 20, 40))
            other = self.examples[near % len(self) if self.rng.random() < 0.5 else self.rng.randrange(len(self))]
            return example if np.array_equal(other.context, example.context) else Example(example.question, other.context, NO_ANSWER)
        return self.shortened(example) if self.rng.random() < self.SHORTENED else example

    def sentences(self, context):
        cuts = [0, *(np.flatnonzero(np.isin(context, self.ends)) + 1).tolist(), len(context)]
        return [(a, b) for a, b in zip(cuts, cuts[1:]) if b > a]

    def without_answer(self, example):
        kept = [(a, b) for a, b in self.sentences(example.context) if not any(first < b and last >= a for first, last in example.answers)]
        if not kept:
            return example
        context = np.concatenate([example.context[a:b] for a, b in kept])
        said = [" ".join(map(str, example.context[first:last + 1])) for first, last in example.answers]
        text = f" {' '.join(map(str, context))} "
        return example if any(f" {words} " in text for words in said) else Example(example.question, context, NO_ANSWER)

    def shortened(self, example):
        answer, parts, shift, answers = self.rng.choice(example.answers), [], 0, None
        for a, b in self.sentences(example.context):
            if a <= answer[1] and b > answer[0] or self.rng.random() < 0.5:
                if a <= answer[0] < b:
                    answers = [(answer[0] - a + shift, answer[1] - a + shift)]
                parts.append(example.context[a:b])
                shift += b - a
        return Example(example.question, np.concatenate(parts), answers)


class Joined:
    """Questions on one sentence, shown among other sentences: two to five of them, in any order."""

    def __init__(self, examples, rng):
        self.examples, self.rng = examples, rng
        self.contexts = list({e.context.tobytes(): e.context for e in examples}.values())

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, number):
        example = self.examples[number]
        others = [self.rng.choice(self.contexts) for _ in range(self.rng.choice((0, 1, 2, 3, 4)))]
        others = [c for c in others if not np.array_equal(c, example.context)]
        before = self.rng.randint(0, len(others))
        shift = sum(len(c) for c in others[:before])
        context = np.concatenate([*others[:before], example.context, *others[before:]])
        return Example(example.question, context, [(a + shift, b + shift) for a, b in example.answers])


class Batches:
    """Endless batches of about the same number of tokens from one list of examples, sorted by length in pools."""

    def __init__(self, examples, batch_tokens, rng, vocab, most_examples=64):
        self.examples, self.batch_tokens, self.rng, self.most = examples, batch_tokens, rng, most_examples
        self.cls_id, self.sep_id = vocab["[CLS]"], vocab["[SEP]"]
        self.queue, self.pending, self.max_length = [], [], None

    def window(self, example, answer, max_length):
        """First context token shown; nearly always the answer is inside."""
        room = max_length - min(len(example.question), max_length // 3) - 3
        slack = len(example.context) - room
        if slack <= 0:
            return 0
        if answer[0] < 0 or self.rng.random() < 0.04:
            return self.rng.randint(0, slack)
        least = max(0, min(answer[1] - room + 1, slack))
        return self.rng.randint(least, max(least, min(answer[0], slack)))

    def refill(self, max_length):
        pool = []
        while len(pool) < 512:
            if not self.pending:
                self.pending = list(range(len(self.examples)))
                self.rng.shuffle(self.pending)
            example = self.examples[self.pending.pop()]
            answer = self.rng.choice(example.answers)
            pool.append(assemble(example, answer, self.window(example, answer, max_length), max_length, self.cls_id, self.sep_id))
        pool.sort(key=lambda item: len(item[0]))
        while pool:
            size = min(self.most, max(1, self.batch_tokens // len(pool[-1][0])))
            self.queue.append(pool[-size:])
            del pool[-size:]
        self.rng.shuffle(self.queue)

    def next(self, max_length):
        if max_length != self.max_length:
            self.queue, self.max_length = [], max_length
        if not self.queue:
            self.refill(max_length)
        items = self.queue.pop()
        answers = torch.tensor([answer for _, answer in items])
        rows = [ids for ids, _ in items]
        return padded(rows, [row.tolist().index(self.sep_id) + 1 for row in rows]), answers[:, 0], answers[:, 1]
