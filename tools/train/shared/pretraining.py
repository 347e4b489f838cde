"""Masked language modelling on one stream of token ids that lies where the model is: nothing is read or copied between steps."""

import torch
from torch import nn
from torch.nn import functional as F

from shared.training import descend, make_optimizer

SPECIAL = ("[CLS]", "[SEP]", "[MASK]")
FIRST_WORD = 5  # ids below are special tokens


class Corpus:
    """Random windows of a stream, and whole words of them to predict."""

    def __init__(self, ids, vocab, device):
        """`ids` is an array of token ids, `vocab` maps tokens to ids."""
        self.ids = torch.as_tensor(ids.astype("int32"), device=device)
        self.cls, self.sep, self.mask = (vocab[name] for name in SPECIAL)
        self.vocab_size, self.device = len(vocab), device
        self.continues = torch.zeros(len(vocab), dtype=torch.bool)
        self.continues[[number for token, number in vocab.items() if token.startswith("##")]] = True
        self.continues = self.continues.to(device)

    def windows(self, count, length):
        """[count, length] ids between [CLS] and [SEP]."""
        start = torch.randint(len(self.ids) - length, (count, 1), device=self.device)
        ids = self.ids[start + torch.arange(length, device=self.device)].long()
        ids[:, 0], ids[:, -1] = self.cls, self.sep
        return ids

    def masked(self, ids, share):
        """Ids to read, the places of the words to predict, and the ids to predict (-100: none). It hides 85 % of these words and replaces 5 %."""
        word = (~self.continues[ids]).long().cumsum(1)
        chosen = (torch.rand(ids.shape[0], ids.shape[1] + 1, device=ids.device).gather(1, word) < share) & (ids >= FIRST_WORD)
        kind = torch.rand(ids.shape, device=ids.device)
        read = torch.where(chosen & (kind < 0.85), self.mask, ids)
        read = torch.where(chosen & (kind > 0.95), torch.randint_like(ids, FIRST_WORD, self.vocab_size), read)
        places = chosen.flatten().float().topk(int(share * ids.numel()), sorted=False).indices  # a fixed number: nothing waits for the device
        return read, places, torch.where(chosen, ids, -100).flatten()[places]


class WordHead(nn.Module):
    """Predicts words by the encoder's own token embeddings."""

    def __init__(self, hidden_size, embeddings):
        super().__init__()
        vocab_size, width = embeddings.weight.shape
        self.dense, self.norm, self.bias = nn.Linear(hidden_size, width), nn.LayerNorm(width), nn.Parameter(torch.zeros(vocab_size))
        nn.init.normal_(self.norm.weight, 1.0 / width ** 0.5, 0.0)  # logits begin small, whatever the size of the embeddings

    def loss(self, hidden, embeddings, places, words):
        """Mean cross-entropy of `words` at `places` of the flattened `hidden` [B, T, width]."""
        states = self.norm(F.gelu(self.dense(hidden.flatten(0, 1)[places])))
        return F.cross_entropy((F.linear(states, embeddings.weight) + self.bias).float(), words)


class MaskedWords(nn.Module):
    """An encoder of `transformers` (ConvBERT, DeBERTa) with a WordHead; call it for the loss of a batch."""

    def __init__(self, encoder, corpus, share=0.2):
        super().__init__()
        self.encoder, self.corpus, self.share = encoder, corpus, share
        self.head = WordHead(encoder.config.hidden_size, encoder.get_input_embeddings()).to(corpus.device)

    def forward(self, count, length):
        ids = self.corpus.windows(count, length)
        read, places, words = self.corpus.masked(ids, self.share)
        types = torch.zeros_like(ids)
        types[::2, 1:] = 1  # both token types see text
        hidden = self.encoder(input_ids=read, attention_mask=torch.ones_like(ids), token_type_ids=types).last_hidden_state
        return self.head.loss(hidden, self.encoder.get_input_embeddings(), places, words)


def autocast(device):
    """bfloat16 on a GPU; float32 elsewhere."""
    return torch.autocast("cuda", dtype=torch.bfloat16, enabled=torch.device(device).type == "cuda")


class Steps:
    """The optimizer with a running mean of the weights, without waiting for the device."""

    def __init__(self, modules, averaged, decay=0.998):
        self.optimizer = make_optimizer({id(p): p for module in modules for p in module.parameters()}.values())
        self.watched, self.decay, self.number = list(averaged.parameters()), decay, 0
        self.mean = [p.detach().clone() for p in self.watched]

    def step(self, loss, rate):
        descend(self.optimizer, loss, rate)
        self.number += 1
        torch._foreach_lerp_(self.mean, [p.detach() for p in self.watched], 1 - min(self.decay, self.number / (self.number + 10)))

    @torch.no_grad()
    def use_mean(self):
        """Puts the mean into the watched model; returns the weights that it had."""
        before = [p.detach().clone() for p in self.watched]
        torch._foreach_copy_(self.watched, self.mean)
        return before
