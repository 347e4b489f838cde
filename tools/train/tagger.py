"""The tagger's recipe: a saved tagger goes on with messages full of details, ordinary text, and three labelled corpora.

`--share` makes rounds smaller. Goes on from OUT/checkpoint.pt after the last whole round; OUT/best is the model of the best round.
"""

import random

import numpy as np
import torch
from torch.nn import functional as F
from transformers import ConvBertForTokenClassification

from shared.date_rules import with_details
from shared.details import Details
from shared.entities import LABELS, NER_SETS, TYPES, WITHOUT_MISC, Sentence, ner_sentences, scores, spans, total_f1
from shared.messages import MessageMaker, RealTexts
from shared.redaction import HeldOut
from shared.training import MAX_LENGTH, Run, cached, equal_length_batches, hide_words, load_model, recipe_parser, single_thread, train_rounds

SHARES = {"wikigold": 1.0, "btc": 0.4, "wnut17": 0.5}  # of each labelled set in a round
DETAILED, ORDINARY, ENDINGS = 4500, 5500, 400  # messages of a round
MAX_PIECES = 126  # of a training text
RENAMED = 0.45  # share of the corpora's names that are exchanged for others
MADE_UP = {"PER": ("full", "full", "first"), "ORG": ("org",), "LOC": ("city", "city", "country")}
NUMBER = {label: index for index, label in enumerate(LABELS)}


def targets_of(sentence, name):
    """Targets [words, labels]: 1 for every label that the annotation leaves possible; a row of zeros where it says nothing."""
    rows = np.zeros((len(sentence.labels), len(LABELS)), np.float32)
    for row, label in zip(rows, sentence.labels):
        if label is not None:
            row[NUMBER[label]] = 1
            if label == "O" and name in WITHOUT_MISC:
                row[[NUMBER["B-MISC"], NUMBER["I-MISC"]]] = 1
    return rows


def renamed(sentence, names, details):
    """The sentence with other names of the same type, of other sentences or made up (Dai and Adel, 2020)."""
    words, labels, at, rng = [], [], 0, details.rng
    for start, end, kind in spans(sentence.labels):
        name = sentence.words[start:end]
        if kind in TYPES and rng.random() < RENAMED:
            made = kind in MADE_UP and rng.random() < 0.5
            name = getattr(details, rng.choice(MADE_UP[kind]))().split() if made else rng.choice(names[kind])
        words += sentence.words[at:start] + name
        labels += sentence.labels[at:start] + [f"B-{kind}"] + [f"I-{kind}"] * (len(name) - 1)
        at = end
    return Sentence(words + sentence.words[at:], labels + sentence.labels[at:])


def encode_sentences(tokenizer, sentences, targets):
    """Returns (ids, targets [pieces, labels]) for each sentence. The first piece of a word that begins an entity has B-, the others I-."""
    going_on = np.array([NUMBER["I" + label[1:]] if label != "O" else 0 for label in LABELS])
    result = []
    for encoding, words in zip(tokenizer.encode_batch([one.words for one in sentences], is_pretokenized=True, add_special_tokens=False), targets):
        rows = words[encoding.word_ids] if encoding.ids else np.zeros((0, len(LABELS)), np.float32)
        for position in range(1, len(rows)):
            if encoding.word_ids[position] == encoding.word_ids[position - 1]:
                rows[position] = 0
                np.maximum.at(rows[position], going_on, words[encoding.word_ids[position]])
        result.append((encoding.ids, rows))
    return result


def encode_messages(tokenizer, messages, numbers=NUMBER):
    """(ids, targets [pieces, labels]) of messages: B- where a span begins, I- within it; `numbers` are those of the labels."""
    result = []
    for encoding, message in zip(tokenizer.encode_batch([message.text for message in messages], add_special_tokens=False), messages):
        rows = np.zeros((len(encoding.ids), len(numbers)), np.float32)
        rows[:, 0] = 1
        for start, end, kind in message.spans:
            inside = [index for index, (a, b) in enumerate(encoding.offsets) if a < end and b > start]
            rows[inside] = 0
            for index in inside:
                rows[index, numbers[f"{'B' if index == inside[0] else 'I'}-{kind}"]] = 1
        if encoding.ids:
            result.append((encoding.ids[:MAX_PIECES], rows[:MAX_PIECES]))
    return result


def grouped(items, rng):
    texts, index = [], 0
    while index < len(items):
        ids, rows = list(items[index][0][:MAX_PIECES]), [items[index][1][:MAX_PIECES]]
        index += 1
        for _ in range(rng.choice((0, 0, 1, 3))):
            if index == len(items) or len(ids) + len(items[index][0]) > MAX_PIECES:
                break
            ids += items[index][0]
            rows.append(items[index][1])
            index += 1
        if ids:
            texts.append((ids, np.concatenate(rows)))
    return texts


