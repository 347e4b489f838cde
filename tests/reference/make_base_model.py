"""Writes one random base-size checkpoint and what the reference implementation computes with it, for compare_base_models.mjs.

    python make_base_model.py NAME FOLDER       (NAME: one of those that --list prints)

Twelve layers of the published widths. The vocabulary is cut to 2,000 words: an embedding row is copied, whichever it is, and
the files stay at some 350 MB. Weights are drawn as for training (deviation 0.02), biases and norms around their usual values.
"""

import json
import sys
from pathlib import Path

import tokenizers
import torch
import transformers
from safetensors.torch import save_file

VOCAB = 2000
LENGTHS = (7, 64, 200)
BASE = {"vocab_size": VOCAB, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "max_position_embeddings": 512}
CONVBERT = BASE | {"embedding_size": 768, "head_ratio": 2, "conv_kernel_size": 9, "num_groups": 1}
DEBERTA = BASE | {"type_vocab_size": 0, "relative_attention": True, "position_biased_input": False, "max_relative_positions": -1,
                  "layer_norm_eps": 1e-7}
V2 = DEBERTA | {"pos_att_type": ["p2c", "c2p"], "position_buckets": 256, "norm_rel_ebd": "layer_norm"}
MODELS = {
    "convbert-base": ("ConvBertModel", CONVBERT),
    "convbert-medium-small": ("ConvBertModel", CONVBERT | {"hidden_size": 384, "embedding_size": 128, "num_attention_heads": 8,
                                                           "intermediate_size": 1536, "num_groups": 2}),
    "deberta-base": ("DebertaModel", DEBERTA | {"pos_att_type": ["c2p", "p2c"]}),
    "deberta-v2-base": ("DebertaV2Model", V2 | {"share_att_key": False, "conv_kernel_size": 3, "conv_act": "gelu"}),
    "deberta-v3-base": ("DebertaV2Model", V2 | {"share_att_key": True}),
    "bert-base": ("BertModel", BASE),
    "electra-base": ("ElectraModel", BASE | {"embedding_size": 768}),
}


def build(name):
    class_name, config = MODELS[name]
    model_class = getattr(transformers, class_name)
    model = model_class._from_config(model_class.config_class(**config), attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(20200806)
    with torch.no_grad():
        for key, parameter in sorted(model.named_parameters()):
            parameter.copy_(0.02 * torch.randn(parameter.shape, generator=generator))
            if key.endswith("LayerNorm.weight"):
                parameter.copy_(1 + 5 * parameter)
    return model


def run(model):
    generator = torch.Generator().manual_seed(7)
    tensors = {}
    for text, length in enumerate(LENGTHS):
        ids = torch.randint(0, VOCAB, (1, length), generator=generator)
        with torch.no_grad():
            outputs = model(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        tensors[f"{text}.input_ids"] = ids[0].int()
        for layer, state in enumerate(outputs.hidden_states):
            tensors[f"{text}.hidden_states.{layer}"] = state[0].contiguous().clone()
    return tensors


def main():
    if sys.argv[1:] == ["--list"]:
        print(json.dumps({"models": list(MODELS), "transformers": transformers.__version__, "torch": torch.__version__}))
        return
    name, folder = sys.argv[1], Path(sys.argv[2])
    model = build(name)
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({f"t{i}": i for i in range(VOCAB)}, unk_token="t0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(run(model), folder / "expected.safetensors")


if __name__ == "__main__":
    main()
