"""Trains the span head and the encoder of the reader: location examples first, then cloze ones too, then mostly real questions.

    python finetune_reader.py --encoder PRE/checkpoint.pt --cloze CLOZE.npz --tokenizer-dir TOK --out-dir OUT --minutes 60

Resumes from OUT/checkpoint.pt. Keeps the weights with the best F1 on the choosing part in OUT/best.pt.
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

import reading
from architectures import deberta_config
from examples import assemble, encode_rows, load_examples
from locate import LocateExamples
from schedule import Budget, linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread
from splits import reader_rows
from texts import DEFAULT_DATA_DIR

# Shares of location, cloze and real examples from these parts of the time on.
STAGES = [(0.0, (1.0, 0.0, 0.0)), (0.25, (0.35, 0.30, 0.35)), (0.50, (0.10, 0.15, 0.75)), (0.85, (0.0, 0.0, 1.0))]
QUOTING_UNTIL = 0.15  # share of the time over which questions that quote the answer fall from all to one in ten
WINDOWS = [(0.0, 56), (0.12, 96), (0.25, 144), (0.75, 288)]  # tokens of a window, from these parts of the time on


class Batches:
    """Endless batches of about the same number of tokens from one list of examples, sorted by length in pools."""

    def __init__(self, examples, batch_tokens, rng, vocab):
        self.examples, self.batch_tokens, self.rng = examples, batch_tokens, rng
        self.cls_id, self.sep_id = vocab["[CLS]"], vocab["[SEP]"]
        self.queue, self.pending, self.max_length = [], [], None

    def window(self, example, answer, max_length):
        """First context token shown; nearly always the answer is inside."""
        room = max_length - min(len(example.question), max_length // 3) - 3
        slack = len(example.context) - room
        if slack <= 0:
            return 0
        if self.rng.random() < 0.05:
            return self.rng.randint(0, slack)
        least = max(0, min(answer[1] - room + 1, slack))
        return self.rng.randint(least, max(least, min(answer[0], slack)))

    def refill(self, max_length):
        pool = []
        while len(pool) < 512:
            if not self.pending:
                self.pending = list(range(len(self.examples)))
                self.rng.shuffle(self.pending)
            example = self.examples[self.pending.pop()]
            answer = self.rng.choice(example.answers)
            pool.append(assemble(example, answer, self.window(example, answer, max_length), max_length, self.cls_id,
                                 self.sep_id))
        pool.sort(key=lambda item: len(item[0]))
        while pool:
            size = max(1, self.batch_tokens // len(pool[-1][0]))
            self.queue.append(pool[-size:])
            del pool[-size:]
        self.rng.shuffle(self.queue)

    def next(self, max_length):
        if max_length != self.max_length:
            self.queue, self.max_length = [], max_length
        if not self.queue:
            self.refill(max_length)
        items = self.queue.pop()
        width = max(len(ids) for ids, _ in items)
        ids = torch.zeros(len(items), width, dtype=torch.long)
        mask = torch.zeros(len(items), width, dtype=torch.long)
        for row, (values, _) in enumerate(items):
            ids[row, :len(values)] = torch.from_numpy(values)
            mask[row, :len(values)] = 1
        answers = torch.tensor([answer for _, answer in items])
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": self.types(ids)}
        return inputs, answers[:, 0], answers[:, 1]

    def types(self, ids):
        """1 from the passage on: after the first [SEP]."""
        separators = (ids == self.sep_id).long()
        return (separators.cumsum(1) - separators).clamp(max=1)


def span_loss(output, mask, first, last):
    hidden = mask == 0
    start = output.start_logits.float().masked_fill(hidden, -1e4)
    end = output.end_logits.float().masked_fill(hidden, -1e4)
    return (F.cross_entropy(start, first) + F.cross_entropy(end, last)) / 2


def at(stages, progress):
    """The value of the last stage that has begun."""
    return [value for start, value in stages if progress >= start][-1]


def build_model(vocab_size, dropout):
    config = deberta_config(vocab_size)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return DebertaV2ForQuestionAnswering(config)


def choosing_rows(data_dir, count):
    rows = [row for part in reader_rows(data_dir, "dev").values() for row in part]
    random.Random(0).shuffle(rows)
    return rows[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="checkpoint of pretrain.py")
    parser.add_argument("--cloze", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.0, help="no need below a few epochs")
    parser.add_argument("--evaluate-every", type=float, default=10, help="minutes")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)
    torch.set_num_threads(args.threads)

    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    vocab = tokenizer.get_vocab()
    model = build_model(len(vocab), args.dropout)
    optimizer = make_optimizer([model])
    path, step, elapsed, best = args.out_dir / "checkpoint.pt", 0, 0.0, -1.0
    if path.exists():
        state = load_checkpoint(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, elapsed, best = state["step"], state["elapsed"], state["best"]
    else:
        # Pre-training saw single texts, so the embedding of the second type may be missing there: it starts afresh.
        model.deberta.load_state_dict(load_checkpoint(args.encoder)["encoder"], strict=False)
    rng = random.Random(args.seed + step)
    cloze_examples = load_examples(args.cloze)
    rows = [row for part in reader_rows(args.data_dir, "train").values() for row in part]
    real_examples = encode_rows(tokenizer, rows)
    examples = {"locate": LocateExamples(cloze_examples + real_examples, rng, vocab), "cloze": cloze_examples,
                "real": real_examples}
    sources = {name: Batches(listed, args.batch_tokens, rng, vocab) for name, listed in examples.items()}
    held_out = choosing_rows(args.data_dir, 1000)
    print(f"{len(cloze_examples)} cloze examples, {len(real_examples)} questions", flush=True)
    budget, losses, seen = Budget(args.minutes, elapsed), {name: [] for name in sources}, 0
    saved = evaluated = time.monotonic()

    while budget.progress < 1:
        progress = budget.progress
        set_rate(optimizer, args.rate * linear_rate(progress))
        examples["locate"].quoting = max(0.1, 1 - 0.9 * progress / QUOTING_UNTIL)
        name = rng.choices(list(sources), at(STAGES, progress))[0]
        inputs, first, last = sources[name].next(at(WINDOWS, progress))
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = model(**inputs)
        loss = span_loss(output, inputs["attention_mask"], first, last)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses[name].append(loss.item())
        seen += len(first) * (name == "real")
        step += 1
        if step % 100 == 0:
            shown = " ".join(f"{name} {np.mean(values):.3f}" for name, values in losses.items() if values)
            print(f"step {step} minutes {budget.elapsed / 60:.1f} questions {seen} loss {shown}", flush=True)
            losses = {name: [] for name in sources}
        last_step = budget.progress >= 1
        if last_step or time.monotonic() - evaluated > args.evaluate_every * 60:
            exact, f1 = reading.scores(reading.predict(model, tokenizer, held_out), held_out)
            print(f"step {step} choosing part: exact {exact:.2f} F1 {f1:.2f}", flush=True)
            if f1 > best:
                best = f1
                save_checkpoint(args.out_dir / "best.pt", model=model.state_dict())
            evaluated = time.monotonic()
        if last_step or time.monotonic() - saved > 180:
            save_checkpoint(path, model=model.state_dict(), optimizer=optimizer.state_dict(), step=step,
                            elapsed=budget.elapsed, best=best)
            saved = time.monotonic()


if __name__ == "__main__":
    main()
