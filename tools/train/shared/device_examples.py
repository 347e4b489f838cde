"""Batches of the reader's questions, made where the model is: what span_batches.py does one example at a time, for a whole batch by a few operations."""

import torch

from shared.span_examples import LONGEST, SOURCES

COMMON = 1500  # ids below are of common words, which are not renamed
NEAR = (-40, -20, -10, -5, 5, 10, 20, 40)  # places in the list of examples where passages of one article stand
ALPHABETS = 16  # ways to rename words in a batch
SWAPPED_RECURRING = 0.15
SHORTENED = 0.2  # share of the examples that lose sentences without an answer
ELSEWHERE = 0.04  # share of the windows that lie anywhere


class DeviceExamples:

    def __init__(self, arrays, corpus, vocab, device):
        """`arrays` are those of reader_examples.py; `corpus` knows the special tokens."""
        def tensor(name, dtype=torch.long):
            return torch.as_tensor(arrays[name].astype("int32"), device=device).to(dtype)

        self.ids, self.starts, self.questions, self.question_starts = (tensor(name) for name in ("ids", "starts", "questions", "question_starts"))
        self.passage, self.answers, self.hidden, self.others = (tensor(name) for name in ("passage", "answers", "hidden", "others"))
        self.removable = tensor("removable", torch.bool)
        source = tensor("source")
        self.numbers = {name: (source == number).nonzero()[:, 0] for number, name in enumerate(SOURCES)}
        self.cls, self.sep, self.mask, self.vocab_size, self.device = corpus.cls, corpus.sep, corpus.mask, len(vocab), device
        self.is_end = torch.zeros(len(vocab), dtype=torch.bool)
        self.is_end[[vocab[mark] for mark in ".?!"]] = True
        self.is_end = self.is_end.to(device)

    def rand(self, *shape):
        return torch.rand(shape, device=self.device)

    def drawn(self, source, count, without, swapped):
        """(examples, their passages, which of them have another passage, which lose the sentences of their answer)"""
        numbers = self.numbers[source]
        place = torch.randint(len(numbers), (count,), device=self.device)
        rows, kind = numbers[place], self.rand(count)
        if source == "facts":
            without = swapped = 0.0
        if source == "recurring":
            without, swapped = 0.0, SWAPPED_RECURRING
        near = place + torch.tensor(NEAR, device=self.device)[torch.randint(len(NEAR), (count,), device=self.device)]
        which = self.rand(count)
        other = torch.where(which < 0.25, torch.randint_like(place, len(numbers)), near % len(numbers))
        passage = self.passage[numbers[other]]
        alike = self.others[rows].gather(1, torch.randint(self.others.shape[1], (count, 1), device=self.device))[:, 0]
        passage = torch.where((which > 0.5) & (alike >= 0), alike, passage)
        own = self.passage[rows]
        is_swapped = (kind >= without) & (kind < without + swapped) & (passage != own)
        return rows, torch.where(is_swapped, passage, own), is_swapped, (kind < without) & self.removable[rows]

    def batch(self, source, count, length, without=0.15, swapped=0.2, renamed=0.1, hidden_words=0.02):
        """(inputs of the model, start places, end places [count, length]). Without an answer both are at [CLS]."""
        rows, passage, is_swapped, loses = self.drawn(source, count, without, swapped)
        at = torch.arange(LONGEST, device=self.device)[None]
        start = self.starts[passage][:, None]
        present = at < self.starts[passage + 1][:, None] - start
        tokens = self.ids[(start + at).clamp(max=len(self.ids) - 1)]
        answers = self.answers[rows].masked_fill(is_swapped[:, None, None], -1)
        first, last = answers.unbind(2)
        # Sentences by number, and those that hold an answer.
        ends = (self.is_end[tokens] & present).long()
        sentence = ends.cumsum(1) - ends
        inside = ((at[:, None] >= first[:, :, None]) & (at[:, None] <= last[:, :, None])).any(1)
        holds = torch.zeros_like(tokens).scatter_add_(1, sentence, inside.long()).gather(1, sentence) > 0
        shorter = self.rand(count, 1) < (SHORTENED if source in ("real", "sentence") else 0.0)
        dropped = shorter & ~holds & (self.rand(count, LONGEST).gather(1, sentence) < 0.5) & ~loses[:, None]
        low, high = self.hidden[rows].masked_fill(is_swapped[:, None], 0).unbind(1)
        keep = present & ~dropped & ~(loses[:, None] & holds) & ~((at >= low[:, None]) & (at < high[:, None]))
        # What is kept moves together.
        place = keep.long().cumsum(1) - 1
        size = keep.sum(1)
        kept = torch.zeros(count, LONGEST + 1, dtype=torch.long, device=self.device).scatter_(1, torch.where(keep, place, LONGEST), tokens)
        answered = (first >= 0) & keep.gather(1, first.clamp(min=0)) & keep.gather(1, last.clamp(min=0))
        first, last = place.gather(1, first.clamp(min=0)), place.gather(1, last.clamp(min=0))
        return self.assembled(rows, kept, size, first, last, answered, length, renamed, hidden_words)

    def window(self, first, last, answered, size, room):
        """First kept token that is shown, with one of the answers inside as a rule."""
        chosen = (answered + 1e-6).multinomial(1)
        slack = (size - room).clamp(min=0)
        low = torch.minimum((last.gather(1, chosen)[:, 0] - room + 1).clamp(min=0), slack)
        high = torch.maximum(torch.minimum(first.gather(1, chosen)[:, 0], slack), low)
        anywhere = ~answered.any(1) | (self.rand(len(size)) < ELSEWHERE)
        low, high = low.masked_fill(anywhere, 0), torch.where(anywhere, slack, high)
        return low + (self.rand(len(size)) * (high - low + 1)).long().clamp(max=high - low)

    def assembled(self, rows, kept, size, first, last, answered, length, renamed, hidden_words):
        count, at = len(rows), torch.arange(length, device=self.device)[None]
        asked = (self.question_starts[rows + 1] - self.question_starts[rows]).clamp(max=length // 3)
        room = length - asked - 3
        window = self.window(first, last, answered, size, room)
        shown = torch.minimum(size - window, room)[:, None]
        question = self.questions[(self.question_starts[rows][:, None] + at - 1).clamp(0, len(self.questions) - 1)]
        asked = asked[:, None]
        inner = at - asked - 2
        ids = kept.gather(1, (window[:, None] + inner).clamp(0, LONGEST - 1))
        ids = torch.where(inner == shown, self.sep, ids.masked_fill(inner > shown, 0))
        ids = torch.where(at <= asked, question, torch.where(at == asked + 1, self.sep, ids))
        ids[:, 0] = self.cls
        first, last = first - window[:, None], last - window[:, None]
        answered = answered & (first >= 0) & (last < shown)
        places = []
        for place in (first, last):
            target = torch.zeros(count, length + 1, dtype=torch.bool, device=self.device)
            target.scatter_(1, torch.where(answered, place + asked + 2, length), True)
            target[:, 0] = ~answered.any(1)
            places.append(target[:, :length])
        attention_mask = inner <= shown
        ids = self.disguised(ids, renamed, hidden_words)
        return {"input_ids": ids, "attention_mask": attention_mask.long(), "token_type_ids": ((inner >= 0) & attention_mask).long()}, *places

    def disguised(self, ids, renamed, hidden_words):
        """Rows in which words are called something else, in question and passage alike, and single tokens that are hidden."""
        words = torch.arange(self.vocab_size, device=self.device).expand(ALPHABETS, -1)
        other = torch.randint(COMMON, self.vocab_size, words.shape, device=self.device)
        alphabet = torch.where((words >= COMMON) & (self.rand(*words.shape) < 0.4), other, words)
        row = torch.randint(ALPHABETS, (len(ids), 1), device=self.device)
        ids = torch.where(self.rand(len(ids), 1) < renamed, alphabet[row, ids], ids)
        return torch.where((self.rand(*ids.shape) < hidden_words) & (ids > self.mask), self.mask, ids)
