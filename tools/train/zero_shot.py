"""The zero-shot model's recipe: a saved one goes on with labelled texts, and keeps its opinion of any other words as labels.

Does a text entail "This example is ...", for labels that it has not seen? Goes on from OUT/checkpoint.pt; OUT/best is the mean of the
weights that was best on the choosing parts, whose labels were not trained on where they are called new.
"""

import random

import numpy as np
import torch
from torch.nn import functional as F
from transformers import DebertaV2ForSequenceClassification

from shared import attention
from shared.sorting import held_out_messages
from shared.training import Run, load_model, padded, recipe_parser, single_thread, train_steps
from shared.zero_shot_texts import LABELS, Labelled, Source, label_table, labelled_sets, parts_of

ENTAILMENT = 0  # of the two classes
TEMPLATES = ["This example is {}.", "This text is about {}.", "This example is about {}.", "The topic is {}.", "{}."]
DEFAULT_SHARE = 0.6  # of the first template, the default of zero-shot pipelines
LONGEST = 64  # tokens of a text in training
DRAWS = 256  # texts made into batches of similar length at a time


def pairs(texts, hypotheses, vocab):
    """Inputs of [CLS] text [SEP] hypothesis [SEP], one row for each pair."""
    rows = [[vocab["[CLS]"], *text, vocab["[SEP]"], *hypothesis, vocab["[SEP]"]] for text, hypothesis in zip(texts, hypotheses)]
    return padded(rows, [len(text) + 2 for text in texts])


