"""Pre-trains an encoder by replaced-token detection: a generator fills masked words in, the encoder tells which were replaced.

    python pretrain_rtd.py --tokenizer-dir TOK --corpus-dir CORPUS --out-dir OUT --minutes 8 [--device cuda] [--size large]

After ELECTRA (Clark et al., 2020), with the embeddings of DeBERTa v3 (He et al., 2021): the encoder's table is the generator's, held
still, and a difference of its own. Every position teaches, so little compute goes far. Windows are cut from one long stream of tokens:
nothing is padded. Resumes from OUT/checkpoint.pt; the encoder for fine-tuning is OUT/encoder.pt.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import DebertaV2Model

import device_attention
from architectures import generator_config, reader_config
from schedule import Budget, load_checkpoint, make_optimizer, save_checkpoint, set_rate, trapezoid_rate

MIX = {"task": 0.14, "openstax": 0.42, "standard-ebooks": 0.36, "factbook": 0.04, "us-speeches": 0.04}
MASKED = 0.15
DETECTION_WEIGHT = 50.0


class Head(nn.Module):
    def __init__(self, config, size):
        super().__init__()
        self.dense, self.norm = nn.Linear(config.hidden_size, size), nn.LayerNorm(size)

    def forward(self, hidden):
        return self.norm(F.gelu(self.dense(hidden)))


class Pair(nn.Module):
    """Generator and discriminator over one vocabulary."""

    def __init__(self, vocab_size, size, vectors=None):
        super().__init__()
        small, large = generator_config(vocab_size, size), reader_config(vocab_size, size)
        for config in (small, large):
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        self.generator, self.encoder = DebertaV2Model(small), DebertaV2Model(large)
        width = large.embedding_size
        self.shared = nn.Parameter(torch.randn(vocab_size, width) if vectors is None else torch.from_numpy(vectors).float())
        self.difference = nn.Parameter(torch.zeros(vocab_size, width))
        self.fill, self.fill_bias = Head(small, width), nn.Parameter(torch.zeros(vocab_size))
        self.detect, self.decide = Head(large, large.hidden_size), nn.Linear(large.hidden_size, 1)
        for model in (self.generator, self.encoder):
            del model.embeddings.word_embeddings

    def forward(self, ids, masked, chosen):
        """Losses of filling in and of detecting, and the share of replacements that are found."""
        everywhere = torch.ones_like(ids)
        hidden = self.generator(inputs_embeds=F.embedding(masked, self.shared), attention_mask=everywhere).last_hidden_state
        at = chosen.flatten().nonzero()[:, 0]
        logits = self.fill(hidden.flatten(0, 1)[at]) @ self.shared.T.to(hidden.dtype) / self.shared.shape[1] ** 0.5 + self.fill_bias
        filling = F.cross_entropy(logits.float(), ids.flatten()[at])
        with torch.no_grad():
            noise = -torch.empty_like(logits, dtype=torch.float32).exponential_().log()
            filled = ids.flatten().scatter(0, at, (logits.float() + noise).argmax(-1)).view_as(ids)
            replaced = (filled != ids).float()
        table = self.shared.detach() + self.difference
        hidden = self.encoder(inputs_embeds=F.embedding(filled, table), attention_mask=everywhere).last_hidden_state
        guess = self.decide(self.detect(hidden)).squeeze(-1).float()
        detecting = F.binary_cross_entropy_with_logits(guess, replaced)
        found = ((guess > 0) * replaced).sum() / replaced.sum().clamp(min=1)
        return filling, detecting, found.detach()

    def exported(self):
        """Weights of the encoder, as transformers names them."""
        return {**self.encoder.state_dict(), "embeddings.word_embeddings.weight": (self.shared + self.difference).detach()}


class Windows:
    """Random windows of the token streams and their masks, made where the model is."""

    def __init__(self, folder, vocab, length, batch, device):
        streams = {name: np.fromfile(Path(folder) / f"{name}.u16", dtype=np.uint16) for name in MIX}
        starts = np.cumsum([0, *(len(stream) for stream in streams.values())])
        self.tokens = torch.from_numpy(np.concatenate(list(streams.values())).astype(np.int32)).to(device)
        self.ranges = torch.from_numpy(np.stack([starts[:-1], starts[1:] - length], 1)).to(device)
        self.shares = torch.tensor(list(MIX.values()), device=device)
        self.length, self.batch, self.device = length, batch, device
        self.special = {name: vocab[f"[{name}]"] for name in ("CLS", "SEP", "MASK")}
        self.continues = torch.zeros(len(vocab), dtype=torch.bool, device=device)
        self.continues[[number for token, number in vocab.items() if token.startswith("##")]] = True

    def next(self):
        """(ids, ids with masked words, which are masked)"""
        source = torch.multinomial(self.shares, self.batch, replacement=True)
        low, high = self.ranges[source].unbind(1)
        start = (low + torch.rand(self.batch, device=self.device, dtype=torch.float64) * (high - low)).long()
        ids = self.tokens[start[:, None] + torch.arange(self.length, device=self.device)].long()
        ids[:, 0], ids[:, -1] = self.special["CLS"], self.special["SEP"]
        word = (~self.continues[ids.flatten()]).cumsum(0)
        chosen = (torch.rand(ids.numel() + 1, device=self.device) < MASKED)[word].view_as(ids) & (ids >= 5)
        return ids, torch.where(chosen, self.special["MASK"], ids), chosen


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--corpus-dir", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, help="result of word_vectors.py, to begin with")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="of all runs together")
    parser.add_argument("--size", choices=["small", "large"], default="large")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--compile", action="store_true", help="worth it for long runs only: compiling takes a minute or more")
    return parser.parse_args()


def main():
    args = arguments()
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    device_attention.use()
    vocab = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json")).get_vocab()
    pair = Pair(len(vocab), args.size, np.load(args.vectors) if args.vectors else None).to(args.device).train()
    optimizer = make_optimizer([pair])
    path, step, elapsed = args.out_dir / "checkpoint.pt", 0, 0.0
    if path.exists():
        state = load_checkpoint(path)
        pair.load_state_dict(state["pair"])
        optimizer.load_state_dict(state["optimizer"])
        step, elapsed = state["step"], state["elapsed"]
    windows = Windows(args.corpus_dir, vocab, args.length, args.batch, args.device)
    run = torch.compile(pair) if args.compile else pair
    budget, saved, begun = Budget(args.minutes, elapsed), time.monotonic(), step
    kind = torch.device(args.device).type

    def save():
        save_checkpoint(path, pair=pair.state_dict(), optimizer=optimizer.state_dict(), step=step, elapsed=budget.elapsed)
        save_checkpoint(args.out_dir / "encoder.pt", encoder=pair.exported())

    while budget.progress < 1:
        set_rate(optimizer, args.rate * trapezoid_rate(budget.progress, decay=0.3))
        with torch.autocast(kind, dtype=torch.bfloat16):
            try:
                filling, detecting, found = run(*windows.next())
            except Exception as error:  # the compiler's: the model itself was tested without it
                if run is pair:
                    raise
                print(f"not compiled: {type(error).__name__}: {str(error)[:300]}", flush=True)
                run = pair
                continue
        (filling + DETECTION_WEIGHT * detecting).backward()
        nn.utils.clip_grad_norm_(pair.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % 100 == 0 or step == 10:
            rate = (step - begun) * args.batch * args.length / (time.monotonic() - budget.start - elapsed)
            print(f"step {step} minutes {budget.elapsed / 60:.2f} tokens per second {rate:.0f} filling {filling.item():.3f} "
                  f"detecting {detecting.item():.4f} found {found.item():.3f}", flush=True)
        if time.monotonic() - saved > 120:
            save()
            saved = time.monotonic()
    save()


if __name__ == "__main__":
    main()
