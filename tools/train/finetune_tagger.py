"""Fine-tunes the entity tagger on three labelled corpora, on made-up messages with private details, and on text that a teacher labelled.

    python finetune_tagger.py --vectors VECTORS.npy --tokenizer-dir TOK --out-dir OUT --rounds 14 [--taught TAUGHT.npz] [--until 4]

Resumes from OUT/checkpoint.pt after the last whole round. Keeps the averaged weights of the round that is best on the dev parts in
OUT/best.pt. `--until` stops earlier: the first rounds need no taught text, which another process may label meanwhile. Batches hold
texts of one length only, since padding changes what ConvBERT computes; a text is one to four neighbouring sentences.
"""

import argparse
import random
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import ConvBertForTokenClassification

from architectures import MAX_LENGTH, begin_with_vectors, tagger_config
from case_teacher import allowed
from entities import LABELS, NER_SETS, Sentence, ner_sentences, scores, spans, total_f1
from fast_dropout import replace_dropout
from finetune_sentiment import Average, equal_length_batches
from name_lists import names_by_type
from private_details import made_sentences, with_details
from schedule import linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread
from teach_tagger import load_taught
from texts import DEFAULT_DATA_DIR

SHARES = {"wikigold": 1, "btc": 0.3, "wnut17": 0.4}  # of each set in a round
MADE = 600  # made-up messages in a round
MAX_PIECES = 126  # of a training text


def build_model(vocab_size, dropout=0.1):
    names = dict(enumerate(LABELS))
    config = tagger_config(vocab_size, id2label=names, label2id={name: number for number, name in names.items()})
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return replace_dropout(ConvBertForTokenClassification(config))


def targets_of(sentence, name):
    """Targets [words, labels]: 1 for every label that the annotation leaves possible; a row of zeros where it says nothing."""
    return np.array([allowed(label, name) if label else [0.0] * len(LABELS) for label in sentence.labels], dtype=np.float32)


class Renamer:
    """Puts other names of the same type in the place of a sentence's names (Dai and Adel, 2020)."""

    def __init__(self, sentences, listed, rng):
        """`listed` has more names by type; half of the names that are put in are of these."""
        self.rng, self.listed = rng, listed
        self.names = {kind: [] for kind in listed}
        for sentence in sentences:
            for start, end, kind in spans(sentence.labels):
                if kind in self.names:
                    self.names[kind].append(sentence.words[start:end])

    def __call__(self, sentence, chance):
        words, labels, at = [], [], 0
        for start, end, kind in spans(sentence.labels):
            words += sentence.words[at:start]
            labels += sentence.labels[at:start]
            name = sentence.words[start:end]
            if kind in self.names and self.rng.random() < chance:
                name = self.rng.choice(self.rng.choice((self.names, self.listed))[kind])
            words += name
            labels += [f"B-{kind}"] + [f"I-{kind}"] * (len(name) - 1)
            at = end
        return Sentence(words + sentence.words[at:], labels + sentence.labels[at:])


def pieces(tokenizer, sentences, targets):
    """(ids, targets [pieces, labels]) of every sentence. What begins with a word's first piece goes on with the others."""
    going_on = np.array([LABELS.index("I" + label[1:] if label != "O" else "O") for label in LABELS])
    result = []
    for encoding, words in zip(tokenizer.encode_batch(list(sentences), is_pretokenized=True, add_special_tokens=False), targets):
        rows, before = np.zeros((len(encoding.ids), len(LABELS)), np.float32), None
        for position, word in enumerate(encoding.word_ids):
            if word != before:
                rows[position] = words[word]
            elif words[word].max() == 1:
                np.maximum.at(rows[position], going_on, words[word])
            else:
                np.add.at(rows[position], going_on, words[word])
            before = word
        result.append((encoding.ids, rows))
    return result


def grouped(items, rng):
    """One to four neighbours at a time, joined; each with [CLS] and [SEP] still to come."""
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


def round_texts(train, taught, listed, share, tokenizer, rng):
    """Texts of one round: of each set what is due, with other names each time, and `share` times as many taught sentences."""
    texts, labelled = [], [sentence for part in train.values() for sentence in part]
    renamed = Renamer(labelled, listed, rng)
    parts = {name: [renamed(one, 0.45) for one in rng.sample(part, int(SHARES[name] * len(part)))] for name, part in train.items()}
    for name, part in [*parts.items(), ("made", made_sentences(labelled, MADE, rng))]:
        texts += grouped(pieces(tokenizer, [one.words for one in part], [targets_of(one, name) for one in part]), rng)
    wanted = min(int(share * sum(map(len, parts.values()))), len(taught))
    return texts + grouped(pieces(tokenizer, *zip(*rng.sample(taught, wanted))), rng) if wanted else texts


