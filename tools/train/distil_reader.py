"""The reader's recipe for a GPU: text and questions together, then questions with a larger reader as the teacher.

    python reader_examples.py --weights MODEL_DIR --out examples.npz
    python distil_reader.py --role teacher --weights MODEL_DIR --examples examples.npz --work-dir WORK --out-dir OUT --seconds 400 &
    python distil_reader.py --role student --weights MODEL_DIR --examples examples.npz --work-dir WORK --out-dir OUT --seconds 400

The two processes run side by side and meet in WORK. The student begins as the saved reader, and is pre-trained. The teacher begins as the same reader, grown to twice the
width and depth; when about half of the time is over it writes its weights, and its process goes on as a second student from the first one's weights.
OUT/student.safetensors and OUT/teacher.safetensors (the second student) are means of the weights; `reader_weights.py` makes saved models of them.
"""

import argparse
import json
import os
import random
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import DebertaV2ForQuestionAnswering

from shared import attention, reading
from shared.clock import Clock
from shared.device_examples import DeviceExamples
from shared.grown import grown
from shared.reading_scores import measure, of_facts
from shared.pretraining import Corpus, MaskedWords, Steps, autocast
from shared.training import at, trapezoid_rate

# Shares of the steps, by the progress of a stage: masked words, and questions by source.
EARLY = [(0.0, {"text": 0.50, "recurring": 0.25, "real": 0.15, "sentence": 0.04, "facts": 0.06})]
TEACHER = [(0.0, {"text": 0.45, "recurring": 0.22, "real": 0.22, "sentence": 0.05, "facts": 0.06}),
           (0.5, {"text": 0.10, "recurring": 0.13, "real": 0.60, "sentence": 0.07, "facts": 0.10}),
           (0.75, {"recurring": 0.05, "real": 0.80, "sentence": 0.05, "facts": 0.10})]
LATE = [(0.0, {"text": 0.05, "recurring": 0.12, "real": 0.65, "sentence": 0.07, "facts": 0.11}), (0.6, {"recurring": 0.04, "real": 0.78, "sentence": 0.05, "facts": 0.13})]
LENGTHS = [(0.0, 192), (0.6, 256), (0.85, 384)]  # tokens of a window of a question, by the progress of a stage
TEACHER_ENDS, TRUNK_ENDS = 0.58, 0.55  # shares of all the time
TEXT_LENGTH = 192
TEMPERATURE = 2.0
HARD = 0.3  # weight of the labels where there is a teacher; the rest is the teacher's
LEAST_GAIN = 0.0  # points of F1 by which a teacher is better than its student, or it does not teach
KEPT = (0.75, 0.9)  # shares of the last stage at which the mean of the weights is kept, in case the end is missed


def set_dropout(model, chance):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = chance


def masked_logits(output, inputs):
    hidden = inputs["attention_mask"] == 0
    return [logits.float().masked_fill(hidden, -1e4) for logits in (output.start_logits, output.end_logits)]


def label_loss(logits, places):
    """Minus the logarithm of the chance of any of the right places, at either end."""
    return sum((one.logsumexp(-1) - one.masked_fill(~place, -1e4).logsumexp(-1)).mean() for one, place in zip(logits, places)) / 2


def teacher_loss(logits, taught):
    return sum(F.kl_div(F.log_softmax(one / TEMPERATURE, -1), F.log_softmax(other / TEMPERATURE, -1), log_target=True, reduction="batchmean")
               for one, other in zip(logits, taught)) * TEMPERATURE ** 2 / 2


def write(tensors, path):
    partial = path.with_suffix(".partial")
    save_file({name: value.half().contiguous().cpu() for name, value in tensors.items()}, partial)
    os.replace(partial, path)


