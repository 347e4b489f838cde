"""Writes tiny random GLiNER2 checkpoints, and what the Python package `gliner2` extracts with them.

    python make_gliner2_fixtures.py [--out-dir tests/fixtures/gliner2] [--only NAME ...]

The layout is described in tests/fixtures/gliner2/README.md. Needs requirements-gliner.txt. A request is left out if a change of
less than CLEAR would change its answer; the number of these is printed.
"""
import argparse
import copy
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import safetensors.torch
import torch
from gliner2.configuration import ExtractorConfig
from gliner2.inference.schema import Schema
from gliner2.inference.engine import SpanExtractor
from gliner2.processing.word_splitter import CharLevelSplitter, WhitespaceTokenSplitter
from gliner2.processor import SchemaTransformer
from transformers import AutoConfig, PreTrainedTokenizerFast

from make_gliner_fixtures import BERT, DEBERTA, MODERNBERT, write_tokenizer

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "gliner2"
CLEAR = 2e-4

TEXTS = [
    "Anna Schmidt met Mr. O'Neill in Genève, on Monday!",
    "Tim Cook runs Apple in Cupertino, and Satya Nadella runs Microsoft in Redmond.",
    "Ordered 2 blue shirts (size M) and 1 red hat; mail anna.b@post.example.org, or see https://x.example/a?b=1",
    "東京 and नमस्ते 🇩🇪 café",
]
SCHEMAS = {
    "entities": {"entities": ["person", "city", "date"]},
    "described": {"entities": {"person": "a name of a person", "city": {"dtype": "str"}, "date": {"threshold": 0.4, "description": "a day"}}},
    "structure": {"structures": {"order": {"fields": [
        {"name": "item"}, {"name": "colour", "dtype": "str", "description": "its colour"}, {"name": "count", "dtype": "str"}]}}},
    "choices": {"structures": {"order": {"fields": [
        {"name": "item"}, {"name": "size", "choices": ["small", "M", "very large"]},
        {"name": "kind", "dtype": "str", "choices": ["gift", "own use"], "threshold": 0.3}]}}},
    "relations": {"relations": ["works_for", "lives_in"]},
    "described_relations": {"relations": {"works_for": "who runs what", "lives_in": {"threshold": 0.4}}},
    "classification": {"classifications": [{"task": "mood", "labels": ["happy", "sad", "neutral"]}]},
    "labels": {"classifications": [
        {"task": "topic", "labels": {"sport": "about games", "work": "about jobs"}, "multi_label": True, "cls_threshold": 0.4, "prompt": "what is it about"},
        {"task": "mood", "labels": ["happy", "sad"], "class_act": "sigmoid", "examples": [["what a day", "happy"]]},
        {"task": "tone", "labels": ["kind", "rude", "dry"], "multi_label": True, "cls_threshold": 0.1, "top_k": 2}]},
    "all": {"entities": ["person"], "structures": {"order": {"fields": [{"name": "item"}, {"name": "count", "dtype": "str"}]}, "offer": {"fields": [{"name": "price"}]}},
            "relations": ["works_for"], "classifications": [{"task": "mood", "labels": ["happy", "sad"]}]},
}
# By name: members of config.json, and the configuration of the encoder.
CASES = {
    "lstm": ({"counting_layer": "count_lstm", "max_width": 4}, DEBERTA),
    "lstm-v2": ({"counting_layer": "count_lstm_v2", "span_head": {"max_width": 3}}, DEBERTA),
    "mean": ({"token_pooling": "mean", "max_width": 3}, BERT | {"max_position_embeddings": 400}),
    "max": ({"token_pooling": "max", "max_width": 2}, DEBERTA),
    "modernbert": ({"max_width": 4}, MODERNBERT),
}
WORDS = [
    "", " \n\u3000 ", "a_b-c-_d __ -- é́ a\u200bb\u00a0c\u1680d\x1ce", "Mail A.B+c@X-y.example.ORG, a@b.c, a@b.c.de1 @me_2 @ x@y ſ@k.ſſ",
    "HTTP://a.b/c?d=e www. WWW.x ttps://a http:// httpſ://y", "ÀÉ İSTANBUL ΟΔΟΣ ΑΣΑ Σ ǅ ß", "na\u0308ive नमस्ते हिन्दी क्\u200dष 東京タワー 🇩🇪😀",
    "3.14 x²½Ⅷ don't stop-here_now a-\u0301b 1.2.3.4@5.6.7.xy 100% +49", "".join(f"x{chr(c)}y " for c in (0x300, 0x93F, 0x660, 0x203F, 0xFF3F, 0x85, 0xFEFF, 0x2E43)),
]


