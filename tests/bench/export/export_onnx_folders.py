"""Makes folders as they are on the hub for transformers.js: config.json, tokenizer.json, onnx/model_quantized.onnx, and reference.json.

    python export_onnx_folders.py <folder of all-MiniLM-L6-v2> <folder for the results> [name ...] [--peer <checkout> --peer-python <python>]

The embedder has its published weights. The classifiers have random weights in the published sizes. ONNX files are made by transformers.js's own
scripts (run_peer_scripts.py) if a checkout is given; otherwise by torch's exporter and onnxruntime's quantiser, with the settings of these
scripts (per channel, 7 bits), but without onnxslim. reference.json holds texts and the
results of onnxruntime with the file's weights and float activations: logits, or for the embedder the normalised mean.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime import InferenceSession
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import AutoModel, DebertaV2Config, DebertaV2ForSequenceClassification, DistilBertConfig, DistilBertForSequenceClassification
from transformers import XLMRobertaConfig, XLMRobertaForTokenClassification

sys.path.append(str(Path(__file__).resolve().parents[2] / "reference"))
from onnx_floats import with_float_activations  # noqa: E402

TEXTS = 12
LABELS = {index: name for index, name in enumerate(["zero", "one", "two", "three"])}


def pieces_of(wordpieces, size):
    """Unigram pieces of the words of a WordPiece vocabulary, filled up to `size` with pairs of them, which no text has."""
    words = [word for word in wordpieces if not word.startswith(("##", "["))]
    pieces = list(dict.fromkeys([f"\u2581{word}" for word in words] + [word[2:] for word in wordpieces if word.startswith("##")] + words))[: size - 10]
    known = set(pieces)
    draw = random.Random(1)
    while len(pieces) < size:
        piece = f"\u2581{draw.choice(words)}{draw.choice(words)}"
        if piece not in known:
            known.add(piece)
            pieces.append(piece)
    return [(piece, -4.0 - rank * 12.0 / size) for rank, piece in enumerate(pieces)]


def unigram(wordpieces, specials, size, first, last):
    vocabulary = [(token, 0.0) for token in specials] + pieces_of(wordpieces, size - len(specials))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=specials.index("<unk>" if "<unk>" in specials else "[UNK]")))
    tokenizer.add_special_tokens(specials)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    ids = [(first, specials.index(first)), (last, specials.index(last))]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", pair=f"{first} $A {last} {last} $B {last}", special_tokens=ids)
    return tokenizer


class Outputs(torch.nn.Module):
    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.names, inputs)))
        return found.logits if hasattr(found, "logits") else found.last_hidden_state


def export(model, names, output, target):
    shape = (2, 11)
    ids = torch.randint(5, 1000, shape, generator=torch.Generator().manual_seed(1))
    values = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    axes = {0: "batch_size", 1: "sequence_length"}
    full = target.parent / "full.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(Outputs(model, names), tuple(values[name] for name in names), str(full), input_names=names, output_names=[output],
                          dynamic_axes={name: axes for name in [*names, output]}, opset_version=17, do_constant_folding=True, dynamo=False)
    quantize_dynamic(str(full), str(target), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True,
                     extra_options={"EnableSubgraph": True, "MatMulConstBOnly": True})
    full.unlink()


def export_by_peer(peer, model, tokenizer, task, folder):
    with tempfile.TemporaryDirectory() as checkpoint:
        model.save_pretrained(checkpoint)
        tokenizer.save(f"{checkpoint}/tokenizer.json")
        shutil.copy(folder / "tokenizer_config.json", checkpoint)
        script = Path(__file__).with_name("run_peer_scripts.py")
        subprocess.run([peer.peer_python, script, peer.peer, checkpoint, folder, task], check=True, stdout=subprocess.DEVNULL)


def texts_of(words):
    draw = random.Random(2)
    return [" ".join(draw.choice(words) for _ in range(draw.choice([6, 12, 24, 48]))) for _ in range(TEXTS)]


def encoded(tokenizer, text, names):
    found = tokenizer.encode(text)
    values = {"input_ids": found.ids, "attention_mask": found.attention_mask, "token_type_ids": found.type_ids}
    return {name: np.array([values[name]], dtype=np.int64) for name in names}


def reference(path, tokenizer, texts, names):
    model = onnx.load(str(path))
    with_float_activations(model)
    session = InferenceSession(model.SerializeToString())
    results = []
    for text in texts:
        (found,) = session.run(None, encoded(tokenizer, text, names))
        if session.get_outputs()[0].name == "last_hidden_state":
            mean = found.mean(1)
            found = mean / np.linalg.norm(mean)
        results.append(found.flatten().tolist())
    return results


def vary(model):
    """Changes vectors, because exporters merge those that are equal, and onnxslim removes weights of ones and biases of zeros."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)


