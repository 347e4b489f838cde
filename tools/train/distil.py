"""Trains a small model on a teacher's logits (teachers.py), over texts with labels and without: one script for all students. README.md has the commands.

Students go on from the saved models, but the multilingual tagger (`details`): its embeddings begin as the main components of those in --weights, the folder `base`
beside its teacher. The teacher of sorting is a sentence encoder as it is (shared/near_labels.py). Goes on from OUT/checkpoint.pt; OUT/best is the best model so far.
"""

import functools
import random
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F
from tokenizers import Tokenizer
from transformers import BertForTokenClassification, ConvBertConfig, ConvBertForSequenceClassification, ConvBertForTokenClassification, DebertaV2ForQuestionAnswering, DebertaV2ForSequenceClassification

import reader
import sentiment
import tagger
import zero_shot
from shared import attention
from shared.multilingual_texts import LABELS, NUMBERS, Judge, Rounds, Texts
from shared.near_labels import NearLabels
from shared.sorting import held_out_messages
from shared.training import Run, cached, equal_length_batches, hide_words, load_model, padded, recipe_parser, save_model, single_thread, train_rounds, train_steps
from shared.zero_shot_texts import LABELS as LABELS_OF_A_TEXT, Source
from teachers import ReaderTeacher, load_teacher

LABELLED = {"rt-polarity": 4000, "pros-cons": 3000, "feelings": 3000, "movie-reviews": 0}  # texts of a round with labels
UNLABELLED = {"film": 4500, "product": 1000, "phrase": 2500, "comment": 2500, "remark": 5000}  # and without
REMARKS, REVIEWS = 9000, 60  # made-up remarks, and whole reviews, of which the teacher has read none
HIDDEN, EMBEDDING, LAYERS = 128, 96, 3  # of the multilingual tagger
SHARPNESS = 0.05  # standard deviation of its first embeddings


def fast():
    """Multiplies matrices in bfloat16 within."""
    return torch.autocast("cpu", torch.bfloat16)


def sentiment_student(args):
    model, tokenizer = load_model(ConvBertForSequenceClassification, args.weights, args.dropout)
    teacher, teacher_tokenizer = load_teacher(args.teacher)
    texts, judge = sentiment.Texts(args.data_dir, args.share, args.seed), sentiment.Judge(args.data_dir, tokenizer)
    mask = tokenizer.token_to_id("[MASK]")

    def rows(number):
        labelled = texts.labelled(number, LABELLED, remarks=REMARKS, neither=0)
        shown = labelled + [(None, text) for text in texts.unlabelled(number, UNLABELLED)]
        logits = torch.from_numpy(sentiment.predict(teacher, sentiment.encode(teacher_tokenizer, shown)))
        said = torch.softmax(logits, 1)[:, 1].tolist()
        mixed = [(chance if label is None else args.trust * chance + (1 - args.trust) * label, text) for chance, (label, text) in zip(said, shown)]
        plain = texts.labelled(number, {"movie-reviews": REVIEWS}, remarks=0, neither=1200)
        return sentiment.encode(tokenizer, mixed + plain)

    def loss(batch):
        ids, labels = torch.tensor([ids for ids, _ in batch]), torch.tensor([[1 - label, label] for _, label in batch], dtype=torch.float32)
        with fast():
            logits = model(input_ids=hide_words(ids, args.word_dropout, mask)).logits
        return F.cross_entropy(logits.float(), labels)

    train_rounds(Run(model, args.weights, args.out_dir), args, rows, loss, judge.choice, tokens=4096, decay=0.6)


