"""Writes tiny random folders of sentence-transformers whose encoders are EuroBERT, Qwen3 and Gemma 3, and what the library makes of them.

    python make_encoder_fixtures.py [CASE ...]

tests/fixtures/sentence/<case>: the folder in the form of the published one; texts.json with the vectors of texts, asked for in several ways.
Tokenizers are those of tests/fixtures/tokenizer, cut down to the pieces that the texts need.
Requirements: requirements-encoders.txt.
"""

import hashlib
import itertools
import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "sentence"
TEXTS = ["Deep-water research at 1200 metres.", "n", "Caf\u00e9 e\u0301: 12345", "The text that is cut, because it has more tokens than fit. " * 3]
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24, "head_dim": 6}
QWEN_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
GEMMA_PROMPTS = {"query": "task: search result | query: ", "document": "title: none | text: "}

CASES = {
    # config.json names the class of the language model, as Qwen/Qwen3-Embedding-0.6B's does.
    "qwen3-embedding": dict(tokenizer="qwen", named="Qwen2TokenizerFast", config=transformers.Qwen3Config, pooling="lasttoken",
                            published="Qwen3ForCausalLM", prompts={"query": QWEN_QUERY, "document": ""},
                            fields={"tie_word_embeddings": True, "pad_token_id": None}, limit=30),
    "embedding-gemma": dict(tokenizer="gemma", named="GemmaTokenizerFast", config=transformers.Gemma3TextConfig, pooling="mean",
                            prompts=GEMMA_PROMPTS, dense=(40, 16), limit=24,
                            fields={"use_bidirectional_attention": True, "sliding_window": 7, "sliding_window_pattern": 2,
                                    "query_pre_attn_scalar": 6}),
    "eurobert-nano": dict(tokenizer="llama3", named="PreTrainedTokenizerFast", config=transformers.EuroBertConfig, pooling="lasttoken",
                          prompts={"query": "Query: ", "document": "Document: "}, limit=30,
                          fields={"rope_parameters": {"rope_type": "default", "rope_theta": 250000.0}, "pad_token_id": 0}),
    "eurobert-dense": dict(tokenizer="llama3", named="PreTrainedTokenizerFast", config=transformers.EuroBertConfig, pooling="mean", prompts={},
                           limit=30, dense=(12, 10, 8), activations=("SiLU", "Mish", "LeakyReLU"), fields={"pad_token_id": 0}),
}


def randomise(model, name):
    generator = torch.Generator().manual_seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))
    with torch.no_grad():
        for key, parameter in sorted(model.named_parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
            if "norm" in key and "Gemma" not in type(model).__name__:
                parameter.add_(1.0)


def cut(kind):
    """The fixture's tokenizer with the first pieces and merges only."""
    full = json.loads((FIXTURES / "tokenizer" / (kind + ".tokenizer.json")).read_text())
    special = {token["content"] for token in full["added_tokens"]}
    model = full["model"]
    merges = [merge if isinstance(merge, list) else merge.split(" ") for merge in model["merges"]][:120]
    made = {"".join(merge) for merge in merges}
    kept = [token for token in model["vocab"] if token in special or len(token) == 1 or token.startswith("<0x") or token in made]
    kept = sorted(kept, key=lambda token: model["vocab"][token])
    kept += sorted(special - set(kept))
    ids = {token: index for index, token in enumerate(kept)}
    model["vocab"] = {token: id for token, id in ids.items() if token in model["vocab"]}
    model["merges"] = [merge for merge in merges if "".join(merge) in ids and merge[0] in ids and merge[1] in ids]
    for token in full["added_tokens"]:
        token["id"] = ids[token["content"]]

    def renumber(part):
        for inner in part.get("processors", []):
            renumber(inner)
        for content, entry in (part.get("special_tokens") or {}).items():
            entry["ids"] = [ids[content]]

    renumber(full["post_processor"])
    full["added_tokens"].sort(key=lambda token: token["id"])
    return Tokenizer.from_str(json.dumps(full)), len(kept)


def write(case, tokenizer, named, config, pooling, prompts, fields, limit, published=None, dense=(), activations=()):
    folder = FOLDER / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made, size = cut(tokenizer)
    special = {"gemma": {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"},
               "qwen": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
               "llama3": {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": "<|end_of_text|>", "mask_token": "<|mask|>"}}
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=limit, **special[tokenizer]).save_pretrained(folder)
    model = transformers.AutoModel.from_config(config(vocab_size=size, max_position_embeddings=64, **SIZES, **fields)).eval()
    randomise(model, case)
    model.save_pretrained(folder)
    modules = [models.Transformer(str(folder)), models.Pooling(SIZES["hidden_size"], pooling_mode=pooling)]
    width = SIZES["hidden_size"]
    for out, activation in itertools.zip_longest(dense, activations, fillvalue="Identity"):
        layer = models.Dense(in_features=width, out_features=out, bias=False, activation_function=getattr(torch.nn, activation)())
        randomise(layer, case + str(out))
        modules.append(layer)
        width = out
    modules.append(models.Normalize())
    SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save(str(folder), create_model_card=False)
    names = json.loads((folder / "tokenizer_config.json").read_text())
    names["tokenizer_class"] = named
    if named.startswith("Gemma"):
        names |= {"add_bos_token": True, "add_eos_token": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(names, indent=2) + "\n")
    if published:
        settings = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(settings | {"architectures": [published]}, indent=2) + "\n")
        tensors = {"model." + name: value for name, value in load_file(folder / "model.safetensors").items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    library = SentenceTransformer(str(folder), device="cpu")
    ways = [{}, {"dimensions": 5}, {"prompt": "c d "}] + [{"prompt_name": name} for name in prompts]
    texts = []
    for text in TEXTS:
        for way in ways:
            call = {"truncate_dim" if key == "dimensions" else key: value for key, value in way.items()}
            texts.append({"text": text, "options": way, "vector": library.encode(text, **call).tolist()})
    (folder / "texts.json").write_text(json.dumps(texts, indent=1))
    for name in ("README.md", ".gitattributes", "chat_template.jinja"):
        (folder / name).unlink(missing_ok=True)
    print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


def main():
    for case, options in CASES.items():
        if not sys.argv[1:] or case in sys.argv[1:]:
            write(case, **options)


if __name__ == "__main__":
    main()
