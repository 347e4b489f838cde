"""Pre-trains the encoder of a saved model by masked words, for some seconds of a GPU; what the model does with the encoder is not trained.

    python encode_corpus.py --weights MODEL_DIR --out corpus.npz
    python pretrain.py --weights MODEL_DIR --corpus corpus.npz --out-dir OUT --seconds 120 --device cuda

OUT is again a saved model, with the mean of the encoder's weights.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from export_model import load
from shared import attention
from shared.clock import Clock
from shared.pretraining import Corpus, MaskedWords, Steps, autocast
from shared.training import save_model, trapezoid_rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True, help="folder of a saved model")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=192, help="windows")
    parser.add_argument("--length", type=int, default=192, help="tokens of a window")
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    attention.use()
    model = load(args.weights).to(args.device)
    corpus = Corpus(np.load(args.corpus)["ids"], Tokenizer.from_file(str(args.weights / "tokenizer.json")).get_vocab(), args.device)
    task = MaskedWords(model.base_model, corpus).train()
    steps, clock = Steps([task], model), Clock(args.seconds)
    while clock.progress < 1:
        with autocast(args.device):
            loss = task(args.batch, args.length)
        steps.step(loss, args.rate * trapezoid_rate(clock.progress))
        if clock.due():
            clock.say(f"step {steps.number}, {steps.number * args.batch * args.length / clock.elapsed:.0f} tokens a second, loss {loss.item():.3f}")
    steps.use_mean()
    save_model(model.cpu(), args.weights, args.out_dir)


if __name__ == "__main__":
    main()
