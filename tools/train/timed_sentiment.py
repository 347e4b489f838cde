"""The sentiment model's recipe for a GPU: pre-training, then labelled and unlabelled opinions, all within so many seconds.

    python timed_sentiment.py --weights MODEL_DIR --out-dir OUT --seconds 420 --device cuda --handover LABELS.npy [--teacher 1]

With `--teacher 1` a larger model learns the same and labels the texts that carry no label; the small one waits for these labels while it trains,
and until then learns what the model before says of them. OUT/best is the mean of the weights that the dev parts prefer, OUT/last the last.
"""

import random
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import BertForSequenceClassification, ConvBertForSequenceClassification

import sentiment
from shared.clock import Clock
from shared.corpus import corpus_ids, pretrain
from shared.opinions import labelled_rows, neither, varied
from shared.remarks import RemarkMaker
from shared.teachers import TEACHER_PART, Awaited, hand_over, labels_of, teacher_config
from shared.texts import passages, sentences
from shared.timed import Best, Rows, TimedRun, in_background, leave, prepare, rate_within, save_weights, timed_parser
from shared.training import hide_words

BEFORE_TEMPERATURE = 2.4  # the saved model's logits were divided by this
REMARKS = 60000
UNLABELLED = {"film": 110000, "product": 40000, "phrase": 30000}  # texts that a teacher labels
SHOWN = {"rt-polarity": 2400, "pros-cons": 4000, "feelings": 3000, "movie-reviews": 30, "film": 16000, "product": 3500, "phrase": 3500,
         "remarks": 9000, "neither": 2500}  # texts of a round
SHOWN_TO_TEACHER = {"rt-polarity": 8000, "pros-cons": 9000, "feelings": 6000, "movie-reviews": 160, "remarks": 3000, "neither": 2000}


def make_texts(data_dir, tokenizer_file, scale):
    """{source: [(ids, chance of POSITIVE, or -1 where a teacher says it)]}, the same at every call."""
    rng, rows = random.Random(11), labelled_rows(data_dir)
    film = [one for _, text in rows["movie-reviews"] for one in sentences(text, 6, 60)] + [text for _, text in rows["rt-polarity"]] * 2
    product = [one for passage in passages(data_dir, "train", ("amazon-reviews",)) for one in sentences(passage, 6, 60)]
    plain = {"film": film, "product": product, "phrase": [text for _, text in rows["pros-cons"]]}
    maker = RemarkMaker("train", rng)
    found = {name: [(float(label), text[:sentiment.LONGEST]) for label, text in listed] for name, listed in rows.items()}
    found |= {name: [(-1.0, varied(rng.choice(texts), texts, rng)) for _ in range(int(scale * UNLABELLED[name]))] for name, texts in plain.items()}
    found |= {"remarks": [maker.remark() for _ in range(int(scale * REMARKS))], "neither": [(0.5, text) for text in neither(data_dir, "train")]}
    tokenizer = Tokenizer.from_file(tokenizer_file)
    return {name: sentiment.encode(tokenizer, listed) for name, listed in found.items()}


def make_judge(data_dir, tokenizer_file):
    return sentiment.Judge(data_dir, Tokenizer.from_file(tokenizer_file)).choice


def make_model(folder, dropout=0.0):
    return ConvBertForSequenceClassification.from_pretrained(folder, dtype=torch.float32, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)


def make_teacher(folder):
    return BertForSequenceClassification(teacher_config(make_model(folder).config))


