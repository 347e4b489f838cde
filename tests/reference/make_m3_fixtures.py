"""Writes tiny random folders in the form of BAAI/bge-m3, and the dense, sparse and multi-vector results of FlagEmbedding's M3Embedder.

    python make_m3_fixtures.py [CASE ...]

tests/fixtures/m3/<case>: an XLM-RoBERTa with sparse_linear.pt and colbert_linear.pt; texts.json with the results of texts, and the scores of the
first text with the others. Requirements: requirements-m3.txt.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from FlagEmbedding import BGEM3FlagModel
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
from tokenizers.models import Unigram

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "m3"
WIDTH = 8
LIMIT = 12
TEXTS = [
    "the bees live in the hive",
    "a hive of bees",
    "bees bees bees and bees",
    "\u2603 bees",  # a sign that the vocabulary lacks
    "the <mask> hive </s> of bees",
    "",
    "the bees live in the hive and the bees live in a hive of the bees and so on",  # is cut
]
WORDS = "the a in of and on so bees bee hive live s e h i v t n d o b l f".split()

CASES = {
    # As published: modules.json for the dense vector, pytorch_model.bin, and layers of float16.
    "published": dict(modules=True, dtype=torch.float16),
    # As FlagEmbedding's trainer saves a model.
    "trained": dict(modules=False, dtype=torch.float32),
}


def write_tokenizer(folder):
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = ["\u2581" + word for word in WORDS] + WORDS[-14:] + ["\u2581"]
    vocabulary = [(piece, 0.0) for piece in special] + [(piece, -1.0 - 0.1 * i) for i, piece in enumerate(pieces)] + [("<mask>", 0.0)]
    tokenizer = Tokenizer(Unigram(vocabulary, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    ends = [("<s>", 0), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends)
    names = dict(bos_token="<s>", cls_token="<s>", eos_token="</s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LIMIT, **names).save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tokenizer_class": "XLMRobertaTokenizerFast"}, indent=2))
    return len(vocabulary)


def write_folder(folder, modules, dtype):
    folder.mkdir(parents=True)
    size = write_tokenizer(folder)
    config = transformers.XLMRobertaConfig(
        vocab_size=size, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
        max_position_embeddings=LIMIT + 2, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )
    generator = torch.Generator().manual_seed(len(folder.name))
    model = transformers.XLMRobertaModel(config, add_pooling_layer=False)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            one = 1 if "LayerNorm.weight" in name else 0
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4 + one)
    model.save_pretrained(folder)
    for name, rows in (("sparse", 1), ("colbert", WIDTH)):
        layer = {"weight": torch.randn(rows, WIDTH, generator=generator), "bias": torch.randn(rows, generator=generator) * 0.5 + 4 / rows}
        torch.save({key: value.to(dtype) for key, value in layer.items()}, folder / f"{name}_linear.pt")
    if modules:
        encoder = models.Transformer(str(folder), max_seq_length=LIMIT)
        parts = [encoder, models.Pooling(WIDTH, "cls"), models.Normalize()]
        SentenceTransformer(modules=parts, device="cpu").save(str(folder), create_model_card=False)
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    for name in ("README.md", ".gitattributes"):
        (folder / name).unlink(missing_ok=True)


def write_texts(folder):
    model = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu", pooling_method="cls", normalize_embeddings=True)
    found = model.encode(TEXTS, max_length=LIMIT, return_dense=True, return_sparse=True, return_colbert_vecs=True)
    texts = []
    for i, text in enumerate(TEXTS):
        weights = {int(id): float(weight) for id, weight in found["lexical_weights"][i].items()}
        ids = sorted(weights, key=lambda id: (-weights[id], id))
        rows = found["colbert_vecs"][i]
        texts.append({
            "text": text,
            "dense": found["dense_vecs"][i].tolist(),
            "sparse": {"indices": ids, "tokens": model.tokenizer.convert_ids_to_tokens(ids), "values": [weights[id] for id in ids]},
            "rows": {"dims": list(rows.shape), "values": rows.flatten().tolist()},
        })
    query = found["lexical_weights"][0]
    scores = {
        "sparse": [float(model.compute_lexical_matching_score(query, one)) for one in found["lexical_weights"]],
        "colbert": [float(model.colbert_score(found["colbert_vecs"][0], rows)) for rows in found["colbert_vecs"]],
    }
    (folder / "texts.json").write_text(json.dumps({"size": model.model.vocab_size, "texts": texts, "scores": scores}))


def main():
    for case, options in CASES.items():
        if sys.argv[1:] and case not in sys.argv[1:]:
            continue
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        write_folder(folder, **options)
        write_texts(folder)
        print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


if __name__ == "__main__":
    main()
