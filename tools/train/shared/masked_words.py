"""Pre-training: some words of a text are hidden or exchanged, and the encoder predicts the original ones."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from shared.texts import SENTIMENT_SETS, emotion_rows, general_documents, intent_rows, passages, read_lines, sentiment_rows
from shared.timed import rate_within

HIDDEN = 0.15
WINDOW = 128  # tokens of a row


def corpus_texts(data_dir):
    """(texts of the tasks, other texts) that may be trained on."""
    task = [text for text, _ in emotion_rows(data_dir, "train")] + [text for text, _ in intent_rows(data_dir, "train")] + passages(data_dir, "train")
    task += [text for name in SENTIMENT_SETS for _, text in sentiment_rows(data_dir, name, "train")]
    task += [line.split("\t")[1] for line in read_lines(data_dir / "classification" / "subjectivity-train.tsv.gz")]
    files = [path.name.removesuffix(".txt.xz") for path in sorted((data_dir / "english-text").glob("*.txt.xz"))]
    return task, [paragraph for name in files if "wikitext" not in name for document in general_documents(data_dir, name) for paragraph in document]


def corpus_ids(tokenizer, data_dir, own, share=1.0):
    """One array of token ids: the texts in any order, each ended by [SEP], those of the tasks `own` times. `share` of all, for a trial."""
    end, found = tokenizer.token_to_id("[SEP]"), []
    for texts, times in zip(corpus_texts(data_dir), (own, 1)):
        texts = texts[::round(1 / share)]
        for start in range(0, len(texts), 4000):
            encoded = tokenizer.encode_batch(texts[start:start + 4000], add_special_tokens=False)
            found += [np.array([*encoding.ids, end], np.uint16) for encoding in encoded] * times
    return np.concatenate([found[number] for number in np.random.default_rng(1).permutation(len(found))])


class MaskedWords(nn.Module):

    def __init__(self, encoder, vocab):
        super().__init__()
        self.encoder, self.mask = encoder, vocab["[MASK]"]
        words = encoder.get_input_embeddings().weight
        self.change, self.norm = nn.Linear(encoder.config.hidden_size, words.shape[1]), nn.LayerNorm(words.shape[1])
        self.bias = nn.Parameter(torch.zeros(len(words)))
        with torch.no_grad():  # so that no guess is sure at first, however long the word vectors are
            self.norm.weight.fill_(min(1.0, 1.0 / float(words.norm(dim=1).mean())))

    def forward(self, ids):
        count = round(HIDDEN * ids.shape[1])
        places = torch.rand(ids.shape, device=ids.device).topk(count).indices
        targets = ids.gather(1, places)
        kind = torch.rand(targets.shape, device=ids.device)
        other = torch.where(kind < 0.9, torch.randint_like(targets, 5, len(self.bias)), targets)
        shown = ids.scatter(1, places, torch.where(kind < 0.8, self.mask, other))
        states = self.encoder(input_ids=shown).last_hidden_state
        states = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
        logits = F.linear(self.norm(F.gelu(self.change(states))), self.encoder.get_input_embeddings().weight, self.bias)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def pretrain(run, ids, vocab, device, clock, end, tokens, rate, autocast):
    """Until `end` of the run. `run` trains a MaskedWords; `ids` is the whole corpus on the CPU."""
    stream, places = torch.from_numpy(ids.astype(np.int32)).to(device), torch.arange(WINDOW - 2, device=device)
    edges = [torch.full((tokens // WINDOW, 1), vocab[name], device=device) for name in ("[CLS]", "[SEP]")]
    start, loss = clock.progress(), None
    run.model.train()
    while (progress := clock.progress()) < end:
        rows = torch.randint(len(stream) - WINDOW, (tokens // WINDOW, 1), device=device)
        with autocast():
            loss = run.model(torch.cat([edges[0], stream[rows + places].long(), edges[1]], 1))
        loss = run.step(loss, rate * rate_within(progress, start, end))
        if run.steps % 20 == 0:
            clock.say(f"pre-training step {run.steps} ({run.steps * tokens / 1e6:.0f} M tokens) loss {loss.item():.3f}")
    print(f"{clock.name}: pre-trained {run.steps} steps, {run.steps * tokens / 1e6:.0f} M tokens, loss {loss.item() if loss is not None else 0:.3f}", flush=True)
