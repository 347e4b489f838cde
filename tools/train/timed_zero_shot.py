"""The zero-shot model's recipe for a GPU: hidden phrases first, then labelled texts, messages and any words, within so many seconds.

    python timed_zero_shot.py --weights MODEL_DIR --out-dir OUT --seconds 420 --device cuda

At first most draws are texts without one of their phrases, which the model finds among others: this teaches words of which no labelled set speaks.
What the model before training says of any words keeps it from forgetting. OUT/best is the mean of the weights that the choosing parts and held-out
messages prefer, OUT/last the last.
"""

from functools import partial

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import DebertaV2ForSequenceClassification

import zero_shot
from shared import attention
from shared.clock import Clock
from shared.sorting import held_out_messages
from shared.timed import Best, Supply, TimedRun, in_background, leave, prepare, rate_within, save_weights, timed_parser
from shared.zero_shot_draws import LABELS, OTHER_TEXTS, Source

PHRASES_FIRST = {"labelled": 0.25, "message": 0.1, "cloze": 0.65}
THEN = {"labelled": 0.52, "message": 0.38, "cloze": 0.1}
DRAWN = 12000  # texts of a round
TEXTS = 4  # times as many unlabelled texts as on a CPU
WIDTH = 8  # widths are multiples of this
MADE = {}


def hypotheses(tokenizer, draw, rng):
    template = zero_shot.TEMPLATES[0] if rng.random() < zero_shot.DEFAULT_SHARE else rng.choice(zero_shot.TEMPLATES)
    return [template.format(phrase) for phrase in draw.phrases]


