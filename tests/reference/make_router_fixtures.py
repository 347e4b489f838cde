"""Writes tiny random folders of dense Routers, and the vectors that sentence-transformers computes with them.

    python make_router_fixtures.py

tests/fixtures/router/<case>: the folder as the library saves it; texts.json with the vectors of texts, without a task, as queries and as
documents. Requirements: requirements-encoders.txt.
"""

import json
import shutil
import tempfile
from pathlib import Path

import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, StaticEmbedding, Transformer

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "router"
TEXTS = ["a b c", "d", "a b c d e f g h i j k l m n o p", "ab b q b"]
PIECES = [chr(97 + i) for i in range(23)]
WIDTH = 8
PROMPTS = {"query": "q r ", "document": "d "}


def encoder(kind="Bert", width=WIDTH):
    sizes = {"hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12}
    if kind == "DistilBert":
        sizes = {"dim": width, "n_layers": 1, "n_heads": 2, "hidden_dim": 12}
    config = getattr(transformers, kind + "Config")(vocab_size=30, max_position_embeddings=32, **sizes)
    model = getattr(transformers, kind + "Model")(config)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            parameter.copy_(torch.randn(parameter.shape) * 0.4 + (1 if "norm" in name.lower() and name.endswith("weight") else 0))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        vocabulary = Path(folder) / "vocab.txt"
        vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + PIECES))
        transformers.BertTokenizerFast(str(vocabulary), model_max_length=10).save_pretrained(folder)
        return Transformer(folder)


def static(width):
    return StaticEmbedding(encoder().tokenizer, embedding_weights=torch.randn(28, width))


def dense(inputs, outputs, **options):
    layer = Dense(inputs, outputs, **options)
    torch.nn.init.normal_(layer.linear.weight, std=0.5)
    return layer


def shared_encoder():
    """One encoder; the poolings differ, and only queries pass through a dense layer."""
    one = encoder()
    query = [one, Pooling(WIDTH, "cls"), dense(WIDTH, 5), Normalize()]
    return [Router.for_query_document(query, [one, Pooling(WIDTH, "mean"), dense(WIDTH, 5, bias=False)])]


def after_encoder():
    """The encoder and the pooling precede the Router; a Normalize follows it."""
    layers = Router({"query": [dense(WIDTH, 6)], "document": [dense(WIDTH, 6), dense(6, 6)]}, default_route=None)
    return [encoder("DistilBert"), Pooling(WIDTH, "mean"), layers, Normalize()]


def explicit():
    """Without a default route, a text needs a task. Prompts are not pooled for documents."""
    one = encoder()
    routes = {"document": [one, Pooling(WIDTH, "mean", include_prompt=False)], "query": [one, Pooling(WIDTH, "max")]}
    return [Router(routes, default_route=None, allow_empty_key=False)]


def two_encoders():
    """Encoders of two families, with other widths."""
    query = [encoder("DistilBert", 6), Pooling(6, "mean"), dense(6, WIDTH)]
    return [Router.for_query_document(query, [encoder(), Pooling(WIDTH, "cls")]), Normalize()]


def static_queries():
    """A table encodes queries (asymmetric static)."""
    query = [static(5), dense(5, WIDTH), Normalize()]
    return [Router.for_query_document(query, [encoder(), Pooling(WIDTH, "mean"), Normalize()])]


def static_documents():
    return [Router.for_query_document([encoder(), Pooling(WIDTH, "mean")], [static(WIDTH)])]


def static_alike():
    one = [static(WIDTH), Normalize()]
    return [Router.for_query_document(one, one)]


def other_routes():
    """Routes that are neither queries nor documents; the first is the default."""
    return [Router({"code": [encoder(), Pooling(WIDTH, "mean")], "prose": [encoder(), Pooling(WIDTH, "cls")]})]


CASES = {
    "shared-encoder": shared_encoder,
    "after-encoder": after_encoder,
    "explicit": explicit,
    "two-encoders": two_encoders,
    "static-queries": static_queries,
    "static-documents": static_documents,
    "static-alike": static_alike,
    "other-routes": other_routes,
}


def write_texts(folder, case):
    model = SentenceTransformer(str(folder), device="cpu")
    tasks = ["code", "prose"] if case == "other-routes" else [None, "query", "document"]
    texts = []
    for text in TEXTS:
        for task in tasks:
            if case == "explicit" and task is None:
                continue
            encode = {"query": model.encode_query, "document": model.encode_document}.get(task, model.encode)
            vector = encode(text, task=task) if case == "other-routes" else encode(text)
            texts.append({"text": text, "task": task, "vector": vector.tolist()})
    (folder / "texts.json").write_text(json.dumps(texts))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    torch.manual_seed(0)
    for case, modules in CASES.items():
        folder = FOLDER / case
        SentenceTransformer(modules=modules(), prompts=PROMPTS, device="cpu").save_pretrained(str(folder), create_model_card=False)
        write_texts(folder, case)
        for name in ("README.md", ".gitattributes"):
            (folder / name).unlink(missing_ok=True)
        print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


if __name__ == "__main__":
    main()
