"""Fine-tunes the entity tagger on three labelled corpora, on made-up messages with private details, and on text that a teacher labelled.

    python finetune_tagger.py --vectors VECTORS.npy --tokenizer-dir TOK --out-dir OUT --rounds 14

Resumes from OUT/checkpoint.pt after the last whole round. Keeps the averaged weights of the round that is best on the dev parts in
OUT/best.pt. Batches hold texts of one length only, since padding changes what ConvBERT computes; a text is one to four neighbouring
sentences.
"""

import argparse
import random
import re
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import ConvBertForTokenClassification

from architectures import MAX_LENGTH, begin_with_vectors, wide_convbert_config
from case_teacher import EDITED, CaseTeacher
from entities import LABELS, NER_SETS, TYPES, WITHOUT_MISC, Sentence, ner_sentences, scores, spans, total_f1
from fast_dropout import replace_dropout
from finetune_sentiment import Average, equal_length_batches
from ngram_teacher import TOKEN
from private_details import made_sentences, with_details
from schedule import linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread
from splits import reader_rows
from texts import DEFAULT_DATA_DIR, GENERAL_TEXTS, general_documents

SHARES = {"wikigold": 3, "btc": 1, "wnut17": 1, "made": 1}  # times a round shows each set
MAX_PIECES = 126  # of a training text


def build_model(vocab_size, dropout=0.1):
    names = dict(enumerate(LABELS))
    config = wide_convbert_config(vocab_size, id2label=names, label2id={name: number for number, name in names.items()})
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return replace_dropout(ConvBertForTokenClassification(config))


def one_hot(sentence):
    """Targets [words, labels]; a word without a label has none, a row of zeros."""
    return np.array([[float(label == other) for other in LABELS] for label in sentence.labels], dtype=np.float32)


def targets_of(sentence, name, teacher):
    """As one_hot(), but where O may hide an entity of the type MISC the teacher divides O among the two."""
    targets = one_hot(sentence)
    if name in WITHOUT_MISC:
        chances = teacher.probabilities(sentence.words, name in EDITED)
        chances *= [label == "O" or label.endswith("-MISC") for label in LABELS]
        is_other = targets[:, 0] == 1
        targets[is_other] = (chances / chances.sum(1, keepdims=True))[is_other]
    return targets


class Renamer:
    """Puts other names of the same type in the place of a sentence's names (Dai and Adel, 2020)."""

    def __init__(self, sentences, places, rng):
        self.rng = rng
        self.names = {kind: [] for kind in TYPES}
        self.names["LOC"] += [place.split() for place in places]
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
                name = self.rng.choice(self.names[kind])
            words += name
            labels += [f"B-{kind}"] + [f"I-{kind}"] * (len(name) - 1)
            at = end
        return Sentence(words + sentence.words[at:], labels + sentence.labels[at:])


def sentences_of(paragraphs):
    """Words of the sentences of plain text, cut as the labelled sets are."""
    for paragraph in paragraphs:
        for sentence in re.split(r"(?<=[.!?]) +(?=[A-Z\"'])", paragraph):
            words = TOKEN.findall(sentence)
            if 6 <= len(words) <= 60:
                yield words


def taught_pieces(data_dir, teacher, tokenizer, count, rng):
    """Pieces and soft targets of `count` sentences of plain text, most of which seem to hold a name."""
    contexts = {row["context"]: None for rows in reader_rows(data_dir, "train").values() for row in rows}
    sources = [list(contexts)]
    sources += [[" ".join(part) for part in general_documents(data_dir, name)] for name in GENERAL_TEXTS]
    found = []
    for paragraphs in sources:
        rng.shuffle(paragraphs)
        some = []
        for words in sentences_of(paragraphs):
            targets = teacher.probabilities(words)
            if targets[:, 0].min() < 0.5 or rng.random() < 0.1:
                some.append((words, targets))
            if len(some) >= count // len(sources):
                break
        found += some
    return pieces(tokenizer, *zip(*found))


def pieces(tokenizer, sentences, targets):
    """(ids, targets [pieces, labels]) of every sentence. What begins with a word's first piece goes on with the others."""
    going_on = np.array([LABELS.index("I" + label[1:] if label != "O" else "O") for label in LABELS])
    result = []
    for encoding, words in zip(tokenizer.encode_batch(list(sentences), is_pretokenized=True, add_special_tokens=False), targets):
        rows, before = np.zeros((len(encoding.ids), len(LABELS)), np.float32), None
        for position, word in enumerate(encoding.word_ids):
            if word != before:
                rows[position] = words[word]
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


def round_texts(train, taught, places, share, tokenizer, teacher, rng):
    """Texts of one round: each set as often as it is due, with other names each time, and `share` times as many taught sentences."""
    texts, listed = [], [sentence for part in train.values() for sentence in part]
    renamed = Renamer(listed, places, rng)
    for name, part in [*train.items(), ("made", None)]:
        for repeat in range(SHARES[name]):
            some = made_sentences(listed, 2500, rng) if part is None else [renamed(one, 0.45) for one in part]
            texts += grouped(pieces(tokenizer, [one.words for one in some], [targets_of(one, name, teacher) for one in some]), rng)
    wanted = int(share * len(texts))
    start = rng.randrange(max(1, len(taught) - wanted))
    return texts + grouped(taught[start:start + wanted], rng)


def train_step(model, ids, targets, drop, vocab):
    ends = [torch.full((len(ids), 1), vocab[name]) for name in ("[CLS]", "[SEP]")]
    hidden = (torch.rand(ids.shape) < drop) & (ids > 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inputs = torch.cat([ends[0], torch.where(hidden, vocab["[MASK]"], ids), ends[1]], dim=1)
        logits = model(input_ids=inputs).logits[:, 1:-1]
    loss = -(F.log_softmax(logits.float(), dim=-1) * targets).sum() / targets.sum().clamp(min=1)
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


def kept_teacher(path, sentences):
    """A CaseTeacher, trained once."""
    if path.exists():
        teacher = CaseTeacher([], epochs=0)
        teacher.table = load_checkpoint(path)["table"]
    else:
        teacher = CaseTeacher(sentences)
        save_checkpoint(path, table=teacher.table.detach())
    return teacher


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder", type=Path, help="checkpoint of pretrain.py")
    start.add_argument("--vectors", type=Path, help="result of word_vectors.py")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--word-dropout", type=float, default=0.08)
    parser.add_argument("--taught", type=int, default=30000, help="sentences that the teacher labels")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    rng = random.Random(args.seed)

    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    train = {name: [with_details(one) for one in ner_sentences(args.data_dir, name, "train")] for name in NER_SETS}
    held_out = {name: ner_sentences(args.data_dir, name, "dev") for name in NER_SETS}
    teacher = kept_teacher(args.out_dir / "teacher.pt", [(sentence, name) for name, part in train.items() for sentence in part])
    taught = taught_pieces(args.data_dir, teacher, tokenizer, args.taught, rng)
    rng.shuffle(taught)
    print(f"{len(taught)} taught sentences", flush=True)

    places = [document[0] for document in general_documents(args.data_dir, "factbook") if document[0].replace(" ", "").isalpha()]
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
    while number < args.rounds:
        share = max(0.0, 0.6 * (1 - (number + 1) / args.rounds / 0.9))
        texts = round_texts(train, taught, places, share, tokenizer, teacher, rng)
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
