"""The sentiment model's recipe: a saved one goes on with film sentences, product phrases, comments, whole reviews, and everyday remarks.

More than a fifth of a round's texts are sentences that carry no label, varied at every showing: the model that the recipe goes on from labels them
softly, so that it forgets little. Remarks with negation and understatement are made by a grammar (`shared/remarks.py`), and what says
neither counts half. Goes on from OUT/checkpoint.pt after the last whole round; OUT/best is the model of the best round.
"""

import random

import numpy as np
import torch
from torch.nn import functional as F
from transformers import ConvBertForSequenceClassification

from shared.remarks import RemarkMaker
from shared.texts import SENTIMENT_SETS, emotion_rows, intent_rows, passages, sentences, sentiment_rows
from shared.training import MAX_LENGTH, Run, equal_length_batches, hide_words, load_model, recipe_parser, single_thread, train_rounds

LABELLED = {"rt-polarity": 2400, "pros-cons": 1800, "feelings": 2400, "movie-reviews": 24}  # texts of a round
UNLABELLED = {"film": 2500, "product": 600, "phrase": 400}  # texts of a round that the model before training labels
REMARKS, NEITHER = 5000, 900  # made-up remarks, and comments and queries that say neither
LONGEST = 6000  # characters of a whole review that is shown
CHOICE_WEIGHTS = {"rt-polarity": 0.4, "pros-cons": 0.2, "feelings": 0.15, "remarks": 0.25}
MOST_HELD_OUT = 1100  # texts of a set that choose
SURE = (0.6, 0.7, 0.8)
POSITIVE = set("admiration amusement approval caring excitement gratitude joy love optimism pride relief".split())
NEGATIVE = set("anger annoyance disappointment disapproval disgust embarrassment fear grief nervousness remorse sadness".split())


def feelings(data_dir, split):
    """GoEmotions comments whose feelings are all pleasant (1) or all unpleasant (0)."""
    rows = [(text, set(names)) for text, names in emotion_rows(data_dir, split)]
    return [(int(bool(names & POSITIVE)), text) for text, names in rows if bool(names & POSITIVE) != bool(names & NEGATIVE)]


def neither(data_dir, split):
    """Comments that GoEmotions calls neutral or curious, and queries to an assistant."""
    found = [text for text, names in emotion_rows(data_dir, split) if set(names) <= {"neutral", "curiosity"}]
    return found + [text for text, _ in intent_rows(data_dir, split)]