class Trainer:

    def __init__(self, args):
        self.args, self.clock, self.rng = args, Clock(args.seconds, since=args.since), random.Random(args.seed)
        self.tokenizer = Tokenizer.from_file(str(args.weights / "tokenizer.json"))
        vocab, arrays = self.tokenizer.get_vocab(), dict(np.load(args.examples))
        self.corpus = Corpus(arrays["ids"], vocab, args.device)
        self.examples = DeviceExamples(arrays, self.corpus, vocab, args.device)
        self.held_out = json.loads(args.examples.with_suffix(".dev.json").read_text(encoding="utf-8"))

    def load(self, path=None):
        model = DebertaV2ForQuestionAnswering.from_pretrained(self.args.weights, dtype=torch.float32)
        if path:
            model.load_state_dict({name: value.float() for name, value in load_file(path).items()})
        return model.to(self.args.device)

    def question_loss(self, model, source, length, teacher):
        args = self.args
        inputs, *places = self.examples.batch(source, max(1, args.batch_tokens // length), length, args.without, args.swapped, args.renamed)
        logits = masked_logits(model(**inputs), inputs)
        loss = label_loss(logits, places)
        if teacher is None:
            return loss
        with torch.no_grad():
            taught = masked_logits(teacher(**inputs), inputs)
        return HARD * loss + (1 - HARD) * teacher_loss(logits, taught)

    def stage(self, name, model, begin, end, shares, rate, dropout, decay=0.35, find_teacher=None, kept=()):
        """Trains from `begin` to `end`, shares of all the time; leaves the mean of the weights in the model."""
        words = MaskedWords(model.deberta, self.corpus)
        steps, losses, kept = Steps([model, words.head], model, self.args.average), {}, list(kept)
        teacher, begin = None, max(begin, self.clock.progress)
        set_dropout(model, dropout)
        while self.clock.progress < end:
            progress = (self.clock.progress - begin) / (end - begin)
            chosen = at(shares, progress)
            source = self.rng.choices(list(chosen), chosen.values())[0]
            if find_teacher and teacher is None and steps.number % 10 == 0:
                teacher, find_teacher = find_teacher(model)
            model.train()
            with autocast(self.args.device):
                if source == "text":
                    loss = words(max(1, self.args.batch_tokens // TEXT_LENGTH), TEXT_LENGTH)
                else:
                    loss = self.question_loss(model, source, at(LENGTHS, progress), teacher)
            steps.step(loss, rate * trapezoid_rate(progress, decay=decay))
            losses[source] = loss.detach()
            if self.clock.due(self.args.every):
                self.clock.say(f"{name} {100 * progress:.0f} % step {steps.number} taught {teacher is not None} "
                               + " ".join(f"{one} {value.item():.3f}" for one, value in sorted(losses.items())))
            if kept and progress > kept[0][0]:
                self.keep_mean(steps, model, kept.pop(0)[1])
        finite = all(bool(torch.isfinite(p).all()) for p in steps.mean)
        steps.use_mean()
        self.clock.say(f"{name}: {steps.number} steps, finite: {finite}")
        return finite

    def keep_mean(self, steps, model, path):
        before = steps.use_mean()
        if all(bool(torch.isfinite(p).all()) for p in steps.mean):
            write(model.state_dict(), path)
        with torch.no_grad():
            torch._foreach_copy_(steps.watched, before)

    def f1(self, model):
        rows = self.held_out["rows"]
        return reading.scores(reading.predict(model, self.tokenizer, rows), rows)[1]

    def report(self, name, model):
        print(name, measure(model, self.tokenizer, self.held_out["rows"]) | of_facts(model, self.tokenizer, self.held_out["facts"]), flush=True)


def as_teacher(trainer):
    """Trains the larger model and writes what it is worth. Returns it."""
    args = trainer.args
    model = trainer.load()
    inputs, *_ = trainer.examples.batch("real", 64, 192)
    set_dropout(model, 0.0)
    teacher = grown(model, inputs)
    if args.check:
        print("grown: F1", trainer.f1(teacher), "before", trainer.f1(model), flush=True)
    finite = trainer.stage("teacher", teacher, 0, TEACHER_ENDS, TEACHER, args.teacher_rate, args.teacher_dropout)
    write(teacher.state_dict(), args.work_dir / "teacher.safetensors")
    worth = trainer.f1(teacher) if finite else 0.0
    (args.work_dir / "teacher.partial").write_text(json.dumps({"f1": worth, "config": teacher.config.to_dict()}, default=str))
    os.replace(args.work_dir / "teacher.partial", args.work_dir / "teacher.json")
    trainer.clock.say(f"teacher: F1 {worth:.2f}")
    return teacher.eval(), worth


def teacher_finder(trainer, own=None):
    """A function of the student: (the teacher or None, the function to call next time or None)."""
    path = trainer.args.work_dir / "teacher.json"

    def find(model):
        if own is None and not path.exists():
            return None, find
        teacher, worth = own or (None, json.loads(path.read_text())["f1"])
        student = trainer.f1(model)
        teaches = worth > student + LEAST_GAIN
        trainer.clock.say(f"student: F1 {student:.2f}, teacher {worth:.2f}, teaches: {teaches}")
        if not teaches:
            return None, None
        if teacher is None:
            small = trainer.load()
            inputs, *_ = trainer.examples.batch("real", 8, 192)
            teacher = grown(small, inputs)
            teacher.load_state_dict({name: value.float() for name, value in load_file(path.with_suffix(".safetensors")).items()})
        set_dropout(teacher, 0.0)
        return teacher.eval(), None

    return find


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--role", choices=("teacher", "student"), required=True)
    for name in ("weights", "examples", "work-dir", "out-dir"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--since", type=float, help="when these seconds began, if not now (seconds since 1970)")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--check", action="store_true", help="measure the grown model before its training")
    for name, value in {"batch_tokens": 16384, "rate": 1.2e-3, "late_rate": 1e-3, "teacher_rate": 7e-4, "dropout": 0.05, "teacher_dropout": 0.1, "average": 0.995,
                        "without": 0.18, "swapped": 0.2, "renamed": 0.1, "seed": 1, "every": 15.0}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(2)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.enable_cudnn_sdp(False)  # it cannot compute the gradient of a bias
    attention.use()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    args.out_dir.mkdir(parents=True, exist_ok=True)
    trainer, out, trunk = Trainer(args), args.out_dir / f"{args.role}.safetensors", args.work_dir / "trunk.safetensors"
    if args.role == "teacher":
        own = as_teacher(trainer)
        model = trainer.load(trunk if trunk.exists() else None)
    else:
        own, model = None, trainer.load()
        if trainer.stage("trunk", model, 0, TRUNK_ENDS, EARLY, args.rate, args.dropout, decay=0.15):
            write(model.state_dict(), trunk)
            write(model.state_dict(), out)
        else:
            model = trainer.load()
    if trainer.stage(f"{args.role}'s student", model, 0, 1, LATE, args.late_rate, args.dropout, find_teacher=teacher_finder(trainer, own), kept=[(one, out) for one in KEPT]):
        write(model.state_dict(), out)
        trainer.report(f"{args.role}'s student:", model)


if __name__ == "__main__":
    main()
