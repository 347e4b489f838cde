"""Texts without labels beside phrases that say more or less what they are about, as a sentence encoder (all-MiniLM-L6-v2) sees it.

The encoder's cosines replace labels: of six phrases two are near the text, two less so, and two are any. Phrases that are held out as labels
(zero_shot_texts.py) do not occur.
"""

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import BertModel

from shared.training import cached, equal_length_batches
from shared.zero_shot_texts import LABELS, Draw

SHARPNESS, MIDDLE = 20.0, 0.33  # cosines to chances: among the labels of a text by softmax, of each by itself by the logistic function
NEAR, LESS_NEAR = 25, 600  # how many phrases are near a text, and how many are less so
MOST_TEXTS = 16000


@torch.no_grad()
def embeddings(folder, texts, longest=64):
    """Unit vectors [texts, 384] of the encoder in this folder: the mean over a text's tokens."""
    model, tokenizer = BertModel.from_pretrained(folder, add_pooling_layer=False).eval(), Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    items = [(encoding.ids,) for encoding in tokenizer.encode_batch(texts)]
    found = np.zeros((len(texts), model.config.hidden_size), np.float32)
    for batch in equal_length_batches(items, 8192, 128):
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model(torch.tensor([items[index][0] for index in batch])).last_hidden_state
        found[batch] = F.normalize(hidden.float().mean(1), dim=1).numpy()
    return found


class NearLabels:
    def __init__(self, teacher, source, rng, path):
        """`path` is the file that keeps the vectors; `source` a Source of zero_shot_texts.py."""
        self.rng = rng

        def encoded():
            texts = source.rng.sample(source.texts, min(len(source.texts), MOST_TEXTS))
            names = [name for listed in source.names.values() for names in listed.values() for name in names]
            phrases = list(dict.fromkeys([*names, *source.phrases]))
            return texts, phrases, embeddings(teacher, texts), embeddings(teacher, phrases)

        self.texts, self.phrases, self.text_vectors, self.phrase_vectors = cached(path, encoded)

    def draw(self):
        rng = self.rng
        number = rng.randrange(len(self.texts))
        cosines = self.phrase_vectors @ self.text_vectors[number]
        order = np.argpartition(-cosines, LESS_NEAR)[:LESS_NEAR]
        order = order[np.argsort(-cosines[order])]
        chosen = [int(order[rank]) for rank in (*rng.sample(range(NEAR), 2), *rng.sample(range(NEAR, LESS_NEAR), 2))]
        chosen += [one for one in rng.sample(range(len(self.phrases)), LABELS) if one not in chosen][:LABELS - len(chosen)]
        rng.shuffle(chosen)
        near = torch.from_numpy(cosines[chosen])
        return Draw(self.texts[number], [self.phrases[one] for one in chosen], torch.softmax(SHARPNESS * near, 0).tolist(),
                    torch.sigmoid(SHARPNESS * (near - MIDDLE)).tolist())