def make_round(tokenizer_file, seed, shares, any_share, count, tokens, number):
    """Batches [(ids of every text with every label, length of the first part, of both, truth [texts, labels])]: texts with truth first, then some
    without, whose truth is -1."""
    source = MADE["source"]
    tokenizer = MADE.setdefault("tokenizer", Tokenizer.from_file(tokenizer_file))
    source.rng.seed(f"{seed} {number}")
    source.shares = shares
    draws = source.draws(int(count * (1 - any_share))), [source.filled(source.any()) for _ in range(int(count * any_share))]
    encoded = []
    for part in draws:
        texts = zero_shot.encode(tokenizer, [draw.text for draw in part])
        labels = zero_shot.encode(tokenizer, [one for draw in part for one in hypotheses(tokenizer, draw, source.rng)])
        pairs = [(text[:zero_shot.LONGEST], labels[at * LABELS:(at + 1) * LABELS], draw.truth or [-1.0] * LABELS)
                 for at, (text, draw) in enumerate(zip(texts, part))]
        encoded.append(sorted(pairs, key=lambda pair: len(pair[0]) + max(map(len, pair[1]))))
    width = max(len(text) + max(map(len, labels)) for part in encoded for text, labels, _ in part) + 3
    batches, known, total = [], encoded[0], len(encoded[0])
    at = 0
    while at < total:
        end = at + max(2, tokens // (LABELS * width // 2))
        while end < total and (end - at) * LABELS * (len(known[end][0]) + 12) < tokens:
            end += 8
        end = min(end, total)
        share = [round(len(encoded[1]) * place / total) for place in (at, end)]
        batches.append(batch_of(known[at:end] + encoded[1][share[0]:share[1]], tokenizer) + (end - at,))
        at = end
    source.rng.shuffle(batches)
    return batches


def batch_of(pairs, tokenizer):
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    rows = [([first, *text, last], [*label, last]) for text, labels, _ in pairs for label in labels]
    width = -(-max(len(a) + len(b) for a, b in rows) // WIDTH) * WIDTH
    ids = np.zeros((len(rows), width), np.uint16)
    for row, (a, b) in zip(ids, rows):
        row[:len(a) + len(b)] = a + b
    return ids, np.array([[len(a), len(a) + len(b)] for a, b in rows], np.int16), np.array([truth for *_, truth in pairs], np.float32)


def on_device(device, batches):
    return [(torch.from_numpy(ids.astype(np.int32)).to(device), torch.from_numpy(ends).to(device), torch.from_numpy(truth).to(device), known)
            for ids, ends, truth, known in batches]


def inputs_of(ids, ends):
    places = torch.arange(ids.shape[1], device=ids.device)
    return {"input_ids": ids.long(), "attention_mask": (places < ends[:, 1:]).long(),
            "token_type_ids": ((places >= ends[:, :1]) & (places < ends[:, 1:])).long()}


def loss_of(model, before, batch, weight):
    ids, ends, truth, known = batch
    inputs = inputs_of(ids, ends)
    with torch.no_grad():
        other = before(**{name: values[known * LABELS:] for name, values in inputs.items()}).logits if len(truth) > known else None
    logits = model(**inputs).logits.float()

    def read(scores):
        return scores[:, zero_shot.ENTAILMENT].reshape(-1, LABELS), (scores[:, zero_shot.ENTAILMENT] - scores[:, 1 - zero_shot.ENTAILMENT]).reshape(-1, LABELS)

    compared, alone = read(logits)
    among = each = truth[:known]
    if other is not None:
        before_compared, before_alone = read(other)
        among, each = torch.cat([among, torch.softmax(before_compared, 1)]), torch.cat([each, torch.sigmoid(before_alone)])
    return F.cross_entropy(compared, among) + weight * F.binary_cross_entropy_with_logits(alone, each)


class Judge:

    def __init__(self, data_dir, tokenizer_file):
        attention.use()
        self.tokenizer, self.held_out, self.messages = Tokenizer.from_file(tokenizer_file), zero_shot.choosing_parts(data_dir), held_out_messages(60)

    def choice(self, model):
        scores = {name: round(zero_shot.accuracy(model, self.tokenizer, rows, names), 1) for name, (rows, names) in self.held_out.items()}
        messages = zero_shot.message_scores(model, self.tokenizer, *self.messages)
        choice = (float(np.mean(list(scores.values()))) + float(np.mean(list(messages.values())))) / 2
        print(f"choosing parts: {scores} messages: {messages} choice {choice:.2f}", flush=True)
        return choice


def make_judge(data_dir, tokenizer_file):
    return Judge(data_dir, tokenizer_file).choice


def make_model(folder, dropout=0.0):
    return DebertaV2ForSequenceClassification.from_pretrained(folder, dtype=torch.float32, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)


def main():
    args = timed_parser(__doc__, scale=1.0, phrases=0.35, rate=1e-3, tokens=24576, dropout=0.0, any_share=0.25, loss_weight=0.5, workers=2,
                        name="zero-shot").parse_args()
    prepare(args.device, args.seed)
    attention.use()
    tokenizer_file = str(args.weights / "tokenizer.json")
    clock = Clock(args.seconds, args.name)
    best = Best(in_background(), partial(make_judge, args.data_dir, tokenizer_file), partial(make_model, args.weights), clock, args.phrases + 0.1)
    MADE["source"] = Source(args.data_dir, Tokenizer.from_file(tokenizer_file).get_vocab(), args.seed,
                            other_texts={name: TEXTS * count for name, count in OTHER_TEXTS.items()})
    workers = in_background(args.workers)
    rounds_of = {shares: Supply(workers, partial(make_round, tokenizer_file, f"{args.seed} {shares}", given, args.any_share, int(args.scale * DRAWN), args.tokens),
                                most, ahead)
                 for shares, given, most, ahead in (("first", PHRASES_FIRST, 40, args.workers), ("then", THEN, 150, args.workers))}
    model, before = make_model(args.weights, args.dropout).to(args.device), make_model(args.weights).to(args.device).eval()
    run, rng, start, seen, rounds = TimedRun(model), np.random.default_rng(args.seed), clock.progress, {"first": 0, "then": 0}, 0
    convert = partial(on_device, args.device)
    print(f"{args.name}: begins at {start:.2f}, {len(MADE['source'].texts)} texts, {len(MADE['source'].phrases)} phrases", flush=True)
    while clock.progress < 1:
        kind = "first" if clock.progress < args.phrases else "then"
        batches, seen[kind] = rounds_of[kind].next(convert, rng, seen[kind])
        run.model.train()
        for number in rng.permutation(len(batches)):
            progress = clock.progress
            if progress >= 1:
                break
            loss = run.step(loss_of(model, before, batches[number], args.loss_weight), args.rate * rate_within(progress, start, 1))
            if run.steps % 20 == 0 and clock.due():
                clock.say(f"step {run.steps} round {rounds} of {sum(seen.values())} loss {loss.item():.3f}")
        rounds += 1
        best.look(run)
    save_weights(run.weights(), partial(make_model, args.weights), args.weights, args.out_dir / "last")
    best.look(run, last=True)
    print(f"{args.name}: {run.steps} steps, {rounds} rounds ({seen} different), best {best.best:.2f}", flush=True)
    if best.weights:
        save_weights(best.weights, partial(make_model, args.weights), args.weights, args.out_dir / "best")
    leave()


if __name__ == "__main__":
    main()
