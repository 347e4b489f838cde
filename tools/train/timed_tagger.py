"""The tagger's recipe for a GPU: pre-training, then fresh rounds of messages and corpora, all within so many seconds.

    python timed_tagger.py --weights MODEL_DIR --out-dir OUT --seconds 420 --device cuda --handover LABELS.npy [--teacher 1]

With `--teacher 1` a larger model learns the same and labels sentences that carry no labels; the small one waits for these labels while it trains.
OUT/best is the mean of the weights that the dev parts prefer, OUT/last the last.
"""

import random
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertForTokenClassification, ConvBertForTokenClassification

import tagger
from shared.clock import Clock
from shared.entities import LABELS
from shared.corpus import corpus_ids, pretrain
from shared.messages import RealTexts
from shared.redaction import HeldOut
from shared.teachers import TEACHER_PART, Awaited, hand_over, labels_of, teacher_config
from shared.texts import emotion_rows, general_documents, passages, sentences
from shared.timed import Best, Rows, Supply, TimedRun, in_background, leave, prepare, rate_within, save_weights, timed_parser
from shared.training import hide_words

SHARES = {"wikigold": 1.0, "btc": 0.5, "wnut17": 0.6}
MESSAGES = {"detailed": 3200, "ordinary": 3400}  # of a round
UNLABELLED = 60000  # sentences that the teacher labels
TAUGHT = 5000  # of these in a round
BITS = 1 << np.arange(len(LABELS))
MADE = {}


def make_round(data_dir, tokenizer_file, seed, scale, number):
    """Texts of a round, [(ids, for every token the labels that are possible, as bits)]."""
    if not MADE:
        MADE["rounds"] = tagger.Rounds(data_dir, Tokenizer.from_file(tokenizer_file), seed, RealTexts(data_dir, "train"), shares=SHARES,
                                       **{name: int(scale * count) for name, count in MESSAGES.items()})
    return [(np.array(ids, np.uint16), (targets > 0) @ BITS) for ids, targets in MADE["rounds"].texts(number)]


