"""Writes tiny random folders of sentence-transformers, and what the library makes of them.

    python make_sentence_fixtures.py [CASE ...]

tests/fixtures/sentence/<case>: the folder as the library saves it, or as older releases did; expected.safetensors with token
vectors and the sentence vector for each of several lengths; texts.json with the vectors of texts, asked for in several ways.
Requirements: requirements-sentence.txt.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer, models

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "sentence"
WIDTH = 8
LENGTHS = (1, 3, 7)

CASES = {
    "mean": dict(pooling="mean", normalize=True, prompts={"query": "q r ", "passage": "p "}, default="query"),
    "cls": dict(pooling="cls", normalize=False),
    "max": dict(pooling="max", normalize=True),
    "sqrt": dict(pooling="mean_sqrt_len_tokens", normalize=False),
    "weighted": dict(pooling="weightedmean", normalize=False, include_prompt=False, prompts={"query": "f g "}),
    "last": dict(pooling="lasttoken", normalize=False),
    "several": dict(pooling=("max", "cls", "mean"), normalize=True, include_prompt=False, prompts={"query": "f g "}),
    "dense-tanh": dict(pooling="mean", normalize=True, dense=dict(out_features=5)),
    "dense-identity": dict(pooling="cls", normalize=False,
                           dense=dict(out_features=3, bias=False, activation_function=torch.nn.Identity())),
    # As releases before 5.4 save it: flags of pooling, other class paths, a limit and the case beside them, the encoder in a
    # folder of its own.
    "old": dict(pooling=("max", "mean"), normalize=True, lower=False, old=dict(max_seq_length=6, do_lower_case=True)),
    "residual": dict(pooling="mean", normalize=False, dense=dict(out_features=WIDTH, use_residual=True)),
    "residual-narrow": dict(pooling="cls", normalize=True, dense=dict(out_features=5, bias=False, use_residual=True)),
    "truncated": dict(pooling="mean", normalize=True, truncate=3),
    # What some releases wrote for an activation: the library takes its default.
    "unnamed": dict(pooling="mean", normalize=False, dense=dict(out_features=3), unnamed=True),
    # The limit of the folder is above that of its tokenizer.
    # Special tokens in a text keep their case where the library lower-cases.
    "lower-special": dict(pooling="mean", normalize=False, lower=False, old=dict(max_seq_length=20, do_lower_case=True),
                          texts=["A b [MASK] Q [SEP] c", "[UNK]A[unk]"]),
    "longer": dict(pooling="mean", normalize=False, old=dict(max_seq_length=12, do_lower_case=False), tokenizer_limit=5),
}
TEXTS = ["a b c", "d", "a b c d e f g h i j k l m n o p", "A b Q"]


def encoder(folder, lower):
    """The smallest BERT that the library takes."""
    config = transformers.BertConfig(vocab_size=30, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2,
                                     intermediate_size=8, max_position_embeddings=32)
    transformers.BertModel(config).save_pretrained(folder)
    vocab = [chr(97 + i) for i in range(23)] + ["A", "Q"]
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + vocab))
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=lower).save_pretrained(folder)


def build(folder, pooling, normalize, dense=None, prompts=None, default=None, include_prompt=True, truncate=None, **_):
    modules = [models.Transformer(str(folder)), models.Pooling(WIDTH, pooling_mode=pooling, include_prompt=include_prompt)]
    width = WIDTH * (1 if isinstance(pooling, str) else len(pooling))
    if dense:
        modules.append(models.Dense(in_features=width, **dense))
    if normalize:
        modules.append(models.Normalize())
    return SentenceTransformer(modules=modules, prompts=prompts, default_prompt_name=default, truncate_dim=truncate, device="cpu")


def make_old(folder, pooling, max_seq_length, do_lower_case):
    """Rewrites what the library saved in the form of releases before 5.4."""
    encoder_folder = folder / "0_Transformer"
    encoder_folder.mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(encoder_folder / path.name)
    (encoder_folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": max_seq_length, "do_lower_case": do_lower_case}))
    flags = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens"}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": WIDTH, **{f"pooling_mode_{flag}": mode in pooling for mode, flag in flags.items()}}))
    modules = json.loads((folder / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].split(".")[-1]
        module["path"] = module["path"] or "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules, indent=2))


def rewrite(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields, indent=2))


def after_encoder(model, tokens, **more):
    features = {"token_embeddings": tokens, "attention_mask": torch.ones(tokens.shape[:2], dtype=torch.long), **more}
    with torch.no_grad():
        for module in list(model)[1:]:
            features = module(features)
    return features["sentence_embedding"][0].clone().contiguous()


def main():
    torch.manual_seed(0)
    for case, options in CASES.items():
        if sys.argv[1:] and case not in sys.argv[1:]:
            continue
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory() as temporary:
            encoder(Path(temporary), options.get("lower", True))
            build(Path(temporary), **options).save(str(folder), create_model_card=False)
        if "old" in options:
            make_old(folder, options["pooling"], **options["old"])
        if "tokenizer_limit" in options:
            rewrite(folder / "0_Transformer" / "tokenizer_config.json", model_max_length=options["tokenizer_limit"])
        if options.get("unnamed"):
            rewrite(folder / "2_Dense" / "config.json", activation_function="sentence_transformers.util.fullname")
        model = SentenceTransformer(str(folder), device="cpu")
        expected = {}
        for length in LENGTHS:
            tokens = torch.randn(1, length, WIDTH)
            expected[f"{length}.tokens"] = tokens[0].clone()
            expected[f"{length}.sentence"] = after_encoder(model, tokens)
            if not options.get("include_prompt", True) and length > 2:
                expected[f"{length}.without_prompt"] = after_encoder(model, tokens, prompt_length=2)
        save_file(expected, folder / "expected.safetensors")
        ways = [{}, {"dimensions": 2}, {"prompt": "c d "}] + [{"prompt_name": name} for name in options.get("prompts", {})]
        texts = []
        for text in options.get("texts", TEXTS):
            for way in ways:
                call = {"truncate_dim" if key == "dimensions" else key: value for key, value in way.items()}
                texts.append({"text": text, "options": way, "vector": model.encode(text, **call).tolist()})
        (folder / "texts.json").write_text(json.dumps(texts, indent=1))
        for name in ("README.md", ".gitattributes"):
            (folder / name).unlink(missing_ok=True)
        print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))


if __name__ == "__main__":
    main()