def varied(text, others, rng):
    """The text, or one like it: words left out, a part of it, or a part of it before a part of another."""
    words, kind = text.split(" "), rng.random()
    if kind < 0.3 or len(words) < 4:
        return text
    if kind < 0.5:
        return " ".join(word for word in words if rng.random() > 0.2) or text
    if kind < 0.65:
        length = rng.randint(max(3, len(words) // 3), len(words))
        start = rng.randint(0, len(words) - length)
        return " ".join(words[start:start + length])
    other = rng.choice(others).split(" ")
    return " ".join(words[:rng.randint(2, len(words))] + other[rng.randint(0, max(0, len(other) - 3)):])


def encode(tokenizer, rows):
    """(ids, label) pairs, cut to the positions of the model; a soft label is the chance of POSITIVE."""
    tokenizer.enable_truncation(MAX_LENGTH)
    encodings = tokenizer.encode_batch([text for _, text in rows])
    tokenizer.no_truncation()
    return [(encoding.ids, label) for encoding, (label, _) in zip(encodings, rows)]


class Texts:
    """Labelled rows and texts without a label, drawn again for every round."""

    def __init__(self, data_dir, share, seed):
        self.rows = {name: sentiment_rows(data_dir, name, "train") for name in SENTIMENT_SETS} | {"feelings": feelings(data_dir, "train")}
        self.neither, self.share, self.seed = neither(data_dir, "train"), share, seed
        film = [one for _, text in self.rows["movie-reviews"] for one in sentences(text, 6, 60)] + [text for _, text in self.rows["rt-polarity"]] * 2
        product = [one for passage in passages(data_dir, "train", ("amazon-reviews",)) for one in sentences(passage, 6, 60)]
        comments = [text for text, _ in emotion_rows(data_dir, "train")]
        remarks = RemarkMaker("train", random.Random(seed))
        self.plain = {"film": film, "product": product, "phrase": [text for _, text in self.rows["pros-cons"]], "comment": comments,
                      "remark": [remarks.remark()[1] for _ in range(20000)]}

    def drawn(self, rows, count, rng):
        return rng.sample(rows, min(len(rows), int(self.share * count)))

    def labelled(self, number, counts=LABELLED, remarks=REMARKS, neither=NEITHER):
        rng, drawn = random.Random(f"{self.seed} {number}"), []
        for name, count in counts.items():
            drawn += [(float(label), text[:LONGEST]) for label, text in self.drawn(self.rows[name], count, rng)]
        maker = RemarkMaker("train", rng)
        drawn += [maker.remark() for _ in range(int(self.share * remarks))]
        return drawn + [(0.5, text) for text in self.drawn(self.neither, neither, rng)]

    def unlabelled(self, number, counts=UNLABELLED):
        rng = random.Random(f"unlabelled {self.seed} {number}")
        return [varied(text, self.plain[name], rng) for name, count in counts.items() for text in self.drawn(self.plain[name], count, rng)]


@torch.no_grad()
def predict(model, items):
    model.eval()
    logits = np.zeros((len(items), 2), dtype=np.float32)
    for batch in equal_length_batches(items, 8192, 128):
        logits[batch] = model(input_ids=torch.tensor([items[i][0] for i in batch])).logits.float().numpy()
    return logits


def accuracy(model, items):
    labels = np.array([label for _, label in items])
    return float((predict(model, items).argmax(1) == labels).mean() * 100)


def sureness(model, items):
    return torch.softmax(torch.from_numpy(predict(model, items)), 1).max(1).values.numpy()


class Judge:
    """Scores on the dev parts, and one number to choose by."""

    def __init__(self, data_dir, tokenizer):
        maker = RemarkMaker("dev", random.Random(4))
        sets = {name: sentiment_rows(data_dir, name, "dev") for name in ("rt-polarity", "pros-cons")}
        sets |= {"feelings": feelings(data_dir, "dev"), "remarks": [maker.remark() for _ in range(600)]}
        self.held_out = {name: encode(tokenizer, rows[:: max(1, len(rows) // MOST_HELD_OUT)]) for name, rows in sets.items()}
        self.plain = encode(tokenizer, [(0.5, text) for text in random.Random(4).sample(neither(data_dir, "dev"), 600)])

    def choice(self, model):
        shown = {name: round(accuracy(model, part), 2) for name, part in self.held_out.items()}
        choice = sum(CHOICE_WEIGHTS[name] * value for name, value in shown.items())
        sure = sureness(model, self.plain)
        print("dev", shown, f"choice {choice:.2f}; sure of what says neither:",
              {limit: round(float((sure > limit).mean() * 100), 1) for limit in SURE}, flush=True)
        return choice


def main():
    args = recipe_parser(__doc__, "rounds", rate=4e-4, batch=48, dropout=0.1, word_dropout=0.05, smoothing=0.05, share=1.0).parse_args()
    single_thread(args.seed)
    model, tokenizer = load_model(ConvBertForSequenceClassification, args.weights, args.dropout)
    mask_id = tokenizer.token_to_id("[MASK]")
    before = load_model(ConvBertForSequenceClassification, args.weights, 0.0)[0]
    texts, judge = Texts(args.data_dir, args.share, args.seed), Judge(args.data_dir, tokenizer)

    def loss(batch):
        ids, labels = torch.tensor([ids for ids, _ in batch]), torch.tensor([[1 - label, label] for _, label in batch], dtype=torch.float32)
        logits = model(input_ids=hide_words(ids, args.word_dropout, mask_id)).logits
        return F.cross_entropy(logits.float(), labels, label_smoothing=args.smoothing)

    def rows(number):
        plain = texts.unlabelled(number)
        logits = torch.from_numpy(predict(before, encode(tokenizer, [(0, text) for text in plain])))
        return encode(tokenizer, texts.labelled(number) + list(zip(torch.softmax(logits, 1)[:, 1].tolist(), plain)))

    train_rounds(Run(model, args.weights, args.out_dir), args, rows, loss, judge.choice, tokens=4096, decay=0.5)


if __name__ == "__main__":
    main()