def generator_of(name):
    return torch.Generator().manual_seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))


def randomise(model, generator):
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            scale = 0.25 if name.startswith("encoder.") else 0.08 if "transformer.transformer" in name else 0.4
            parameter.copy_((torch.randn(parameter.shape, generator=generator) * scale).half())
            if name.endswith("LayerNorm.weight") or name.split(".")[-2].startswith("norm") or name.endswith("_norm.weight"):
                parameter.add_(1.0).copy_(parameter.half())


class Watch:
    """Keeps the raw results of a call, which show whether rounding could change its answer."""

    def __init__(self, model):
        self.model = model
        compute, classify = model._compute_direct_span_logits_batched, model._compute_classification_probabilities
        count = model.count_pred.forward

        def spans(*args):
            result = compute(*args)
            self.logits += [task for sample in result[0] for task in sample if task is not None]
            return result

        def labels(*args):
            result = classify(*args)
            self.labels.append((result[1], result[2]))
            return result

        def counts(*args):
            result = count(*args)
            self.counts.append(result)
            return result

        model._compute_direct_span_logits_batched, model._compute_classification_probabilities = spans, labels
        model.count_pred.forward = counts
        self.clear()

    def clear(self):
        self.logits, self.labels, self.counts = [], [], []

    def is_clear(self, thresholds):
        for logits in self.logits:
            probabilities = torch.sigmoid(logits[torch.isfinite(logits)]).double()
            if any((probabilities - threshold).abs().min() < CLEAR for threshold in thresholds):
                return False
            for field in torch.sigmoid(logits).double().flatten(0, 1):
                candidates = field[field > min(thresholds)].sort().values
                if len(candidates) > 1 and candidates.diff().min() < CLEAR / 20:
                    return False
        for config, probabilities in self.labels:
            ordered = probabilities.double().sort().values
            near = (probabilities - config.get("cls_threshold", 0.5)).abs().min() < CLEAR if config.get("multi_label") else False
            if near or ordered.diff().min() < CLEAR:
                return False
        return all(row.sort().values[-2:].diff() > 1e-3 for rows in self.counts for row in rows)


def extract_all(model, watch):
    watch.clear()
    for text in TEXTS:
        for schema in SCHEMAS.values():
            model.extract(text, Schema.from_dict(schema))


def spread(model, watch):
    """Changes the last layers, so that counts differ, and probabilities are on both sides of one half."""
    with torch.no_grad():
        count = model.count_pred[2].bias
        count[5:] -= 100.0
        extract_all(model, watch)
        count[:5] -= torch.cat(watch.counts)[:, :5].mean(dim=0)
        count.copy_(count.half())
        embed = model.count_embed
        last = embed.projector[2] if hasattr(embed, "projector") else embed.transformer.out_projector[4]

        def scores():
            extract_all(model, watch)
            return torch.cat([logits[torch.isfinite(logits)] for logits in watch.logits])

        for _ in range(2):
            mean, slope = scores().mean(), []
            for j in range(len(last.bias)):
                last.bias[j] += 1.0
                slope.append(scores().mean() - mean)
                last.bias[j] -= 1.0
            slope = torch.stack(slope)
            last.bias.sub_((mean + 1.0) * slope / slope.square().sum())
            factor = 2.0 / scores().std()
            last.weight.mul_(factor)
            last.bias.mul_(factor)
        last.weight.copy_(last.weight.half())
        last.bias.copy_(last.bias.half())


