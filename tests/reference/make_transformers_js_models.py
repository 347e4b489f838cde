"""Writes tests/fixtures/transformers_js: tiny random models as ONNX repositories, which transformers.js and Peruse read.

    python make_transformers_js_models.py

Needs requirements-onnx.txt. make_transformers_js_goldens.mjs then writes what transformers.js computes with them.
"""
import json
import string
from pathlib import Path

import tokenizers
import torch
import transformers
from transformers import BertConfig, BertTokenizerFast, ModernBertConfig, PreTrainedTokenizerFast

OUT = Path(__file__).resolve().parents[1] / "fixtures/transformers_js"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
BERT = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 37, "max_position_embeddings": 64,
        "initializer_range": 0.6}
SENTENCES = ["The capital of France is Paris.", "a b c d e", "one day I will see the world", "I love making pizza"]


def bert_tokenizer(folder):
    letters = list(string.ascii_lowercase + string.digits)
    vocab = SPECIAL + letters + ["##" + letter for letter in letters] + [".", ",", "?"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64)
    tokenizer.save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    return len(vocab)


def bpe_tokenizer(folder):
    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(SENTENCES, tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False))
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, model_max_length=64, model_input_names=["input_ids", "attention_mask"], pad_token="[PAD]",
        unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token=tokenizers.AddedToken("[MASK]", lstrip=True, special=True))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def write(name, kind, tokenize, config, outputs):
    folder = OUT / name
    size = tokenize(folder)
    torch.manual_seed(len(name))
    settings = config(vocab_size=size)
    model = getattr(transformers, kind)(settings).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, std=0.2)
    settings.architectures = [kind]
    (folder / "config.json").write_text(json.dumps(settings.to_dict(), indent=1, sort_keys=True) + "\n")
    inputs = ["input_ids", "attention_mask"] + (["token_type_ids"] if settings.model_type == "bert" else [])
    ids = torch.ones(2, 5, dtype=torch.long)
    (folder / "onnx").mkdir(exist_ok=True)
    model.config.return_dict = False
    axes = {each: {0: "batch", 1: "tokens"} for each in inputs + outputs}
    torch.onnx.export(model, tuple([ids] + [ids, ids * 0][: len(inputs) - 1]), folder / "onnx/model.onnx", input_names=inputs,
                      output_names=outputs, dynamic_axes=axes, opset_version=14, dynamo=False)
    (folder / "special_tokens_map.json").unlink(missing_ok=True)


def main():
    bert = lambda **own: BertConfig(**BERT, **own)
    modern = lambda **own: ModernBertConfig(
        hidden_size=32, num_attention_heads=4, num_hidden_layers=2, intermediate_size=24, max_position_embeddings=64, initializer_range=0.6,
        initializer_cutoff_factor=2.0, pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3,
        attn_implementation="eager", reference_compile=False, **own)
    write("bert", "BertModel", bert_tokenizer, bert, ["last_hidden_state"])
    write("bert-sequence", "BertForSequenceClassification", bert_tokenizer, bert, ["logits"])
    write("bert-token", "BertForTokenClassification", bert_tokenizer, bert, ["logits"])
    write("bert-masked", "BertForMaskedLM", bert_tokenizer, bert, ["logits"])
    write("bert-question", "BertForQuestionAnswering", bert_tokenizer, bert, ["start_logits", "end_logits"])
    write("modernbert-masked", "ModernBertForMaskedLM", bpe_tokenizer, modern, ["logits"])


if __name__ == "__main__":
    main()