def share_of(progress):
    """Taught sentences for each labelled one: many at first, none at the end."""
    return 1.2 if progress < 0.5 else max(0.0, 1.2 * (0.85 - progress) / 0.35)


def loss_of(logits, targets):
    """Cross-entropy; of a row with several ones, all of which are possible, minus the logarithm of the chance of any of them."""
    chances = F.log_softmax(logits.float(), dim=-1)
    weights = targets.sum(-1)
    any_of = -torch.logsumexp(chances + targets.clamp(min=1e-30).log(), dim=-1)
    losses = torch.where(weights > 1.5, any_of, -(chances * targets).sum(-1))
    return losses.sum() / (weights > 0).sum().clamp(min=1)


def train_step(model, ids, targets, drop, vocab):
    ends = [torch.full((len(ids), 1), vocab[name]) for name in ("[CLS]", "[SEP]")]
    hidden = (torch.rand(ids.shape) < drop) & (ids > 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inputs = torch.cat([ends[0], torch.where(hidden, vocab["[MASK]"], ids), ends[1]], dim=1)
        logits = model(input_ids=inputs).logits[:, 1:-1]
    loss = loss_of(logits, targets)
    loss.backward()
    return loss.item()


@torch.no_grad()
def predict(model, tokenizer, sentences):
    """Labels of every sentence's words: a word's label is that of its first piece."""
    model.eval()
    tokenizer.enable_truncation(MAX_LENGTH)
    encodings = tokenizer.encode_batch([sentence.words for sentence in sentences], is_pretokenized=True)
    tokenizer.no_truncation()
    items = [(encoding.ids,) for encoding in encodings]
    result = [["O"] * len(sentence.words) for sentence in sentences]
    for batch in equal_length_batches(items, 8192, 128):
        best = model(input_ids=torch.tensor([items[i][0] for i in batch])).logits.argmax(-1).tolist()
        for index, labels in zip(batch, best):
            words = encodings[index].word_ids
            for position, word in enumerate(words):
                if word is not None and word != words[position - 1]:
                    result[index][word] = LABELS[labels[position]]
    return result


def measure(model, tokenizer, sentences, name):
    """Counts by type; see entities.scores()."""
    return scores([sentence.labels for sentence in sentences], predict(model, tokenizer, sentences), name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder", type=Path, help="checkpoint of pretrain.py")
    start.add_argument("--vectors", type=Path, help="result of word_vectors.py")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--word-dropout", type=float, default=0.08)
    parser.add_argument("--taught", type=Path, help="result of teach_tagger.py")
    parser.add_argument("--until", type=int, help="stop after this round")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    rng = random.Random()

    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    train = {name: [with_details(one) for one in ner_sentences(args.data_dir, name, "train")] for name in NER_SETS}
    held_out = {name: ner_sentences(args.data_dir, name, "dev") for name in NER_SETS}
    taught = load_taught(args.taught) if args.taught else []
    listed = names_by_type(args.data_dir)
    model = build_model(len(vocab), args.dropout)
    if args.encoder:
        model.convbert.load_state_dict(load_checkpoint(args.encoder)["encoder"])
    else:
        begin_with_vectors(model, model.convbert, args.vectors)
    optimizer = make_optimizer([model])
    average = Average(model, 0.998)
    best, number, path = 0.0, 0, args.out_dir / "checkpoint.pt"
    if path.exists():
        state = load_checkpoint(path)
        model.load_state_dict(state["model"])
        average.model.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        average.steps, best, number = state["steps"], state["best"], state["number"]
    while number < (args.until or args.rounds):
        rng.seed(f"{args.seed} {number}")
        texts = round_texts(train, taught, listed, share_of(number / args.rounds), tokenizer, rng)
        batches, losses = equal_length_batches(texts, 3072, args.batch, rng), []
        for index, batch in enumerate(batches):
            set_rate(optimizer, args.rate * linear_rate((number + index / len(batches)) / args.rounds))
            model.train()
            losses.append(train_step(model, torch.tensor([texts[i][0] for i in batch]),
                                     torch.from_numpy(np.stack([texts[i][1] for i in batch])), args.word_dropout, vocab))
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            average.update(model)
        number += 1
        shown = {name: total_f1(measure(average.model, tokenizer, part, name)) for name, part in held_out.items()}
        choice = sum(shown.values()) / len(shown)
        print(f"round {number} steps {average.steps} loss {np.mean(losses):.4f} dev F1",
              {name: round(value, 1) for name, value in shown.items()}, f"choice {choice:.2f}", flush=True)
        if choice > best:
            best = choice
            save_checkpoint(args.out_dir / "best.pt", model=average.model.state_dict(), choice=choice)
        save_checkpoint(path, model=model.state_dict(), average=average.model.state_dict(), optimizer=optimizer.state_dict(),
                        steps=average.steps, best=best, number=number)


if __name__ == "__main__":
    main()