def in_peruse(value, text):
    """Values as Peruse returns them: UTF-16 indices, and without the "." that gliner2 puts after a text."""
    if isinstance(value, list):
        return [item for item in (in_peruse(item, text) for item in value) if item is not None]
    if not isinstance(value, dict):
        return value
    if "start" not in value:
        return {name: in_peruse(item, text) for name, item in value.items()}
    if value["start"] >= len(text):
        return None
    end = value["end"] if value["end"] <= len(text) else len(text.rstrip())
    utf16 = [len(text[:at].encode("utf-16-le")) // 2 for at in (value["start"], end)]
    return value | {"text": text[value["start"]:end], "start": utf16[0], "end": utf16[1]}


def result_of(model, text, schema, threshold):
    found = model.extract(text, Schema.from_dict(schema), threshold=threshold, include_confidence=True, include_spans=True)
    result = {name: in_peruse(value, text) for name, value in found.items()}
    # Without an occurrence gliner2 gives {}. Peruse gives every entity without values, and an empty list of structures.
    if "entities" in schema and not result["entities"]:
        types = schema["entities"]
        single = [name for name in types if isinstance(types, dict) and isinstance(types[name], dict) and types[name].get("dtype") == "str"]
        result["entities"] = {name: None if name in single else [] for name in types}
    for name in schema.get("structures", {}):
        structures = [structure for structure in result[name] or [] if any(value not in (None, []) for value in structure.values())]
        result[name] = structures
    relations = result.get("relation_extraction", {})
    # gliner2 gives a described relation as "name: description", and an empty list as "name".
    for name, value in list(relations.items()):
        if ": " in name:
            relations[name.split(": ")[0]] = relations.pop(name)
    if relations:
        for name in relations:
            relations[name] = [pair for pair in relations[name] if pair["head"] and pair["tail"]]
    return result


def thresholds_of(schema, threshold):
    found = {threshold}

    def visit(value):
        if isinstance(value, dict):
            found.update([value["threshold"]] if "threshold" in value else [])
            value = list(value.values())
        for item in value if isinstance(value, list) else []:
            visit(item)

    visit(schema)
    return found


def write_case(name, out_dir):
    folder = out_dir / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings, encoder = CASES[name]
    tokenizer = PreTrainedTokenizerFast.from_pretrained(out_dir / "tokenizer")
    encoder_config = AutoConfig.for_model(**(encoder | {"vocab_size": len(tokenizer)}))
    encoder_config._attn_implementation = "eager"
    model = SpanExtractor(ExtractorConfig(model_name="microsoft/deberta-v3-base", **copy.deepcopy(settings)),
                               encoder_config=encoder_config, tokenizer=tokenizer, use_flashdeberta=False)
    model.eval()
    randomise(model, generator_of(name))
    watch = Watch(model)
    spread(model, watch)

    # The weights are exact in float16. model.half() would also round buffers, such as the frequencies of rotary positions.
    tensors = {key: value.half().contiguous() for key, value in model.state_dict().items() if not key.endswith("position_ids")}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with tempfile.TemporaryDirectory() as saved:
        model.config.save_pretrained(saved)
        config = json.loads((Path(saved) / "config.json").read_text())
        model.encoder.config.save_pretrained(saved)
        (folder / "encoder_config").mkdir()
        (folder / "encoder_config" / "config.json").write_text((Path(saved) / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")

    requests, skipped = [], 0
    for schema_name, schema in SCHEMAS.items():
        for text in TEXTS if name.startswith("lstm") else TEXTS[1:3]:
            for threshold in (0.5, 0.2) if name == "lstm" else (0.5,):
                watch.clear()
                result = result_of(model, text, schema, threshold)
                if not watch.is_clear(thresholds_of(schema, threshold)):
                    skipped += 1
                    continue
                requests.append({"schema": schema_name, "text": text, "threshold": threshold, "result": result})
    (folder / "expected.json").write_text(json.dumps({"schemas": SCHEMAS, "requests": requests}, ensure_ascii=False) + "\n")
    values = json.dumps([request["result"] for request in requests]).count('"start"')
    print(f"{name}: {len(requests)} requests, {values} values, {skipped} requests left out")


def write_words(out_dir):
    """The package's word splitting."""
    items = [{"text": text, "words": [[len(text[:start].encode()), len(text[:end].encode()), word]
                                      for word, start, end in WhitespaceTokenSplitter()(text)]} for text in TEXTS + WORDS]
    (out_dir / "words.json").write_text(json.dumps(items, ensure_ascii=False) + "\n")
    by_character = [{"text": text, "words": [word for word, _, _ in CharLevelSplitter()(text, lower=False)]} for text in TEXTS + WORDS]
    (out_dir / "char_words.json").write_text(json.dumps(by_character, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    # Training a tokenizer is not reproducible, and all cases share it.
    folder = options.out_dir / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        write_tokenizer(folder, markers=False)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
        SchemaTransformer(tokenizer=tokenizer).tokenizer.save_pretrained(folder)
    write_words(options.out_dir)
    for name in options.only:
        write_case(name, options.out_dir)


if __name__ == "__main__":
    main()