def new_tagger(base, folder):
    """Saves a ConvBERT whose embeddings are the main components of the base's, with the base's tokenizer."""
    if not (folder / "model.safetensors").exists():
        torch.manual_seed(1)
        rows = BertForTokenClassification.from_pretrained(base).bert.embeddings.word_embeddings.weight.detach()
        rows = rows - rows[5:].mean(0)
        directions = torch.linalg.svd(rows[5:], full_matrices=False).Vh[:EMBEDDING]
        config = ConvBertConfig(vocab_size=len(rows), hidden_size=HIDDEN, embedding_size=EMBEDDING, num_hidden_layers=LAYERS, num_attention_heads=4, head_ratio=2,
                                conv_kernel_size=9, intermediate_size=512, max_position_embeddings=512, pad_token_id=0, num_labels=len(LABELS),
                                id2label=dict(enumerate(LABELS)), label2id=NUMBERS)
        model = ConvBertForTokenClassification(config)
        components = rows @ directions.T
        with torch.no_grad():
            model.convbert.embeddings.word_embeddings.weight.copy_(components * SHARPNESS / components.std())
        save_model(model, base, folder)
    return folder


@torch.no_grad()
def taught(teacher, tokenizer, messages):
    """(ids, the teacher's chances [pieces, labels]) of sentences."""
    items = [(encoding.ids[:tagger.MAX_PIECES + 1],) for encoding in tokenizer.encode_batch([message.text for message in messages])]
    found = []
    for batch in equal_length_batches(items, 4096, 64):
        ids = torch.tensor([items[index][0] for index in batch])
        with fast():
            logits = teacher(input_ids=ids).logits
        chances = torch.softmax(logits.float(), -1).numpy()
        found += [(items[index][0][1:-1], row[1:-1]) for index, row in zip(batch, chances)]
    return found


def details_student(args):
    start = new_tagger(args.weights, args.out_dir / "start")
    model, tokenizer = load_model(ConvBertForTokenClassification, start, args.dropout)
    texts = cached(args.teacher / "texts.pickle", lambda: Texts(args.data_dir, args.translations))
    rounds, judge = Rounds(texts, args.seed, args.share), Judge(tokenizer, texts)
    first, last, mask = (tokenizer.token_to_id(piece) for piece in ("[CLS]", "[SEP]", "[MASK]"))
    teacher = BertForTokenClassification.from_pretrained(args.teacher / "best", dtype=torch.float32).eval() if args.trust else None

    def rows(number):
        labelled = tagger.encode_messages(tokenizer, rounds.labelled(number), NUMBERS)
        return labelled + taught(teacher, tokenizer, rounds.unlabelled(number)) if teacher else labelled

    def loss(batch):
        ids, targets = torch.tensor([[first, *ids, last] for ids, _ in batch]), torch.from_numpy(np.stack([targets for _, targets in batch]))
        with fast():
            logits = model(input_ids=hide_words(ids, args.word_dropout, mask)).logits[:, 1:-1]
        return -(F.log_softmax(logits.float(), -1) * targets).sum(-1).mean()

    train_rounds(Run(model, start, args.out_dir), args, rows, loss, judge.choice, tokens=3072, decay=0.5)


class Taught:
    """A reader's chances of first and last words, for a student with another vocabulary. The words of both are the same, their pieces are not."""

    def __init__(self, folder, tokenizer):
        self.teacher, self.own = load_teacher(folder, ReaderTeacher)
        self.texts = [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]
        self.pieces = functools.cache(lambda word: self.own.encode(word, add_special_tokens=False).ids or [self.own.token_to_id("[UNK]")])

    def words(self, ids):
        """(word, first piece, last piece) of the student's ids; a special token is a word."""
        found = []
        for at, text in enumerate(self.texts[number] for number in ids):
            joins = text.startswith("##") and found
            word, first, _ = found.pop() if joins else ("", at, at)
            found.append((word + text.removeprefix("##") if joins else text, first, at))
        return found

    @torch.no_grad()
    def chances(self, inputs):
        """[2, rows, pieces]: how likely the answer's first word begins with this piece, and its last word ends with it."""
        words = [self.words(row[:length].tolist()) for row, length in zip(inputs["input_ids"], inputs["attention_mask"].sum(1).tolist())]
        pieces = [[self.pieces(word) for word, *_ in row] for row in words]
        ids = [[one for word in row for one in word] for row in pieces]
        output = self.teacher(**padded(ids, [row.index(self.own.token_to_id("[SEP]")) + 1 for row in ids]))
        found = torch.zeros(2, *inputs["input_ids"].shape)
        for number, row in enumerate(words):
            owners = torch.repeat_interleave(torch.arange(len(row)), torch.tensor([len(word) for word in pieces[number]]))
            for kind, logits in enumerate((output.start_logits, output.end_logits)):
                of_words = torch.zeros(len(row)).index_add_(0, owners, torch.softmax(logits[number, :len(owners)], 0))
                found[kind, number, [word[1 + kind] for word in row]] = of_words
        return found


