"""Parts of the recipes for a GPU: a run has so many seconds, and its rate falls to nothing when they are over.

Texts are made in other processes meanwhile, and a copy of the weights is judged there, so that the device need not wait.
"""

import argparse
import copy
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch

from shared.texts import DEFAULT_DATA_DIR
from shared.training import Average, descend, make_optimizer, save_model, trapezoid_rate

JUDGED = 0.08  # of the run between two judgements


def timed_parser(doc, **settings):
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--weights", type=Path, required=True, help="folder of a saved model of the recipe")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="of the whole run")
    parser.add_argument("--device", default="cpu")
    for name, value in {**settings, "seed": 1}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return parser


def rate_within(progress, start, end, warmup=0.04, decay=0.6):
    """The rate's factor in the part of a run from `start` to `end`."""
    return trapezoid_rate(min(max((progress - start) / (end - start), 0.0), 1.0), warmup, decay)


def prepare(device, seed):
    signal.signal(signal.SIGTERM, lambda *_: leave())
    torch.set_num_threads(1 if device != "cpu" else 2)
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True


class TimedRun:
    """A model in training on a device, with the mean of its weights."""

    def __init__(self, model, average=0.999):
        self.model, self.optimizer, self.average, self.steps = model, make_optimizer(model.parameters()), Average(model, average), 0

    def step(self, loss, rate):
        descend(self.optimizer, loss, rate)
        self.average.update(self.model)
        self.steps += 1
        return loss.detach()

    def weights(self):
        return {name: value.detach().cpu().numpy().copy() for name, value in self.average.model.state_dict().items()}


def in_background(count=1):
    """Processes that leave the first places to those which feed the device. Start them before the device is touched."""
    workers = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork"), initializer=_quieter)
    workers.submit(os.getpid).result()
    return workers


def _quieter():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(int(os.environ.get("MAKERS_NICE", 8)))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)


class Supply:
    """Rounds of texts that other processes go on making, each under its number; when none is new, an earlier one again."""

    def __init__(self, workers, make, most, ahead):
        self.submit, self.most, self.ahead = lambda number: workers.submit(make, number), most, ahead
        self.waiting, self.rounds, self.number = [], [], 0
        self.ask()

    def ask(self):
        while len(self.waiting) < self.ahead and self.number < self.most:
            self.waiting.append(self.submit(self.number))
            self.number += 1

    def collect(self, convert):
        """Takes what is there; call it now and then, so that the others have something to do."""
        for future in [one for one in self.waiting if one.done()]:
            self.waiting.remove(future)
            self.rounds.append(convert(future.result()))
        self.ask()

    def next(self, convert, rng, seen):
        """A round, and how many different ones have been `seen` with it. An earlier round comes again while none is new."""
        while True:
            self.collect(convert)
            if seen < len(self.rounds):
                return self.rounds[seen], seen + 1
            if self.rounds:
                return self.rounds[rng.integers(len(self.rounds))], seen
            time.sleep(0.2)


JUDGE = {}


def judged(make_judge, make_model, weights, number):
    """In another process: (what the judge says of these weights, number). The judge is made once."""
    if "judge" not in JUDGE:
        JUDGE["judge"], JUDGE["model"] = make_judge(), make_model()
    model = JUDGE["model"]
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    return JUDGE["judge"](model.eval()), number


class Best:
    """Keeps the weights of which a judge in another process says the most."""

    def __init__(self, workers, make_judge, make_model, clock, first):
        self.submit = lambda weights, number: workers.submit(judged, make_judge, make_model, weights, number)
        self.clock, self.at, self.waiting, self.best, self.weights = clock, first, [], float("-inf"), None

    def look(self, run, last=False):
        if last or (self.clock.progress >= self.at and len(self.waiting) < 2):
            self.at = self.clock.progress + JUDGED
            weights = run.weights()
            self.waiting.append((self.submit(weights, run.steps), weights))
        for future, weights in [one for one in self.waiting if last or one[0].done()]:
            try:
                choice, number = future.result()
            except Exception as problem:  # the training is worth more than one judgement
                print(f"{self.clock.name}: not judged: {problem!r}", flush=True)
                continue
            print(f"{self.clock.name} step {number}: choice {choice:.2f}", flush=True)
            if choice > self.best:
                self.best, self.weights = choice, weights
        self.waiting = [] if last else [one for one in self.waiting if not one[0].done()]


def leave():
    """Ends this process and those that still make texts for it."""
    sys.stdout.flush()
    for child in multiprocessing.active_children():
        child.terminate()
    os._exit(0)


def save_weights(weights, make_model, tokenizer_dir, out_dir):
    model = make_model()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    out_dir.mkdir(parents=True, exist_ok=True)
    save_model(copy.deepcopy(model).half(), Path(tokenizer_dir), out_dir)


class Rows:
    """Token ids of many texts on a device, one after the other, and batches of one length."""

    def __init__(self, texts, device):
        self.lengths = np.array([len(text) for text in texts], np.int32)
        self.ids = torch.from_numpy(np.concatenate([np.asarray(text, np.int32) for text in texts])).to(device)
        self.starts = torch.from_numpy(np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)).to(device)
        self.places = torch.arange(int(self.lengths.max()), device=device)
        self.device = device

    def where(self, index, length):
        return self.starts[index][:, None] + self.places[:length]

    def read(self, index, length):
        return self.ids[self.where(index, length)].long()

    def steps(self, chosen, tokens, rng, most=6):
        """Lists of (index on the device, length): what one step shows. Full batches stand alone, small ones together."""
        order = rng.permutation(chosen)
        order = order[np.argsort(self.lengths[order], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.lengths[order])) + 1
        on_device, full, small = torch.from_numpy(order).to(self.device), [], []
        for start, end in zip([0, *cuts], [*cuts, len(order)]):
            length = int(self.lengths[order[start]])
            size = max(1, tokens // length)
            for at in range(start, end, size):
                batch = on_device[at:min(at + size, end)], length
                (full if len(batch[0]) == size else small).append(batch)
        rng.shuffle(small)
        together, count = [], 0
        for batch in small:
            together.append(batch)
            count += len(batch[0]) * batch[1]
            if count >= tokens or len(together) == most:
                full.append(together)
                together, count = [], 0
        found = [one if isinstance(one, list) else [one] for one in full] + ([together] if together else [])
        return [found[number] for number in rng.permutation(len(found))]
