"""Masked-language-model pre-training of one demo encoder on one CPU core.

    python pretrain.py --model convbert|deberta --tokenizer-dir TOK --corpus-dir CORPUS --out-dir OUT --minutes 50

Resumes from OUT/checkpoint.pt when that exists. The result is OUT/checkpoint.pt (keys `encoder`, `head`).
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from tokenizers import Tokenizer
from transformers import ConvBertModel, DebertaV2Model

from architectures import convbert_config, deberta_config
from masking import WordMasker
from schedule import Budget, linear_rate, load_checkpoint, make_optimizer, save_checkpoint, set_rate, single_thread

# Shares of the sources in a batch: the classifier reads opinions, the reader reads expository prose.
MIXES = {
    "convbert": {"task": 0.40, "openstax": 0.25, "standard-ebooks": 0.30, "us-speeches": 0.05},
    "deberta": {"task": 0.20, "openstax": 0.50, "standard-ebooks": 0.15, "factbook": 0.10, "us-speeches": 0.05},
}


class MaskedLmHead(nn.Module):
    """ELECTRA-style head; the output matrix is the encoder's word embedding."""

    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, hidden, embedding):
        return self.norm(F.gelu(self.dense(hidden))) @ embedding.T + self.bias


class Corpus:
    """Random windows of the token streams, drawn by source share."""

    def __init__(self, folder, shares, length, cls_id, sep_id):
        self.streams = [np.memmap(Path(folder) / f"{name}.u16", dtype=np.uint16, mode="r") for name in shares]
        self.shares = np.array(list(shares.values()))
        self.length, self.cls_id, self.sep_id = length, cls_id, sep_id

    def batch(self, size, rng):
        ids = np.empty((size, self.length), dtype=np.int64)
        ids[:, 0], ids[:, -1] = self.cls_id, self.sep_id
        for row, source in enumerate(rng.choice(len(self.streams), size=size, p=self.shares)):
            stream = self.streams[source]
            start = rng.integers(0, len(stream) - self.length)
            ids[row, 1:-1] = stream[start:start + self.length - 2]
        return ids


def build_encoder(name, vocab_size):
    config_of, model_of = {"convbert": (convbert_config, ConvBertModel),
                           "deberta": (deberta_config, DebertaV2Model)}[name]
    config = config_of(vocab_size)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0  # far less than one epoch: no need
    return model_of(config).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=list(MIXES), required=True)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--corpus-dir", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    single_thread(args.seed)

    vocab = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json")).get_vocab()
    corpus = Corpus(args.corpus_dir, MIXES[args.model], args.length, vocab["[CLS]"], vocab["[SEP]"])
    masker = WordMasker(vocab)
    encoder = build_encoder(args.model, len(vocab))
    head = MaskedLmHead(encoder.config)
    optimizer = make_optimizer([encoder, head])
    step, elapsed = 0, 0.0
    path = args.out_dir / "checkpoint.pt"
    if path.exists():
        state = load_checkpoint(path)
        encoder.load_state_dict(state["encoder"])
        head.load_state_dict(state["head"])
        optimizer.load_state_dict(state["optimizer"])
        step, elapsed = state["step"], state["elapsed"]
    rng = np.random.default_rng([args.seed, step])
    budget = Budget(args.minutes, elapsed)
    embedding = encoder.get_input_embeddings().weight
    attention_mask = torch.ones(args.batch, args.length, dtype=torch.long)
    losses, saved = [], time.monotonic()

    def save():
        save_checkpoint(path, encoder=encoder.state_dict(), head=head.state_dict(),
                        optimizer=optimizer.state_dict(), step=step, elapsed=budget.elapsed)

    while budget.progress < 1:
        set_rate(optimizer, args.rate * linear_rate(budget.progress))
        ids = corpus.batch(args.batch, rng)
        masked, selected = masker(ids, rng)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = encoder(input_ids=masked, attention_mask=attention_mask).last_hidden_state
            logits = head(hidden[selected], embedding)
        loss = F.cross_entropy(logits.float(), torch.from_numpy(ids)[selected])
        loss.backward()
        nn.utils.clip_grad_norm_([*encoder.parameters(), *head.parameters()], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        step += 1
        if step % 100 == 0:
            print(f"step {step} minutes {budget.elapsed / 60:.1f} loss {np.mean(losses):.3f}", flush=True)
            losses.clear()
        if time.monotonic() - saved > 180:
            save()
            saved = time.monotonic()
    save()


if __name__ == "__main__":
    main()