def reader_student(args):
    attention.use()
    model, tokenizer = load_model(DebertaV2ForQuestionAnswering, args.weights, args.dropout)
    taught = Taught(args.teacher, tokenizer)

    def loss(model, inputs, first, last):
        with fast():
            logits = reader.span_logits(model, inputs)
        return sum(args.trust * F.cross_entropy(one, chances) + (1 - args.trust) * F.cross_entropy(one, places)
                   for one, chances, places in zip(logits, taught.chances(inputs), (first, last))) / 2

    reader.train(Run(model, args.weights, args.out_dir), tokenizer, args, loss)


class Mixed:
    """Draws of a Source: of texts with labels, of messages, and of texts whose labels are as near as the teacher says."""

    def __init__(self, source, near, share):
        self.source, self.near, self.share = source, near, share

    def draws(self, count):
        rng = self.source.rng
        kinds = rng.choices((self.near.draw, self.source.labelled, self.source.message), (self.share, (1 - self.share) * 0.4, (1 - self.share) * 0.6), k=count)
        found = [self.source.filled(kind()) for kind in kinds]
        for draw in found:
            draw.each = draw.each or draw.truth
        return found


def sorting_student(args):
    attention.use()
    model, tokenizer = load_model(DebertaV2ForSequenceClassification, args.weights, 0.0)
    run, held_out, messages = Run(model, args.weights, args.out_dir), zero_shot.choosing_parts(args.data_dir), held_out_messages(40)
    rng = random.Random(args.seed + run.number)
    source = Source(args.data_dir, tokenizer.get_vocab(), args.seed)
    near = NearLabels(args.teacher, source, rng, args.out_dir / "vectors.pickle")
    source.rng = source.messages.rng = rng
    batches = zero_shot.Batches(Mixed(source, near, args.trust), tokenizer, 2048, rng)

    def loss(_):
        inputs, truth = batches.next()
        with fast():
            logits = model(**inputs).logits.float()
        shape = len(truth), LABELS_OF_A_TEXT
        among, each = (torch.tensor([row[kind] for row in truth]) for kind in (0, 1))
        entailed = logits[:, zero_shot.ENTAILMENT]
        alone = (entailed - logits[:, 1 - zero_shot.ENTAILMENT]).reshape(shape)
        return F.cross_entropy(entailed.reshape(shape), among) + 0.5 * F.binary_cross_entropy_with_logits(alone, each)

    def choice(averaged):
        scores, of_messages = zero_shot.choosing_scores(averaged, tokenizer, held_out, messages)
        return float(np.mean([*scores.values(), scores["new intents"], *of_messages.values()]))

    train_steps(run, args, loss, choice, decay=0.8)


TASKS = {"sentiment": sentiment_student, "reader": reader_student, "sorting": sorting_student, "details": details_student}


def main():
    parser = recipe_parser(__doc__, "rounds", rate=4e-4, batch=48, steps=0, evaluate_every=400, dropout=0.1, word_dropout=0.06, share=1.0, trust=0.7, **reader.SETTINGS)
    parser.add_argument("--task", choices=list(TASKS), required=True)
    parser.add_argument("--teacher", type=Path, required=True, help="OUT of teachers.py (sentiment: its folder `best`)")
    parser.add_argument("--translations", type=Path, default=Path("/usr/share/locale"), help="folder of gettext's translations by language")
    args = parser.parse_args()
    single_thread(args.seed)
    TASKS[args.task](args)


if __name__ == "__main__":
    main()
