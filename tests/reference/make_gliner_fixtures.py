"""Writes tiny random GLiNER checkpoints of every variant, and what the Python package `gliner` finds with them.

    python make_gliner_fixtures.py [--out-dir tests/fixtures/gliner] [--only NAME ...]

The layout is described in tests/fixtures/gliner/README.md. Needs requirements-gliner.txt. A request whose answer hangs on less
than CLEAR is left out, so that rounding cannot change it; how many were is printed.
"""
import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import gliner
import numpy
import safetensors.torch
import tokenizers
import torch
from transformers import PreTrainedTokenizerFast

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "gliner"
SCALE = 0.25
CLEAR = 2e-4
MOST_CANDIDATES = 40

TEXTS = [
    "Anna Schmidt met Mr. O'Neill in Genève, on Monday!",
    "a--b a-b-c 3.14 x²½Ⅷ don't stop_here",
    "नमस्ते हिन्दी 東京タワー 🇩🇪😀 café",
    "  Bees live\tin a hollow oak\n behind the mill; the mill is old, and bees are many. ",
    "Tokyo",
]
LABELS = ["person", "city or town", "date", "café"]
TRAINING = TEXTS + ["person city or town date organisation name of a river, the place where bees live"]

DEBERTA = {"model_type": "deberta-v2", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 24,
           "max_position_embeddings": 32, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8,
           "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0,
           "max_relative_positions": 32}
BERT = {"model_type": "bert", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 24,
        "max_position_embeddings": 160, "type_vocab_size": 2}
MODERNBERT = {"model_type": "modernbert", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 12,
              "local_attention": 8, "global_attn_every_n_layers": 2, "pad_token_id": 0}
HEAD = {"hidden_size": 8, "max_width": 4, "num_rnn_layers": 1, "span_mode": "markerV0"}

# By name: the members of gliner_config.json except the encoder. A class_token_index of -1 is that of releases without a tokenizer.
CASES = {
    "markerV0": {},
    "markerV0-old": {"class_token_index": -1, "vocab_size": -1, "encoder_config": None},
    "markerV0-plain": {"num_rnn_layers": 0, "hidden_size": 16, "embed_ent_token": False},
    "markerV0-rnn2": {"num_rnn_layers": 2},
    "marker": {"span_mode": "marker"},
    "width1": {"span_mode": "marker", "max_width": 1},
    "last": {"subtoken_pooling": "last"},
    "bert": {"encoder_config": BERT},
    "modernbert": {"encoder_config": MODERNBERT},
    "modernbert-token": {"encoder_config": MODERNBERT, "span_mode": "token_level"},
    "token": {"span_mode": "token_level"},
    "token-plain": {"span_mode": "token_level", "num_rnn_layers": 0},
    "mean": {"subtoken_pooling": "mean"},
    "max": {"subtoken_pooling": "max", "span_mode": "token_level"},
}
# For these, a few requests are enough.
MODES = ("markerV1", "markerV2", "query", "mlp", "cat", "conv_conv", "conv_max", "conv_mean", "conv_sum", "conv_share")
CASES |= {mode: {"span_mode": mode} for mode in MODES}
# Bi-encoders. `labels_encoder` is the folder of the labels' tokenizer; their files contain an LSTM that never runs.
LABELS_BERT = {"model_type": "bert", "hidden_size": 12, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16,
               "max_position_embeddings": 24, "type_vocab_size": 2}