def unlabelled_sentences(data_dir, count):
    """Sentences with a capital within, where a name may be, and some others; the same at every call."""
    found = [one for passage in passages(data_dir, "train") for one in sentences(passage, 4, 40)]
    found += [text for text, _ in emotion_rows(data_dir, "train") if "[" not in text]
    for name in ("openstax", "factbook"):
        found += [one for document in general_documents(data_dir, name) for paragraph in document[1:4] for one in sentences(paragraph, 4, 40)]
    rng, found = random.Random(9), list(dict.fromkeys(found))
    rng.shuffle(found)
    named = [text for text in found if any(word[:1].isupper() for word in text.split(" ")[1:])]
    return [*named[:count * 3 // 4], *found[:count // 4]]


def make_judge(data_dir, tokenizer_file):
    return tagger.Judge(data_dir, Tokenizer.from_file(tokenizer_file), HeldOut(data_dir)).choice


def make_model(folder, dropout=0.0):
    return ConvBertForTokenClassification.from_pretrained(folder, dtype=torch.float32, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)


def make_teacher(folder):
    return BertForTokenClassification(teacher_config(make_model(folder).config))


def loss_sums(logits, chances):
    """Minus the logarithm of the chance of any label that is possible, summed over the tokens; and their number. `chances`: 1 for each of these."""
    said = torch.log_softmax(logits.float(), -1)
    losses = -torch.logsumexp(said + chances.clamp(min=1e-30).log(), -1)
    known = chances.sum(-1) > 0
    return (losses * known).sum(), known.sum()


def main():
    args = timed_parser(__doc__, teacher=0, least=300, handover="", scale=1.0, text_share=1.0, pretrain=0.38, pretrain_rate=2e-3, rate=1.5e-3, tokens=16384, dropout=0.1, hidden=0.08,
                        workers=2, name="tagger").parse_args()
    prepare(args.device, args.seed)
    tokenizer_file = str(args.weights / "tokenizer.json")
    tokenizer = Tokenizer.from_file(tokenizer_file)
    vocab, clock = tokenizer.get_vocab(), Clock(args.seconds * (TEACHER_PART if args.teacher else 1), args.name)
    supply = Supply(in_background(args.workers), partial(make_round, args.data_dir, tokenizer_file, args.seed, args.scale), 200, 200)
    build = partial(make_teacher, args.weights) if args.teacher else partial(make_model, args.weights)
    best = Best(in_background(), partial(make_judge, args.data_dir, tokenizer_file), build, clock, args.pretrain + 0.15)
    corpus = corpus_ids(tokenizer, args.data_dir, own=1, share=args.text_share)
    first, last = [vocab["[CLS]"]], [vocab["[SEP]"]]
    plain = [first + encoding.ids[:tagger.MAX_PIECES] + last
             for encoding in tokenizer.encode_batch(unlabelled_sentences(args.data_dir, int(args.scale * UNLABELLED)), add_special_tokens=False)]
    print(f"{args.name}: {len(corpus) / 1e6:.1f} M tokens of text", flush=True)

    autocast = partial(torch.autocast, args.device.split(":")[0], torch.bfloat16, enabled=bool(args.teacher) and args.device != "cpu")
    model = (build() if args.teacher else make_model(args.weights, args.dropout)).to(args.device)
    pretrain(model, corpus, vocab, args.device, clock, args.pretrain, 2 * args.tokens, args.pretrain_rate / (4 if args.teacher else 1), autocast)

    bits, plain_rows = torch.arange(len(LABELS), device=args.device), Rows(plain, args.device)

    def convert(texts):
        rows = Rows([[*first, *ids, *last] for ids, _ in texts], args.device)
        targets = np.concatenate([[0, *possible, 0] for _, possible in texts]).astype(np.int32)
        return rows, torch.from_numpy(targets).to(args.device)

    run, rng, start, seen, rounds, taught = TimedRun(model, 0.9985), np.random.default_rng(args.seed), clock.progress, 0, 0, None
    awaited = Awaited(None if args.teacher or not args.handover else Path(args.handover))
    rate = args.rate / (5 if args.teacher else 1)
    print(f"{args.name}: fine-tuning begins at {start:.2f}, {len(supply.waiting)} rounds awaited", flush=True)
    while clock.progress < 1:
        (rows, targets), seen = supply.next(convert, rng, seen)
        steps = [(True, step) for step in rows.steps(np.arange(len(rows.lengths)), args.tokens, rng)]
        if taught is not None:
            steps += [(False, step) for step in plain_rows.steps(rng.choice(len(plain), min(len(plain), TAUGHT), replace=False), args.tokens, rng)]
        run.model.train()
        for number in rng.permutation(len(steps)):
            (labelled, step), progress, total, count = steps[number], clock.progress, 0.0, 0
            if progress >= 1:
                break
            for index, length in step:
                source = rows if labelled else plain_rows
                with autocast():
                    logits = model(input_ids=hide_words(source.read(index, length), args.hidden, vocab["[MASK]"])).logits
                if labelled:
                    possible = (targets[source.where(index, length)][..., None] >> bits & 1).float()
                    summed, known = loss_sums(logits, possible)
                else:
                    said = torch.log_softmax(logits.float(), -1)
                    summed, known = -(taught[source.where(index, length)].float() * said).sum(), len(index) * length
                total, count = total + summed, count + known
            loss = run.step(total / count, rate * rate_within(progress, start, 1))
            if run.steps % 20 == 0 and clock.due():
                clock.say(f"step {run.steps} round {rounds} of {seen} loss {loss.item():.3f}")
        rounds += 1
        if (labels := awaited.labels()) is not None:
            taught = torch.from_numpy(labels).to(args.device)
            print(f"{args.name}: the teacher's labels from round {rounds}", flush=True)
        best.look(run)
    if args.teacher and run.steps >= args.least:
        hand_over(Path(args.handover), np.concatenate(labels_of(run.average.model, plain_rows, np.arange(len(plain)), autocast)))
    elif not args.teacher:
        save_weights(run.weights(), build, args.weights, args.out_dir / "last")
    best.look(run, last=True)
    print(f"{args.name}: {run.steps} steps, {rounds} rounds ({seen} different), best {best.best:.2f}", flush=True)
    if best.weights and not args.teacher:
        save_weights(best.weights, build, args.weights, args.out_dir / "best")
    leave()


if __name__ == "__main__":
    main()
