"""Runs sentence-transformers' CrossEncoder, and guards in windows, over the checkpoints of tests/fixtures/pipelines.

    python make_ranker_fixtures.py [--out tests/fixtures/pipelines/rankers.json]

A case: `family`, `head`, `config` (what config.json is changed by), `files` (more files of the checkpoint), `model_max_length` of the
tokenizer or null, `task`, `inputs`, `options`, `expected` with positions in code points. Texts are read one by one: padding changes
what ConvBERT gives. Cases whose order hangs on less than 1e-3 are left out.

Requirements: requirements-sentence.txt.
"""
import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy
import safetensors.torch
import sentence_transformers
import torch
import transformers
from sentence_transformers import CrossEncoder

from make_pipeline_fixtures import FIXTURES, LONG, QUESTIONS, SENTENCES, is_clear, plain

PIPELINES = FIXTURES / "pipelines"
TOKENIZERS = {"convbert": "ConvBertTokenizer", "deberta-v2": "DebertaV2Tokenizer"}
QUERY, DOCUMENTS = QUESTIONS[0][0], SENTENCES[:4] + [LONG]
NLI = {"id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"}, "label2id": {"contradiction": 0, "entailment": 1, "neutral": 2}}
GUARD = {"id2label": {"0": "BENIGN", "1": "INJECTION", "2": "JAILBREAK"}, "label2id": {"BENIGN": 0, "INJECTION": 1, "JAILBREAK": 2}}
SIGMOID, IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"
# What CrossEncoder.save_pretrained writes beside it; without them its file is not read.
SAVED = {"modules.json": [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}],
         "sentence_bert_config.json": {"transformer_task": "sequence-classification", "module_output_name": "scores",
                                       "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}}}
FUNCTIONS = {"sigmoid": torch.nn.Sigmoid, "none": torch.nn.Identity, "softmax": lambda: torch.nn.Softmax(dim=-1)}


def checkpoint(folder, family, head, config, files, model_max_length):
    """A whole checkpoint as its publisher would save it."""
    source = PIPELINES / family
    tensors = safetensors.torch.load_file(source / "base.safetensors") | safetensors.torch.load_file(source / f"{head}.safetensors")
    safetensors.torch.save_file({name: tensor.float() for name, tensor in tensors.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((source / f"{head}.config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(settings))
    for name, path in json.loads((source / "cases.json").read_text())["files"].items():
        shutil.copy(FIXTURES / path, folder / name)
    tokenizer = {"tokenizer_class": TOKENIZERS[family]} | ({} if model_max_length is None else {"model_max_length": model_max_length})
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))


def ranked(folder, options):
    """What CrossEncoder.rank gives; of several labels predict's scores, ranked by one."""
    model = CrossEncoder(str(folder), device="cpu", max_length=options.get("max_length"))
    arguments = {"activation_fn": FUNCTIONS[options["function_to_apply"]]()} if "function_to_apply" in options else {}
    scores = [model.predict([(QUERY, document)], batch_size=1, show_progress_bar=False, **arguments)[0] for document in DOCUMENTS]
    found = [{"corpus_id": i, "score": score} for i, score in enumerate(scores)]
    if "label" in options:
        column = model.config.label2id[options["label"]]
        found = [{"corpus_id": i, "score": row[column], "scores": row.tolist()} for i, row in enumerate(scores)]
    return sorted(found, key=lambda one: -one["score"])[:options.get("top_k")]


def guarded(folder, text, options):
    """Windows by the tokenizer, each through the model; of each label the highest score, or the window of a label."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    length = options.get("max_length", model.config.max_position_embeddings)
    windows = tokenizer(text, truncation=True, max_length=length, stride=options["stride"], return_overflowing_tokens=True, return_offsets_mapping=True)
    scores, spans = [], []
    for i, ids in enumerate(windows["input_ids"]):
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        if "token_type_ids" in windows:
            inputs["token_type_ids"] = torch.tensor([windows["token_type_ids"][i]])
        with torch.no_grad():
            logits = model(**inputs).logits[0] / options.get("temperature", 1)
        scores.append(logits.softmax(-1).numpy())
        real = [offset for offset, word in zip(windows["offset_mapping"][i], windows.encodings[i].word_ids) if word is not None]
        spans.append({"start": real[0][0], "end": real[-1][1]})
    scores, best = numpy.array(scores), numpy.argmax(scores, axis=0)
    labels = model.config.id2label
    if options.get("window_label") is not None:
        chosen = best[model.config.label2id[options["window_label"]]]
        found = [{"label": labels[i], "score": scores[chosen, i]} | spans[chosen] for i in labels]
    elif options.get("windows") == "mean":
        found = [{"label": labels[i], "score": scores[:, i].mean()} for i in labels]
    else:
        found = [{"label": labels[i], "score": scores[best[i], i]} | spans[best[i]] for i in labels]
    return sorted(found, key=lambda one: -one["score"])


def plans():
    here = lambda name: {"config_sentence_transformers.json": {"activation_fn": name, "model_type": "CrossEncoder"}} | SAVED
    inside = lambda name: {"sentence_transformers": {"activation_fn": name, "version": "4.1.0"}}
    old = lambda name: {"sbert_ce_default_activation_function": name}
    places = [({}, {}), (old(IDENTITY), {}), (inside(IDENTITY), {}), (inside(SIGMOID) | old(IDENTITY), {}), ({}, here(IDENTITY)),
              (inside(IDENTITY), here(SIGMOID)), (inside(SIGMOID) | old(SIGMOID), here(IDENTITY)), (inside(IDENTITY), here(None))]
    alone = {"config_sentence_transformers.json": here(IDENTITY)["config_sentence_transformers.json"]}  # without modules.json
    unnamed = "sentence_transformers.util.fullname"
    places += [(inside(SIGMOID), alone), ({}, here(unnamed)), (inside(unnamed), {})]
    prompted = here(IDENTITY)
    prompted["config_sentence_transformers.json"] |= {"prompts": {"query": "Which text is about this? "}, "default_prompt_name": "query"}
    places += [({}, prompted), ({}, prompted | {"config_sentence_transformers.json": prompted["config_sentence_transformers.json"] | {"default_prompt_name": None}})]
    for config, files in places:
        yield "text-ranking", "convbert", "one-logit", config, files, 96, {}
    for options in ({"function_to_apply": "none"}, {"function_to_apply": "sigmoid"}, {"top_k": 2}, {"max_length": 24}):
        yield "text-ranking", "convbert", "one-logit", inside(SIGMOID), {}, None, options
    for label in NLI["label2id"]:
        yield "text-ranking", "convbert", "sequence", NLI, {}, None, {"label": label}
        yield "text-ranking", "deberta-v2", "sequence", NLI, {}, None, {"label": label}
    for limit in (None, 96, 48, int(1e30)):  # DeBERTa v2 has no limit of its own: the configuration's is kept
        yield "text-ranking", "deberta-v2", "sequence", NLI, {}, limit, {"label": "neutral"}
    for options in ({"function_to_apply": "softmax"}, {"function_to_apply": "sigmoid"}, {"max_length": 30}, {"max_length": 120}):
        yield "text-ranking", "deberta-v2", "sequence", NLI, {}, None, options | {"label": "entailment"}
    yield "text-ranking", "deberta-v2", "sequence", NLI, here(SIGMOID), None, {"label": "entailment"}
    for family in TOKENIZERS:
        for options in ({"stride": 0, "max_length": 20}, {"stride": 8, "max_length": 32}, {"stride": 16}, {"stride": 4, "max_length": 24, "windows": "mean"},
                        {"stride": 8, "max_length": 32, "window_label": "JAILBREAK"}, {"stride": 8, "max_length": 32, "window_label": "INJECTION", "temperature": 3.0}):
            yield "text-classification", family, "sequence", GUARD, {}, None, options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PIPELINES / "rankers.json")
    args = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    cases, dropped = [], 0
    for task, family, head, config, files, limit, options in plans():
        with tempfile.TemporaryDirectory() as folder:
            checkpoint(Path(folder), family, head, config, files, limit)
            if task == "text-ranking":
                inputs, expected, asked = [QUERY, DOCUMENTS], plain(ranked(Path(folder), options)), options
            else:
                inputs, expected, asked = LONG, plain(guarded(Path(folder), LONG, options)), options | {"top_k": None}
        if not is_clear(expected) or not is_clear([{"score": one["score"]} for one in expected]):
            dropped += 1
            continue
        cases.append({"task": task, "family": family, "head": head, "config": config, "files": files, "model_max_length": limit, "inputs": inputs,
                      "options": asked, "expected": expected})
    head = {"sentence_transformers": sentence_transformers.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    args.out.write_text(json.dumps(head)[:-1] + ', "cases": [\n' + lines + "\n]}\n", encoding="utf-8")
    print(f"{len(cases)} cases, {dropped} left out, {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