CASES |= {
    "bi": {"labels_encoder": "labels"},
    "bi-token": {"labels_encoder": "labels", "span_mode": "token_level", "num_rnn_layers": 0},
    "bi-fused": {"labels_encoder": "labels", "post_fusion_schema": "l2l-l2t-t2t", "num_post_fusion_layers": 1},
    "bi-fused-mean": {"labels_encoder": "labels", "post_fusion_schema": "t2l-t2t-l2t", "subtoken_pooling": "mean", "span_mode": "marker"},
    "bi-plain": {"labels_encoder": "labels", "hidden_size": 12, "labels_encoder_config": None},
    # gliner-bi-edge and modern-gliner-bi: a ModernBERT reads the texts, and a sentence transformer the labels.
    "bi-modernbert": {"labels_encoder": "labels", "encoder_config": MODERNBERT},
    "bi-modernbert-token": {"labels_encoder": "labels", "encoder_config": MODERNBERT, "span_mode": "token_level"},
    # gliner adds tokens to the texts' tokenizer when it saves, but not to the embeddings.
    "bi-bert": {"labels_encoder": "labels", "encoder_config": BERT | {"max_position_embeddings": 56, "intermediate_size": 8}},
}
# The tokenizer only has <<ENT>>, so gliner reads the pieces of <<SEP>>.
CASES["no-separator"] = {}


def generator_of(name):
    return torch.Generator().manual_seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))