class Batches:

    def __init__(self, source, tokenizer, batch_tokens, rng):
        self.source, self.tokenizer, self.batch_tokens, self.rng, self.queue = source, tokenizer, batch_tokens, rng, []
        self.vocab = tokenizer.get_vocab()

    def refill(self):
        pool = self.source.draws(DRAWS)
        texts = [ids[:LONGEST] for ids in encode(self.tokenizer, [draw.text for draw in pool])]
        pool = sorted(zip(texts, pool), key=lambda pair: len(pair[0]))
        while pool:
            size = max(2, self.batch_tokens // (LABELS * (len(pool[-1][0]) + 12)))
            self.queue.append(pool[-size:])
            del pool[-size:]
        self.rng.shuffle(self.queue)

    def next(self):
        """(inputs of every text with every label, rows of truth or None)"""
        if not self.queue:
            self.refill()
        texts, hypotheses, truth = [], [], []
        for text, draw in self.queue.pop():
            template = TEMPLATES[0] if self.rng.random() < DEFAULT_SHARE else self.rng.choice(TEMPLATES)
            texts += [text] * LABELS
            hypotheses += encode(self.tokenizer, [template.format(phrase) for phrase in draw.phrases])
            truth.append(draw.truth if draw.each is None else (draw.truth, draw.each))
        return pairs(texts, hypotheses, self.vocab), truth


def encode(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def loss_of(logits, before, truth, weight):
    """As the pipeline reads the logits: entailment compared over the labels of a text, and each pair by itself with this weight."""
    def read(scores):
        return scores[:, ENTAILMENT].reshape(len(truth), LABELS), (scores[:, ENTAILMENT] - scores[:, 1 - ENTAILMENT]).reshape(len(truth), LABELS)

    compared, alone = read(logits)
    known = [row is not None for row in truth]
    rows = torch.tensor([row or [0.0] * LABELS for row in truth])
    known = torch.tensor(known)[:, None]
    before_compared, before_alone = read(before)
    among = torch.where(known, rows, torch.softmax(before_compared, 1))
    each = torch.where(known, rows, torch.sigmoid(before_alone))
    return F.cross_entropy(compared, among) + weight * F.binary_cross_entropy_with_logits(alone, each)


@torch.no_grad()
def opinion_of(before, inputs, truth):
    """Logits of the saved model for the texts whose truth is not known; zeros for the others."""
    rows = torch.tensor([row is None for row in truth]).repeat_interleave(LABELS)
    logits = torch.zeros(len(rows), 2)
    if rows.any():
        logits[rows] = before(**{name: values[rows] for name, values in inputs.items()}).logits
    return logits


@torch.no_grad()
def predict(model, tokenizer, texts, names):
    """The number of the best of `names` for every text, with the default template."""
    model.eval()
    vocab = tokenizer.get_vocab()
    hypotheses, texts = encode(tokenizer, [TEMPLATES[0].format(name) for name in names]), encode(tokenizer, texts)
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    size, result = max(1, 256 // len(names)), np.zeros(len(texts), dtype=int)
    for start in range(0, len(order), size):
        part = order[start:start + size]
        inputs = pairs([texts[number][:256] for number in part for _ in names], hypotheses * len(part), vocab)
        entailment = model(**inputs).logits[:, ENTAILMENT].reshape(len(part), len(names))
        result[part] = entailment.argmax(1).numpy()
    return result


def accuracy(model, tokenizer, rows, names):
    """Percent of rows whose best label is one of theirs; `names` is {key: name}."""
    keys = list(names)
    best = predict(model, tokenizer, [row.text for row in rows], list(names.values()))
    return float(np.mean([keys[number] in row.labels for row, number in zip(rows, best)]) * 100)


def rows_of(sets, table, name, part, most=None):
    """Texts whose labels are all in `part`, and the names of the labels in that part."""
    rows = [row for row in sets[name] if parts_of(row, name, table) == {part}]
    random.Random(0).shuffle(rows)
    return rows[:most], {key: names[0] for key, (label_part, names) in table[name].items() if label_part == part}


def choosing_parts(data_dir):
    """Returns the texts and labels that choose the weights: {name: (texts, labels)}. Test labels are not among them."""
    table, sets = label_table(), labelled_sets(data_dir, "dev")
    parts = {name: rows_of(sets, table, name, "train", most)
             for name, most in (("clinc150-domains", 100), ("goemotions", 50), ("opinions", 100), ("subjects", 50))}
    parts["new intents"] = rows_of(sets, table, "clinc150", "dev", 150)
    return parts


def message_scores(model, tokenizer, messages, names):
    """Percent of messages whose label is right, by dimension, under two names of every label."""
    found = {}
    for name, listed in messages.items():
        for number in (0, 1):
            rows = [Labelled(message.text, [message.labels[name]]) for message in listed]
            found.setdefault(name, []).append(accuracy(model, tokenizer, rows, {key: some[number] for key, some in names[name].items()}))
    return {name: round(float(np.mean(values)), 1) for name, values in found.items()}


def choosing_scores(model, tokenizer, held_out, messages):
    scores = {name: round(accuracy(model, tokenizer, rows, names), 1) for name, (rows, names) in held_out.items()}
    of_messages = message_scores(model, tokenizer, *messages)
    print("choosing parts:", scores, "messages:", of_messages, flush=True)
    return scores, of_messages


def main():
    args = recipe_parser(__doc__, "steps", batch_tokens=2048, rate=2e-4, loss_weight=0.5, evaluate_every=400).parse_args()
    single_thread(args.seed)
    attention.use()
    model, tokenizer = load_model(DebertaV2ForSequenceClassification, args.weights, 0.0)
    before = load_model(DebertaV2ForSequenceClassification, args.weights, 0.0)[0].eval()
    run, held_out = Run(model, args.weights, args.out_dir), choosing_parts(args.data_dir)
    messages = held_out_messages(60)
    source = Source(args.data_dir, tokenizer.get_vocab(), args.seed + run.number)
    batches = Batches(source, tokenizer, args.batch_tokens, random.Random(args.seed + run.number))

    def loss(_):
        inputs, truth = batches.next()
        return loss_of(model(**inputs).logits, opinion_of(before, inputs, truth), truth, args.loss_weight)

    def choice(averaged):
        return float(np.mean([np.mean(list(scores.values())) for scores in choosing_scores(averaged, tokenizer, held_out, messages)]))

    train_steps(run, args, loss, choice, decay=0.98)


if __name__ == "__main__":
    main()
