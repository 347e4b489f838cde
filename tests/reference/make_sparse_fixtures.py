"""Writes tiny random folders of sparse encoders, and the vectors that sentence-transformers computes with them.

    python make_sparse_fixtures.py [CASE ...]

tests/fixtures/sparse/<case>: the folder as the library saves it, or as plain masked language models have it; texts.json with the vectors of
texts: ids, tokens and weights, largest first. Requirements: requirements-encoders.txt.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SparseAutoEncoder, SparseStaticEmbedding, SpladePooling
from sentence_transformers.sentence_transformer.modules import Pooling

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "sparse"
TEXTS = ["a b c", "d", "a b c d e f g h i j k l m n o p", "ab b q b", "?"]
PIECES = [chr(97 + i) for i in range(26)] + [chr(97 + i) + chr(98 + i) for i in range(25)]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + PIECES

CASES = {
    "splade": dict(kind="Bert"),
    "log1p": dict(kind="Bert", newer=True, activation_function="log1p_relu", prompts={"query": "q r "}, task="query"),
    "sum": dict(kind="Bert", pooling="sum"),
    "sum-log1p": dict(kind="DistilBert", newer=True, pooling="sum", activation_function="log1p_relu"),
    "modern": dict(kind="ModernBert", newer=True),
    # No modules.json: a plain checkpoint such as naver/splade-cocondenser-ensembledistil.
    "plain": dict(kind="Bert", plain=True),
    # A Router: queries are encoded by a table, in model.safetensors or, in idf.json, by tokens.
    "router": dict(kind="DistilBert", newer=True, activation_function="log1p_relu", table="weights", task="query"),
    "router-idf": dict(kind="Bert", newer=True, table="idf", prompts={"query": "a ", "document": "b "}, task="query"),
    # Both routes are the same module, and texts are queries by default.
    "router-alike": dict(kind="Bert", newer=True, table="none"),
    # CSR: the largest latents of a dense vector.
    "csr": dict(kind="Bert", coder=dict(hidden_dim=24, k=6)),
    "csr-standardised": dict(kind="ModernBert", coder=dict(hidden_dim=20, k=1, normalize=True), pooling="cls"),
    # The folder says how many weights it keeps; those of queries may be negative.
    "most": dict(kind="Bert", newer=True, table="signed", most=3, ways=[{}, {"task": "query"}, {"top_k": 5}, {"task": "query", "top_k": 1}]),
    "csr-most": dict(kind="Bert", coder=dict(hidden_dim=24, k=6), most=9, ways=[{}, {"top_k": 2}]),
}


def write_encoder(folder, kind):
    small = {"vocab_size": len(VOCABULARY) + 4, "max_position_embeddings": 32}
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12}
    if kind == "DistilBert":
        sizes = {"dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 12}
    if kind == "ModernBert":
        sizes.update(num_hidden_layers=2, pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3)
    config = getattr(transformers, kind + "Config")(**small, **sizes)
    torch.manual_seed(len(kind))
    model = getattr(transformers, kind + "ForMaskedLM")(config)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            is_norm = "norm" in name.lower() and name.endswith("weight")
            parameter.copy_(torch.randn(parameter.shape) * 0.4 + (1 if is_norm else 0))
    model.tie_weights()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=10).save_pretrained(folder)
    (folder / "vocab.txt").unlink()


def encoder_of(folder, options):
    if options.get("newer"):
        return Transformer(str(folder), transformer_task="fill-mask")
    return MLMTransformer(str(folder))


def coder_of(folder, options):
    """Transformer, Pooling, SparseAutoEncoder."""
    coder = SparseAutoEncoder(input_dim=8, k_aux=0, **options["coder"])
    with torch.no_grad():
        for parameter in (coder.encoder.weight, coder.pre_bias, coder.latent_bias):
            parameter.copy_(torch.randn(parameter.shape) * 0.5)
    return [Transformer(str(folder)), Pooling(8, options.get("pooling", "mean")), coder]


def modules_of(folder, options):
    if options.get("coder"):
        return coder_of(folder, options)
    pooling = SpladePooling(options.get("pooling", "max"), activation_function=options.get("activation_function", "relu"))
    documents = [encoder_of(folder, options), pooling]
    table = options.get("table")
    if table is None:
        return documents
    if table == "none":
        return [Router({"query": documents, "document": documents}, default_route=None)]
    weights = torch.rand(len(VOCABULARY)) * 3 - (1.5 if table == "signed" else 0)
    queries = SparseStaticEmbedding(tokenizer=documents[0].tokenizer, weight=weights)
    return [Router.for_query_document([queries], documents)]


def use_idf(folder):
    """Replaces the table's tensor by idf.json, as published folders have it."""
    own = folder / "query_0_SparseStaticEmbedding"
    (own / "model.safetensors").unlink()
    idf = {piece: round(0.5 + 0.125 * i, 3) for i, piece in enumerate(PIECES) if i % 3 != 1}
    (own / "idf.json").write_text(json.dumps(idf))
    (own / "config.json").write_text(json.dumps({"frozen": True, "path": str(own / "idf.json")}))


def write_texts(folder, model, options):
    ways = options.get("ways") or [{}, {"top_k": 5}, {"task": "query"}, {"task": "document"}, {"prompt": "c "}]
    texts = []
    for text in TEXTS:
        for way in ways:
            call = {"max_active_dims" if key == "top_k" else key: value for key, value in way.items() if key != "task"}
            encode = getattr(model, {"query": "encode_query", "document": "encode_document"}.get(way.get("task"), "encode"))
            vector = encode(text, **call, convert_to_sparse_tensor=False)
            ids = [id for id in vector.argsort(descending=True, stable=True).tolist() if vector[id] != 0]
            tokens = ["" if options.get("coder") else model.tokenizer.convert_ids_to_tokens(id) or "" for id in ids]
            values = [vector[id].item() for id in ids]
            found = {"size": len(vector), "indices": ids, "tokens": tokens, "values": values}
            texts.append({"text": text, "options": way, **found})
    (folder / "texts.json").write_text(json.dumps(texts))


def main():
    for case, options in CASES.items():
        if sys.argv[1:] and case not in sys.argv[1:]:
            continue
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_encoder(folder, options["kind"])
        model = SparseEncoder(modules=modules_of(folder, options), prompts=options.get("prompts"), max_active_dims=options.get("most"), device="cpu")
        if options.get("table"):  # every module has a folder of its own
            shutil.rmtree(folder)
            folder.mkdir()
        if not options.get("plain"):
            model.save_pretrained(str(folder), create_model_card=False)
        if options.get("table") == "idf":
            use_idf(folder)
            model = SparseEncoder(str(folder), device="cpu")
            own = folder / "query_0_SparseStaticEmbedding" / "config.json"
            own.write_text(json.dumps({"frozen": True, "path": "idf.json"}))
        write_texts(folder, model, options)
        for name in ("README.md", ".gitattributes"):
            (folder / name).unlink(missing_ok=True)
        print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


if __name__ == "__main__":
    main()
