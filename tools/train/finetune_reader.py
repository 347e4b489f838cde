"""Trains the reader: generated questions first, then more and more of those that people asked.

    python finetune_reader.py --vectors VECTORS.npy --questions QUESTIONS.npz --tokenizer-dir TOK --out-dir OUT --steps 9000
    python finetune_reader.py --weights MODEL_DIR --size SIZE --tokenizer-dir MODEL_DIR --out-dir OUT --steps 9000

Resumes from OUT/checkpoint.pt; --steps may differ then, and the rate falls over the last part of them. Keeps a running mean of the
weights; the best one on the choosing part is OUT/best.pt.
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import DebertaV2ForQuestionAnswering

import device_attention
import fast_attention
import reading
from architectures import READER_SIZES, begin_with_vectors, reader_config
from examples import encode_rows, load_examples
from fast_dropout import replace_dropout
from locate import LocateExamples
from reader_data import Batches, Exchanged, Joined, Renamed, hide_words
from schedule import load_checkpoint, load_weights, make_optimizer, save_checkpoint, set_rate, single_thread, trapezoid_rate
from splits import qamr_rows, reader_rows
from texts import DEFAULT_DATA_DIR

# Shares of the sources from these parts of the steps on.
SOURCES = ("locate", "made", "sentence", "real")
STAGES = [(0.0, (1.0, 0.0, 0.0, 0.0)), (0.05, (0.15, 0.60, 0.15, 0.10)), (0.15, (0.02, 0.45, 0.13, 0.40)),
          (0.40, (0.0, 0.15, 0.10, 0.75)), (0.75, (0.0, 0.05, 0.08, 0.87))]
LATER_STAGES = [(0.0, (0.0, 0.0, 0.15, 0.85)), (0.5, (0.0, 0.0, 0.05, 0.95))]  # of --weights: it matches already
QUOTING_UNTIL = 0.03  # share of the steps over which questions that quote the answer fall from all to one in ten
WINDOWS = [(0.0, 64), (0.03, 128), (0.45, 144), (0.85, 224)]  # tokens of a window, from these parts of the steps on
LATER_WINDOWS = [(0.0, 128), (0.5, 160), (0.85, 256)]
MEAN_EVERY, MEAN_OVER = 4, 400  # steps, of the running mean of the weights


def span_loss(output, mask, first, last):
    hidden = mask == 0
    start = output.start_logits.float().masked_fill(hidden, -1e4)
    end = output.end_logits.float().masked_fill(hidden, -1e4)
    return (F.cross_entropy(start, first) + F.cross_entropy(end, last)) / 2


def at(stages, progress):
    """The value of the last stage that has begun."""
    return [value for start, value in stages if progress >= start][-1]


def build_model(vocab_size, dropout, size="small", device="cpu"):
    config = reader_config(vocab_size, size)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    model = DebertaV2ForQuestionAnswering(config).to(device)
    return replace_dropout(model) if device == "cpu" else model


@torch.no_grad()
def begin(model, vectors):
    begin_with_vectors(model, model.deberta, vectors)
    model.deberta.encoder.rel_embeddings.weight.normal_()
    for layer in model.deberta.encoder.layer:
        # A query equals its key where two tokens are the same: matching question and passage is there to begin with.
        attention = layer.attention.self
        attention.key_proj.weight.copy_(attention.query_proj.weight)
        layer.attention.output.dense.weight.mul_(0.5)
        layer.output.dense.weight.mul_(0.5)


def autocast(args):
    return torch.autocast(args.device, dtype=torch.bfloat16, enabled=args.type == "bfloat16")


def choosing_rows(data_dir, count):
    rows = [row for part in reader_rows(data_dir, "dev").values() for row in part]
    random.Random(0).shuffle(rows)
    return rows[:count]


def make_sources(args, tokenizer, vocab, rng):
    made = load_examples(args.questions) if args.questions else []
    real = encode_rows(tokenizer, [row for part in reader_rows(args.data_dir, "train").values() for row in part])
    sentence = encode_rows(tokenizer, qamr_rows(args.data_dir, "train"))
    listed = {
        "locate": LocateExamples(made[::4] + real, rng, vocab),
        "made": Renamed(Exchanged(made, 0.08, rng), args.renamed, len(vocab), rng),
        "sentence": Renamed(Joined(sentence, rng), args.renamed, len(vocab), rng),
        "real": Renamed(Exchanged(real, args.exchanged, rng), args.renamed, len(vocab), rng)}
    print({name: len(examples) for name, examples in listed.items()}, flush=True)
    return listed["locate"], {name: Batches(listed[name], args.batch_tokens, rng, vocab) for name in SOURCES if len(listed[name])}


class RunningMean:
    """Exponential mean of the weights."""

    def __init__(self, model):
        self.values = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model, step):
        share = max(MEAN_EVERY / MEAN_OVER, MEAN_EVERY / (step + MEAN_EVERY))
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                self.values[name].lerp_(value, share)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--vectors", type=Path, help="result of word_vectors.py, to begin with nothing else")
    start.add_argument("--weights", type=Path, help="folder of a saved reader of this --size, to go on from")
    parser.add_argument("--encoder", type=Path, help="encoder.pt of pretrain_rtd.py, to begin with that")
    parser.add_argument("--size", choices=READER_SIZES, default="small")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--type", choices=("bfloat16", "float32"), default="bfloat16", help="of the products; see the README")
    parser.add_argument("--questions", type=Path, help="result of make_questions.py, which --vectors needs")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--stop-at", type=int, help="stop after this step of the schedule")
    parser.add_argument("--batch-tokens", type=int, default=2560)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.0, help="0.1 from two epochs of real questions on")
    parser.add_argument("--hidden-words", type=float, default=0.0, help="share of the tokens, as dropout")
    parser.add_argument("--renamed", type=float, default=0.05, help="share of the examples with renamed words")
    parser.add_argument("--exchanged", type=float, default=0.12, help="share of the questions that get another passage")
    parser.add_argument("--evaluate-every", type=int, default=1000, help="steps")
    parser.add_argument("--show-every", type=int, default=100, help="steps")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.vectors and not args.questions:
        parser.error("--vectors needs --questions")
    return args


def main():
    args = arguments()
    single_thread(args.seed)
    torch.set_num_threads(args.threads)
    (fast_attention if args.device == "cpu" else device_attention).use()
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    model = build_model(len(vocab), args.dropout, args.size, args.device)
    stages, lengths = (LATER_STAGES, LATER_WINDOWS) if args.weights else (STAGES, WINDOWS)
    if args.weights:
        model.load_state_dict(load_weights(args.weights / "model.safetensors"))
    else:
        begin(model, args.vectors)
    if args.encoder:
        model.deberta.load_state_dict(load_checkpoint(args.encoder)["encoder"], strict=False)
    optimizer, mean = make_optimizer([model]), RunningMean(model)
    path, step, best = args.out_dir / "checkpoint.pt", 0, -1.0
    if path.exists():
        state = load_checkpoint(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        mean.values = {name: value.to(args.device) for name, value in state["mean"].items()}
        step, best = state["step"], state["best"]
    torch.manual_seed(args.seed + step)
    rng = random.Random(args.seed + step)
    locate, sources = make_sources(args, tokenizer, vocab, rng)
    held_out = choosing_rows(args.data_dir, 700)
    shown, used, saved = {name: [] for name in SOURCES}, time.process_time(), time.monotonic()

    while step < args.steps:
        progress = step / args.steps
        set_rate(optimizer, args.rate * trapezoid_rate(progress))
        locate.quoting = max(0.1, 1 - 0.9 * progress / QUOTING_UNTIL)
        name = rng.choices(SOURCES, at(stages, progress))[0]
        inputs, first, last = sources[name].next(at(lengths, progress))
        inputs = {key: value.to(args.device) for key, value in inputs.items()}
        model.train()
        with autocast(args):
            output = model(**hide_words(inputs, args.hidden_words, vocab["[MASK]"]))
        loss = span_loss(output, inputs["attention_mask"], first.to(args.device), last.to(args.device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % MEAN_EVERY == 0:
            mean.update(model, step)
        shown[name].append(loss.item())
        if step % args.show_every == 0:
            losses = " ".join(f"{name} {np.mean(values):.3f}" for name, values in shown.items() if values)
            print(f"step {step} processor {time.process_time() - used:.0f} s loss {losses}", flush=True)
            shown = {name: [] for name in SOURCES}
        stop = step in (args.steps, args.stop_at)
        if stop or step % args.evaluate_every == 0:
            best = evaluate(args, mean, model, tokenizer, held_out, step, best)
        if stop or time.monotonic() - saved > 120:
            save_checkpoint(path, model=model.state_dict(), optimizer=optimizer.state_dict(), mean=mean.values, step=step, best=best)
            saved = time.monotonic()
        if stop:
            break


def evaluate(args, mean, model, tokenizer, held_out, step, best):
    """Scores the running mean on the choosing part and keeps it if it is the best so far."""
    current = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(mean.values)
    with autocast(args):
        exact, f1 = reading.scores(reading.predict(model, tokenizer, held_out), held_out)
    print(f"step {step} choosing part: exact {exact:.2f} F1 {f1:.2f}", flush=True)
    if f1 > best:
        best = f1
        save_checkpoint(args.out_dir / "best.pt", model=mean.values)
    model.load_state_dict(current)
    return best


if __name__ == "__main__":
    main()
