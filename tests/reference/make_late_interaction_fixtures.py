"""Writes tiny random folders of late-interaction models, and the matrices that sentence-transformers computes with them.

    python make_late_interaction_fixtures.py [CASE ...]

tests/fixtures/late_interaction/<case>: the folder as sentence-transformers (MultiVectorEncoder), PyLate or Stanford's ColBERT saves it;
texts.json with the matrices of texts, row by row, and the scores of queries with documents. Requirements: requirements-encoders.txt.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.multi_vector_encoder.modules import HierarchicalTokenPooling, MultiVectorMask
from sentence_transformers.sentence_transformer.modules import Normalize

from make_encoder_fixtures import cut, randomise
from make_tiny_models import flash_names

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "late_interaction"
TEXTS = ["a b c", "d.", "a, b! c d e f g h i j k l m n o p", "ab b q b . , ?", "? !", "a [q b"]
PIECES = [chr(97 + i) for i in range(26)] + [chr(97 + i) + chr(98 + i) for i in range(25)] + list(".,!?")
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"] + PIECES
WORDS = [".", ",", "?", "no such word"]
DIMENSIONS = 6
FIXED = {"strategy": "fixed", "attend": False, "length": 9}

CASES = {
    "plain": dict(kind="Bert"),
    "fixed": dict(kind="Bert", expansion=FIXED, document_length=8, words=WORDS, prompts={"query": "q ", "document": "d "}),
    "attended": dict(kind="Bert", expansion={**FIXED, "attend": True}, query_length=9),
    "min": dict(kind="DistilBert", expansion={"strategy": "min", "length": 7, "token": "[unused1]"}, query_length=11),
    # A query may be longer than the length to which others are completed, up to the limit of the tokenizer.
    "min-long": dict(kind="Bert", expansion={"strategy": "min", "length": 20}, texts=["a b", "a b c d e f g h i j k l m n o p q r s"]),
    "skips-both": dict(kind="Bert", words=WORDS, skiplist_tasks=["query", "document"]),
    "modern": dict(kind="ModernBert", expansion={"strategy": "fixed", "length": 12}),
    "deberta": dict(kind="DebertaV2", expansion=FIXED),
    # Without a mask, the end token completes queries.
    "causal": dict(kind="Qwen3", expansion={"strategy": "fixed", "attend": False, "length": 12}, document_length=8),
    "mpnet": dict(kind="MPNet", expansion=FIXED),
    "dense": dict(kind="Bert", layers=2),
    "merged": dict(kind="Bert", pooling=dict(pool_factor=2.5)),
    "merged-raw": dict(kind="Bert", pooling=dict(pool_factor=3, num_protected_tokens=0, normalize_embeddings=False, tasks=["query", "document"])),
    # PyLate names prefixes, lengths and expansion in config_sentence_transformers.json, and neither a mask nor a normalisation.
    "pylate": dict(kind="Bert", pylate=dict(query_prefix="[Q] ", document_prefix="[D] ", query_length=10, document_length=9), markers=["[Q] ", "[D] "]),
    "pylate-text": dict(kind="Bert", pylate=dict(query_prefix="q: ", document_prefix="[unused1] ", do_query_expansion=False, skiplist_words=[","])),
    "pylate-prompts": dict(kind="ModernBert", pylate=dict(query_prefix="[Q] ", document_prefix="[D] ", attend_to_expansion_tokens=True, query_length=None), markers=["[Q] ", "[D] "], prompts={"query": "ab ", "document": ""}),
    # Texts that are empty, or of which nothing but the prefix fits.
    "pylate-empty": dict(kind="Bert", pylate=dict(query_prefix="[Q] ", document_prefix="[D] ", query_length=5, document_length=3),
                         markers=["[Q] ", "[D] "], texts=["", " ", "a b"]),
    "stanford": dict(kind="Bert", stanford=dict(query_maxlen=11, doc_maxlen=12, dim=DIMENSIONS, mask_punctuation=True)),
    "stanford-marked": dict(kind="Bert", stanford=dict(query_token_id="[unused1]", doc_token_id="[unused0]", query_maxlen=8, dim=DIMENSIONS, attend_to_mask_tokens=True, mask_punctuation=False)),
    # Tensors with the names of Jina's code (jina-colbert-v2), for which sentence-transformers computes an XLM-RoBERTa.
    "stanford-flash": dict(kind="XLMRoberta", flash=True, stanford=dict(query_token_id="[Q]", doc_token_id="[D]", query_maxlen=11, doc_maxlen=12, dim=DIMENSIONS, attend_to_mask_tokens=True, mask_punctuation=True), markers=["[Q] ", "[D] "]),
}


def write_language_model(folder):
    made, size = cut("qwen")
    ends = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=14, **ends).save_pretrained(folder)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 12}
    model = transformers.Qwen3Model(transformers.Qwen3Config(vocab_size=size, max_position_embeddings=48, **sizes))
    randomise(model, folder.name)
    model.save_pretrained(folder)


def write_encoder(folder, kind, markers=()):
    small = {"vocab_size": len(VOCABULARY) + len(markers) + 3, "max_position_embeddings": 48}
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
    if kind == "DistilBert":
        sizes = {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 12}
    if kind == "ModernBert":
        sizes.update(pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3, local_attention=26)
    if kind == "DebertaV2":
        sizes.update(relative_attention=True, pos_att_type="p2c|c2p", position_buckets=4, share_att_key=True)
    if kind in ("MPNet", "XLMRoberta"):
        sizes.update(pad_token_id=0)
    config = getattr(transformers, kind + "Config")(**small, **sizes)
    torch.manual_seed(len(kind) + len(folder.name))
    model = getattr(transformers, kind + "Model")(config)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            is_norm = "norm" in name.lower() and name.endswith("weight")
            parameter.copy_(torch.randn(parameter.shape) * 0.4 + (1 if is_norm else 0))
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=14)
    if markers:
        tokenizer.add_tokens(list(markers))
    tokenizer.save_pretrained(folder)
    (folder / "vocab.txt").unlink()


def layer(inputs, outputs):
    weight = torch.randn(outputs, inputs) * 0.5
    return Dense(inputs, outputs, bias=False, activation_function=torch.nn.Identity(), init_weight=weight, module_input_name="token_embeddings")


def modern(folder, options):
    named = {name: options.get(name) for name in ("query_length", "document_length") if options.get(name)}
    modules = [Transformer(str(folder), query_expansion=options.get("expansion"), **named)]
    widths = [8] + [DIMENSIONS] * options.get("layers", 1)
    modules += [layer(a, b) for a, b in zip(widths, widths[1:])]
    modules += [MultiVectorMask(options.get("words"), skiplist_tasks=options.get("skiplist_tasks"))]
    modules += [Normalize(module_input_name="token_embeddings")]
    if options.get("pooling"):
        modules += [HierarchicalTokenPooling(**options["pooling"])]
    model = MultiVectorEncoder(modules=modules, prompts=options.get("prompts"), device="cpu")
    model.save_pretrained(str(folder), create_model_card=False)


def pylate(folder, options):
    """Writes what PyLate 1 writes next to the encoder."""
    own = folder / "1_Dense"
    own.mkdir()
    save_file({"linear.weight": torch.randn(DIMENSIONS, 8) * 0.5}, own / "model.safetensors")
    dense = {"in_features": 8, "out_features": DIMENSIONS, "bias": False}
    (own / "config.json").write_text(json.dumps({**dense, "activation_function": "torch.nn.modules.linear.Identity"}))
    types = ["sentence_transformers.models.Transformer", "pylate.models.Dense.Dense"]
    modules = [{"idx": i, "name": str(i), "path": ["", "1_Dense"][i], "type": type} for i, type in enumerate(types)]
    (folder / "modules.json").write_text(json.dumps(modules, indent=2))
    versions = {"sentence_transformers": "4.0.2", "transformers": "4.48.2", "pytorch": "2.6.0"}
    config = {"__version__": versions, "prompts": options.get("prompts", {}), "default_prompt_name": None, "similarity_fn_name": "MaxSim", "model_type": "ColBERT"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({**config, **options["pylate"]}, indent=2))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 14, "do_lower_case": False}))


def stanford(folder, options):
    path = folder / "model.safetensors"
    prefix = "roberta." if options.get("flash") else "bert."
    tensors = {prefix + name: value for name, value in load_file(path).items()}
    tensors["linear.weight"] = torch.randn(DIMENSIONS, 8) * 0.5
    save_file(tensors, path, metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["HF_ColBERT"]}, indent=2))
    (folder / "artifact.metadata").write_text(json.dumps(options["stanford"], indent=2))


def rename_flash(folder):
    path = folder / "model.safetensors"
    save_file(flash_names(load_file(path)), path, metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    code = {"auto_map": {"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_xlm_roberta.XLMRobertaModel"}}
    (folder / "config.json").write_text(json.dumps({**config, **code, "position_embedding_type": "absolute"}, indent=2))


def write_texts(folder, inputs):
    model = MultiVectorEncoder(str(folder), device="cpu")
    texts = []
    for task in (None, "query", "document"):
        encode = {None: model.encode, "query": model.encode_query, "document": model.encode_document}[task]
        for text in inputs:
            # One text at a time: in a batch, rows of padding change nothing but the last digits.
            rows = encode([text])[0]
            texts.append({"text": text, "task": task, "dims": list(rows.shape), "values": [round(value, 7) for value in rows.flatten().tolist()]})
    found = {"texts": texts}
    if inputs is TEXTS:
        found["scores"] = model.similarity(model.encode_query(TEXTS[:2]), model.encode_document(TEXTS[2:5])).tolist()
    (folder / "texts.json").write_text(json.dumps(found))


def main():
    for case, options in CASES.items():
        if sys.argv[1:] and case not in sys.argv[1:]:
            continue
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if options["kind"] == "Qwen3":
            write_language_model(folder)
        else:
            write_encoder(folder, options["kind"], options.get("markers", ()))
        write = pylate if "pylate" in options else stanford if "stanford" in options else modern
        write(folder, options)
        write_texts(folder, options.get("texts", TEXTS))
        if options.get("flash"):
            rename_flash(folder)
        for name in ("README.md", ".gitattributes"):
            (folder / name).unlink(missing_ok=True)
        print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


if __name__ == "__main__":
    main()