def main():
    args = timed_parser(__doc__, teacher=0, least=300, handover="", scale=1.0, text_share=1.0, pretrain=0.38, pretrain_rate=2e-3, rate=8e-4, tokens=16384, dropout=0.1,
                        hidden=0.06, smoothing=0.05, trust=0.75, name="sentiment").parse_args()
    prepare(args.device, args.seed)
    tokenizer_file = str(args.weights / "tokenizer.json")
    tokenizer = Tokenizer.from_file(tokenizer_file)
    vocab, clock = tokenizer.get_vocab(), Clock(args.seconds * (TEACHER_PART if args.teacher else 1), args.name)
    made = in_background().submit(make_texts, args.data_dir, tokenizer_file, args.scale)
    build = partial(make_teacher, args.weights) if args.teacher else partial(make_model, args.weights)
    best = Best(in_background(), partial(make_judge, args.data_dir, tokenizer_file), build, clock, args.pretrain + 0.15)
    corpus = corpus_ids(tokenizer, args.data_dir, own=3, share=args.text_share)
    print(f"{args.name}: {len(corpus) / 1e6:.1f} M tokens of text", flush=True)

    autocast = partial(torch.autocast, args.device.split(":")[0], torch.bfloat16, enabled=bool(args.teacher) and args.device != "cpu")
    model = (build() if args.teacher else make_model(args.weights, args.dropout)).to(args.device)
    pretrain(model, corpus, vocab, args.device, clock, args.pretrain, 2 * args.tokens, args.pretrain_rate / (3 if args.teacher else 1), autocast)

    texts, offset, places = made.result(), 0, {}
    for name, listed in texts.items():
        places[name], offset = np.arange(offset, offset + len(listed)), offset + len(listed)
    every = [one for listed in texts.values() for one in listed]
    rows, chances = Rows([ids for ids, _ in every], args.device), torch.tensor([chance for _, chance in every], device=args.device)
    hard = chances >= 0
    chances = torch.where(hard, chances * (1 - args.smoothing) + args.smoothing / 2, chances)
    unlabelled = np.concatenate([places[name] for name in UNLABELLED])
    softly = torch.from_numpy(unlabelled).to(args.device)
    if not args.teacher:
        before = make_model(args.weights).to(args.device)
        before.classifier.out_proj.weight.data *= BEFORE_TEMPERATURE
        before.classifier.out_proj.bias.data *= BEFORE_TEMPERATURE
        old = torch.from_numpy(np.stack(labels_of(before, rows, unlabelled, autocast))[:, 1].astype(np.float32)).to(args.device)
        chances[softly] = old
    awaited = Awaited(None if args.teacher or not args.handover else Path(args.handover))

    run, rng, start = TimedRun(model, 0.9985), np.random.default_rng(args.seed), clock.progress
    shown = SHOWN_TO_TEACHER if args.teacher else SHOWN
    rate, rounds = args.rate / (4 if args.teacher else 1), 0
    print(f"{args.name}: fine-tuning begins at {start:.2f}, {len(every)} texts", flush=True)
    while clock.progress < 1:
        drawn = np.concatenate([rng.choice(places[name], min(len(places[name]), count), replace=False) for name, count in shown.items()])
        run.model.train()
        for step in rows.steps(drawn, args.tokens, rng):
            progress, loss = clock.progress, 0.0
            if progress >= 1:
                break
            count = sum(len(index) for index, _ in step)
            for index, length in step:
                with autocast():
                    logits = model(input_ids=hide_words(rows.read(index, length), args.hidden, vocab["[MASK]"])).logits
                chance = chances[index]
                loss = loss + F.cross_entropy(logits.float(), torch.stack([1 - chance, chance], 1), reduction="sum") / count
            loss = run.step(loss, rate * rate_within(progress, start, 1))
            if run.steps % 20 == 0 and clock.due():
                clock.say(f"step {run.steps} round {rounds} loss {loss.item():.3f}")
        rounds += 1
        if (labels := awaited.labels()) is not None:
            chances[softly] = torch.from_numpy(labels.astype(np.float32)).to(args.device) * args.trust + old * (1 - args.trust)
            print(f"{args.name}: the teacher's labels from round {rounds}", flush=True)
        best.look(run)
    if args.teacher and run.steps >= args.least:
        hand_over(Path(args.handover), np.stack(labels_of(run.average.model, rows, unlabelled, autocast))[:, 1])
    elif not args.teacher:
        save_weights(run.weights(), build, args.weights, args.out_dir / "last")
    best.look(run, last=True)
    print(f"{args.name}: {run.steps} steps, {rounds} rounds, best {best.best:.2f}", flush=True)
    if best.weights and not args.teacher:
        save_weights(best.weights, build, args.weights, args.out_dir / "best")
    leave()


if __name__ == "__main__":
    main()