def write_tokenizer(folder, markers):
    """A small SentencePiece-like tokenizer. With `markers`, as newer releases save it."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
    tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    specials = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=190, special_tokens=specials, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(TRAINING, trainer)
    ids = {token: tokenizer.token_to_id(token) for token in specials}
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    if markers:
        tokenizer.add_tokens([tokenizers.AddedToken(name, normalized=False, special=False) for name in ("[FLERT]", "<<ENT>>", "<<SEP>>")])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    fast = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), unk_token="[UNK]", cls_token="[CLS]",
                                   sep_token="[SEP]", pad_token="[PAD]", mask_token="[MASK]")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
                "unk_token": "[UNK]", "mask_token": "[MASK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return len(fast)


def write_tokenizer_without_separator(source, folder):
    document = json.loads((source / "tokenizer.json").read_text())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] != "<<SEP>>"]
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    shutil.copy(source / "tokenizer_config.json", folder)


def write_labels_tokenizer(folder):
    tokenizer = tokenizers.BertWordPieceTokenizer()
    tokenizer.train_from_iterator(TRAINING, vocab_size=120, show_progress=False)
    ids = {token: tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]")}
    tokenizer._tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items()))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]",
                "unk_token": "[UNK]", "mask_token": "[MASK]", "model_max_length": 20}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def randomise(module, generator):
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            scale = 0.5 if "bert_layer" not in name and "labels_encoder" not in name else SCALE
            parameter.copy_((torch.randn(parameter.shape, generator=generator) * scale).half())
            if name.endswith("LayerNorm.weight") or name.endswith("norm.weight") and "bert_layer.model.layers." in name:
                parameter.add_(1.0).copy_(parameter.half())


def logits_of(model, text):
    prepared = model.prepare_batch([text], LABELS)
    batch = model.collate_batch(prepared["input_x"], prepared["entity_types"], None, prepared["label_names"])
    output = model.run_batch(batch)
    return batch, output[0][0].float(), prepared


def valid_spans(logits):
    """The scores of spans within the text; all scores of a token model."""
    if logits.shape[-1] == 3 and logits.dim() == 3 and logits.shape[1] == len(LABELS):
        return logits
    words, width = logits.shape[:2]
    return torch.cat([logits[i, :min(width, words - i)] for i in range(words)])


def spread(model, token_level):
    """Changes the last layer of the scores, so that probabilities are on both sides of one half."""
    layer = model.model.scorer.out_mlp[3] if token_level else model.model.prompt_rep_layer[3]

    def scores():
        return torch.cat([valid_spans(logits_of(model, text)[1]).reshape(-1, 3 if token_level else 1) for text in TEXTS])

    with torch.no_grad():
        if token_level:
            factor = 2.0 / scores().std(0)
            layer.weight.copy_((layer.weight * factor[:, None]).half())
            layer.bias.copy_((layer.bias * factor).half())
            layer.bias.copy_((layer.bias - scores().mean(0) + torch.tensor([0.0, 0.0, 1.5])).half())
            return
        # The mean is linear in the bias: moves it until mean and deviation are of similar size.
        for _ in range(2):
            mean, slope = scores().mean(), []
            for j in range(len(layer.bias)):
                layer.bias[j] += 1.0
                slope.append(scores().mean() - mean)
                layer.bias[j] -= 1.0
            slope = torch.stack(slope)
            layer.bias.sub_(mean * slope / slope.square().sum())
            factor = 2.0 / scores().std()
            layer.weight.mul_(factor)
            layer.bias.mul_(factor)
        layer.weight.copy_(layer.weight.half())
        layer.bias.copy_(layer.bias.half())


def is_clear(probabilities, threshold, most):
    """Whether rounding cannot change the result: no candidate is near the threshold or near another."""
    flat = probabilities.double().numpy().ravel()
    candidates = numpy.sort(flat[flat > threshold])
    if len(candidates) > most or numpy.abs(flat - threshold).min() < CLEAR:
        return False
    return len(candidates) < 2 or numpy.diff(candidates).min() > CLEAR / 10


def requests_of(model, token_level, skipped, few):
    requests = []
    ways = ((True, False), (True, True), (False, False), (False, True))
    for text in TEXTS:
        probabilities = torch.sigmoid(valid_spans(logits_of(model, text)[1]))
        thresholds = {0.5, *(round(float(torch.quantile(probabilities[..., 0].flatten(), q)), 2) for q in (0.6, 0.9))}
        if token_level:  # all three must be above it
            thresholds = {0.2, 0.3, 0.4, 0.5}
        for threshold in sorted(thresholds):
            if not is_clear(probabilities, threshold, 10 * MOST_CANDIDATES if token_level else MOST_CANDIDATES):
                skipped.append(text)
                continue
            for flat_ner, multi_label in ways[::3] if few else ways:
                options = {"threshold": threshold, "flat_ner": flat_ner, "multi_label": multi_label}
                entities = model.predict_entities(text, LABELS, **options)
                requests.append({"text": text, "options": options, "entities": [
                    {"start": len(text[:e["start"]].encode("utf-16-le")) // 2, "end": len(text[:e["end"]].encode("utf-16-le")) // 2,
                     "text": e["text"], "label": e["label"], "score": e["score"]} for e in entities]})
    return requests


def write_case(name, out_dir, work):
    folder = out_dir / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    old = name.endswith("-old")
    markers = out_dir / "tokenizer"
    plain = out_dir / "old"
    settings = {"max_len": 384, "max_width": 12, "max_types": 25, "dropout": 0.4} | HEAD
    base = work / name
    if name == "no-separator":
        write_tokenizer_without_separator(markers, base)
    else:
        shutil.copytree(plain if old else markers, base)
    vocabulary = len(PreTrainedTokenizerFast.from_pretrained(base))
    settings |= {"encoder_config": DEBERTA} | CASES[name] | {"model_name": str(base)}
    if old:
        settings["encoder_config"] = DEBERTA | {"vocab_size": vocabulary}
    else:
        settings |= {"vocab_size": vocabulary, "class_token_index": vocabulary - (1 if name == "no-separator" else 2)} | CASES[name]
        settings["encoder_config"] = settings["encoder_config"] | {"vocab_size": vocabulary - (3 if name == "bi-bert" else 0)}
    if "labels_encoder" in settings:
        labels = len(PreTrainedTokenizerFast.from_pretrained(out_dir / "labels"))
        settings |= {"labels_encoder": str(out_dir / "labels"), "labels_encoder_config": LABELS_BERT | {"vocab_size": labels},
                     "vocab_size": -1, "class_token_index": -1}
    model = gliner.GLiNER.from_config(json.loads(json.dumps(settings)), backbone_from_pretrained=False)
    model.eval()
    generator = generator_of(name)
    randomise(model.model, generator)
    token_level = settings["span_mode"] == "token_level"
    spread(model, token_level)

    tensors = {key: value.half().contiguous() for key, value in model.model.state_dict().items() if not key.endswith("position_ids")}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    published = settings | {"model_name": "microsoft/deberta-v3-small"}
    if "labels_encoder" in settings:
        published |= {"labels_encoder": "BAAI/bge-small-en-v1.5"} | ({"labels_encoder_config": None} if "labels_encoder_config" in CASES[name] else {})
        (out_dir / "labels" / "config.json").write_text(json.dumps(settings["labels_encoder_config"]))
    if old:
        published |= {"encoder_config": None}
        (plain / "config.json").write_text(json.dumps(DEBERTA | {"vocab_size": vocabulary}))
    (folder / "gliner_config.json").write_text(json.dumps(published, indent=1) + "\n")

    skipped = []
    requests = requests_of(model, token_level, skipped, few=name in (*MODES, "max", "no-separator") or "labels_encoder" in settings)
    requests = requests[:2] if name in ("bi-bert", "no-separator") else requests
    (folder / "expected.json").write_text(json.dumps({"labels": LABELS, "requests": requests}, ensure_ascii=False) + "\n")
    found = sum(len(request["entities"]) for request in requests)
    print(f"{name}: {len(requests)} requests, {found} entities, {len(skipped)} thresholds left out")


def write_short(out_dir):
    """What markerV0 finds if max_len is below max_width: entities of the first max_len words only."""
    requests = []
    for max_len in (3, 2, 1):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("markerV0", "tokenizer"):
                shutil.copytree(out_dir / part, folder, dirs_exist_ok=True)
            config = Path(folder) / "gliner_config.json"
            config.write_text(json.dumps(json.loads(config.read_text()) | {"max_len": max_len}))
            model = gliner.GLiNER.from_pretrained(folder, load_tokenizer=True)
            for text in (TEXTS[0], "a b c"):
                units = [len(text[:index].encode("utf-16-le")) // 2 for index in range(len(text) + 1)]
                found = model.predict_entities(text, LABELS, threshold=0.2, flat_ner=False, multi_label=True)
                entities = [{"label": one["label"], "start": units[one["start"]], "end": units[one["end"]], "score": round(one["score"], 6)}
                            for one in found]
                requests.append({"max_len": max_len, "text": text, "entities": entities})
    content = {"labels": LABELS, "threshold": 0.2, "requests": requests}
    (out_dir / "short.json").write_text(json.dumps(content, ensure_ascii=False) + "\n")


def write_words(out_dir):
    """gliner's word splitting of all TEXTS, and of one character of every kind."""
    from gliner.data_processing.tokenizer import WordsSplitter
    splitter = WordsSplitter("whitespace")
    texts = TEXTS + ["", " \n\u3000 ", "a_b-c-_d __ -- é́ a\u200bb\u00a0c\u1680d\x1ce", "".join(
        f"x{chr(c)}y " for c in (0x300, 0x93F, 0x660, 0xB2, 0x2160, 0x3007, 0x203F, 0xFF3F, 0x1D7D8, 0x85, 0xAA, 0xFEFF, 0x1F600))]
    items = [{"text": text, "words": [[len(text[:s].encode()), len(text[:e].encode())] for _, s, e in splitter(text)]} for text in texts]
    (out_dir / "words.json").write_text(json.dumps(items, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    # Training a tokenizer is not reproducible, and all cases share it.
    for folder, markers in (("tokenizer", True), ("old", False)):
        if not (options.out_dir / folder / "tokenizer.json").exists():
            write_tokenizer(options.out_dir / folder, markers)
    if not (options.out_dir / "labels" / "tokenizer.json").exists():
        write_labels_tokenizer(options.out_dir / "labels")
    write_words(options.out_dir)
    with tempfile.TemporaryDirectory() as work:
        for name in options.only:
            write_case(name, options.out_dir, Path(work))
    write_short(options.out_dir)


if __name__ == "__main__":
    main()