def spread(model, tokenizer, texts, names):
    """Scales the classifier, so that logits spread as those of a trained model."""
    with torch.no_grad():
        logits = [model(**{name: torch.tensor(value) for name, value in encoded(tokenizer, text, names).items()}).logits for text in texts[:4]]
        model.classifier.weight.mul_(2 / torch.cat([one.flatten() for one in logits]).std())


def write(root, name, model, tokenizer, names, words, peer):
    folder = root / name
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    model = model.eval()
    texts = texts_of(words)
    embeds = not hasattr(model, "classifier")
    path = folder / "onnx/model_quantized.onnx"
    if not embeds:
        vary(model)
        spread(model, tokenizer, texts, names)
    model.config.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    limit = min(512, model.config.max_position_embeddings - (2 if name == "xlm-roberta-token" else 0))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit}))
    if not path.exists() and peer.peer:
        task = "feature-extraction" if embeds else "token-classification" if "token" in name else "text-classification"
        export_by_peer(peer, model, tokenizer, task, folder)
    elif not path.exists():
        export(model, names, "last_hidden_state" if embeds else "logits", path)
    (folder / "reference.json").write_text(json.dumps({"texts": texts, "results": reference(path, tokenizer, texts, names)}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("minilm", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("only", nargs="*")
    parser.add_argument("--peer")
    parser.add_argument("--peer-python", default=sys.executable)
    options = parser.parse_args()
    minilm, root, only = options.minilm, options.root, options.only
    wordpiece = Tokenizer.from_file(str(minilm / "tokenizer.json"))
    wordpiece.no_padding()
    wordpiece.no_truncation()
    wordpieces = [token for token, _ in sorted(wordpiece.get_vocab().items(), key=lambda entry: entry[1])]
    words = [word for word in wordpieces if word.isalpha() and word.isascii() and len(word) > 2]
    labels = {"num_labels": len(LABELS), "id2label": LABELS, "label2id": {name: index for index, name in LABELS.items()}}
    deberta = dict(vocab_size=128_100, hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072, type_vocab_size=0,
                   relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
                   max_relative_positions=-1, position_biased_input=False, layer_norm_eps=1e-7, pooler_hidden_size=768, pooler_dropout=0)
    cases = {
        "minilm-embedder": lambda: (AutoModel.from_pretrained(minilm, attn_implementation="eager"), wordpiece,
                                    ["input_ids", "attention_mask", "token_type_ids"]),
        "distilbert-classifier": lambda: (DistilBertForSequenceClassification(DistilBertConfig(**labels, attn_implementation="eager")), wordpiece,
                                          ["input_ids", "attention_mask"]),
        "deberta-v3-small-classifier": lambda: (DebertaV2ForSequenceClassification(DebertaV2Config(**deberta, **labels)),
                                                unigram(wordpieces, ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], 128_000, "[CLS]", "[SEP]"),
                                                ["input_ids", "attention_mask"]),
        "xlm-roberta-token": lambda: (XLMRobertaForTokenClassification(XLMRobertaConfig(
            vocab_size=250_002, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5, **labels, attn_implementation="eager")),
                                      unigram(wordpieces, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], 250_002, "<s>", "</s>"),
                                      ["input_ids", "attention_mask"]),
    }
    for name, make in cases.items():
        if (not only or name in only) and not (root / name / "reference.json").exists():
            torch.manual_seed(1)
            write(root, name, *make(), words, options)
            print(name, flush=True)
    for extra in ["modules.json", "1_Pooling", "sentence_bert_config.json"]:
        source, target = minilm / extra, root / "minilm-embedder" / extra
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy(source, target)


if __name__ == "__main__":
    main()
