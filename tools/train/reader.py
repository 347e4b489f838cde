"""The reader's recipe: a saved reader continues with questions that people asked, some of them about another passage, without an answer.

    python reader.py --weights MODEL_DIR --out-dir OUT --steps 8000

Goes on from OUT/checkpoint.pt; --steps may differ then, and the rate falls over the last part of them. OUT/best is the mean of the
weights that was best on the choosing part.
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F
from transformers import DebertaV2ForQuestionAnswering

from shared import attention, reading
from shared.span_batches import Batches, Exchanged, Joined, Renamed
from shared.span_examples import encode_rows
from shared.texts import DEFAULT_DATA_DIR, qamr_rows, reader_rows
from shared.training import Run, hide_words, load_model, single_thread, trapezoid_rate

STAGES = [(0.0, {"sentence": 0.15, "real": 0.85}), (0.5, {"sentence": 0.05, "real": 0.95})]  # shares of the sources, by progress
WINDOWS = [(0.0, 128), (0.5, 160), (0.85, 256)]  # tokens of a window, from these parts of the steps on


def span_loss(output, mask, first, last):
    hidden = mask == 0
    start = output.start_logits.float().masked_fill(hidden, -1e4)
    end = output.end_logits.float().masked_fill(hidden, -1e4)
    return (F.cross_entropy(start, first) + F.cross_entropy(end, last)) / 2


def at(stages, progress):
    """The value of the last stage that has begun."""
    return [value for start, value in stages if progress >= start][-1]


def choosing_rows(data_dir, count):
    rows = [row for part in reader_rows(data_dir, "dev").values() for row in part]
    random.Random(0).shuffle(rows)
    return rows[:count]


def make_sources(args, tokenizer, vocab, rng):
    real = encode_rows(tokenizer, [row for part in reader_rows(args.data_dir, "train").values() for row in part])
    sentence = encode_rows(tokenizer, qamr_rows(args.data_dir, "train"))
    listed = {"sentence": Renamed(Joined(sentence, rng), args.renamed, len(vocab), rng),
              "real": Renamed(Exchanged(real, args.exchanged, rng), args.renamed, len(vocab), rng)}
    return {name: Batches(examples, args.batch_tokens, rng, vocab) for name, examples in listed.items()}


def declines(model, tokenizer, rows):
    """Returns exact match and F1 where it may decline, and the percentage of rows that it declines with the passage of another row."""
    exact, f1 = reading.scores(reading.predict(model, tokenizer, rows, may_decline=True), rows)
    swapped = [row | {"context": rows[(number + len(rows) // 2) % len(rows)]["context"]} for number, row in enumerate(rows)]
    declined = [text == "" for text in reading.predict(model, tokenizer, swapped, may_decline=True)]
    return exact, f1, 100 * sum(declined) / len(declined)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--weights", type=Path, required=True, help="folder of a saved reader")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--type", choices=("bfloat16", "float32"), default="float32", help="of the products: time a hundred steps of both")
    parser.add_argument("--batch-tokens", type=int, default=2560)
    parser.add_argument("--rate", type=float, default=6e-4)
    parser.add_argument("--dropout", type=float, default=0.08)
    parser.add_argument("--hidden-words", type=float, default=0.0, help="share of the tokens, as dropout")
    parser.add_argument("--renamed", type=float, default=0.05, help="share of the examples with renamed words")
    parser.add_argument("--exchanged", type=float, default=0.12, help="share of the questions that get another passage")
    parser.add_argument("--evaluate-every", type=int, default=500, help="steps")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    attention.use()
    model, tokenizer = load_model(DebertaV2ForQuestionAnswering, args.weights, args.dropout)
    vocab = tokenizer.get_vocab()
    run = Run(model, args.weights, args.out_dir)
    rng = random.Random(args.seed + run.number)
    sources, held_out = make_sources(args, tokenizer, vocab, rng), choosing_rows(args.data_dir, 700)
    losses, saved = [], time.monotonic()
    while run.number < args.steps:
        progress = run.number / args.steps
        shares = at(STAGES, progress)
        inputs, first, last = sources[rng.choices(list(shares), shares.values())[0]].next(at(WINDOWS, progress))
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.type == "bfloat16"):
            output = model(**inputs | {"input_ids": hide_words(inputs["input_ids"], args.hidden_words, vocab["[MASK]"])})
        losses.append(run.step(span_loss(output, inputs["attention_mask"], first, last), args.rate * trapezoid_rate(progress)))
        run.number += 1
        if run.number % args.evaluate_every == 0 or run.number == args.steps:
            exact, f1 = reading.scores(reading.predict(run.average.model, tokenizer, held_out), held_out)
            print(f"step {run.number} loss {np.mean(losses):.3f} choosing part: exact {exact:.2f} F1 {f1:.2f}, where it may decline",
                  declines(run.average.model, tokenizer, held_out), flush=True)
            losses = []
            run.keep(f1)
        if time.monotonic() - saved > 120 or run.number == args.steps:
            run.save()
            saved = time.monotonic()


if __name__ == "__main__":
    main()