class Rounds:

    def __init__(self, data_dir, tokenizer, seed, real, share):
        self.tokenizer, self.seed, self.real, self.share = tokenizer, seed, real, share
        self.corpora = {name: [with_details(one) for one in ner_sentences(data_dir, name, "train")] for name in NER_SETS}
        self.names = {kind: [] for kind in TYPES}
        for sentence in (one for part in self.corpora.values() for one in part):
            for start, end, kind in spans(sentence.labels):
                if kind in TYPES:
                    self.names[kind].append(sentence.words[start:end])
        self.details = Details("train", random.Random(0))

    def texts(self, number):
        rng = self.details.rng = random.Random(f"{self.seed} {number}")
        maker = MessageMaker(self.real, self.details, rng)
        messages = [maker.detailed() for _ in range(int(self.share * DETAILED))] + [maker.ordinary() for _ in range(int(self.share * ORDINARY))]
        texts = encode_messages(self.tokenizer, messages)
        for name, part in self.corpora.items():
            drawn = [renamed(one, self.names, self.details) for one in rng.sample(part, int(self.share * SHARES[name] * len(part)))]
            texts += grouped(encode_sentences(self.tokenizer, drawn, [targets_of(one, name) for one in drawn]), rng)
        return texts

    def endings(self, number, count=ENDINGS):
        """Returns texts in which a word follows a detail and is no part of it."""
        rng = self.details.rng = random.Random(f"endings {self.seed} {number}")
        maker = MessageMaker(self.real, self.details, rng)
        return encode_messages(self.tokenizer, [maker.ending() for _ in range(count)])


def loss_of(logits, targets):
    """Cross-entropy; of a row with several ones, all of which are possible, minus the logarithm of the chance of any of them."""
    chances = F.log_softmax(logits.float(), dim=-1)
    losses = -torch.logsumexp(chances + targets.clamp(min=1e-30).log(), dim=-1)
    known = targets.sum(-1) > 0
    return (losses * known).sum() / known.sum().clamp(min=1)


@torch.no_grad()
def predict(model, tokenizer, sentences):
    """Labels of every sentence's words: a word's label is that of its first piece."""
    model.eval()
    tokenizer.enable_truncation(MAX_LENGTH)
    encodings = tokenizer.encode_batch([sentence.words for sentence in sentences], is_pretokenized=True)
    tokenizer.no_truncation()
    result = [["O"] * len(sentence.words) for sentence in sentences]
    for batch in equal_length_batches([(encoding.ids,) for encoding in encodings], 8192, 128):
        best = model(input_ids=torch.tensor([encodings[i].ids for i in batch])).logits.argmax(-1).tolist()
        for index, labels in zip(batch, best):
            words = encodings[index].word_ids
            for position, word in enumerate(words):
                if word is not None and word != words[position - 1]:
                    result[index][word] = LABELS[labels[position]]
    return result


def measure(model, tokenizer, sentences, name):
    return scores([sentence.labels for sentence in sentences], predict(model, tokenizer, sentences), name)


class Judge:
    """Scores on the dev parts, and one number to choose by."""

    def __init__(self, data_dir, tokenizer, held_out):
        self.tokenizer, self.held_out = tokenizer, held_out
        self.corpora = {name: ner_sentences(data_dir, name, "dev") for name in NER_SETS}

    def choice(self, model):
        f1 = {name: round(total_f1(measure(model, self.tokenizer, part, name)), 1) for name, part in self.corpora.items()}
        found = self.held_out.measure(model, self.tokenizer)
        best = found[None]
        choice = sum(f1.values()) / 3 + sum(best[name] for name in ("new zero-leak", "known zero-leak", "new FIRST", "known FIRST"))
        choice -= 10 * best["false tokens"] + best["word marked"]
        print(f"choice {choice:.1f} F1 {f1}", *(f"\n  {limit or 'best label'}: {row}" for limit, row in found.items()), flush=True)
        return choice


def main():
    args = recipe_parser(__doc__, "rounds", rate=6e-4, batch=32, dropout=0.1, word_dropout=0.06, share=1.0).parse_args()
    single_thread(args.seed)
    model, tokenizer = load_model(ConvBertForTokenClassification, args.weights, args.dropout)
    vocab = tokenizer.get_vocab()
    first, last = vocab["[CLS]"], vocab["[SEP]"]
    real = cached(args.out_dir / "texts.pickle", lambda: RealTexts(args.data_dir, "train"))
    held_out = cached(args.out_dir / "held_out.pickle", lambda: HeldOut(args.data_dir))
    judge = Judge(args.data_dir, tokenizer, held_out)
    rounds = Rounds(args.data_dir, tokenizer, args.seed, real, args.share)

    def loss(texts):
        ids = torch.tensor([[first, *ids, last] for ids, _ in texts])
        logits = model(input_ids=hide_words(ids, args.word_dropout, vocab["[MASK]"])).logits[:, 1:-1]
        return loss_of(logits, torch.from_numpy(np.stack([targets for _, targets in texts])))

    def texts_of(number):
        return rounds.texts(number) + rounds.endings(number)

    train_rounds(Run(model, args.weights, args.out_dir), args, texts_of, loss, judge.choice, tokens=3072, decay=0.35)


if __name__ == "__main__":
    main()
