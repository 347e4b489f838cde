"""Writes the attention maps and span kernels that the reference implementation computes with the tiny checkpoints.

    python make_attention_goldens.py

For each case below, tests/fixtures/attention/<case>.safetensors holds, of a text of the checkpoint (tests/fixtures/tiny) as
a pipeline reads it, with token types of zero: input_ids [tokens], attentions.<layer> [heads, tokens, tokens],
hidden_states.<layer> [tokens, hidden] and, of ConvBERT, span_kernels.<layer> [tokens, heads, kernel_size].
"""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TEXT = "c"
CASES = ["bert-sequence", "bert-relative-key", "bert-relative-key-query", "electra-sequence",
         "convbert-sequence", "convbert-groups2", "convbert-ratio8", "convbert-heads6",
         "deberta-v1-sequence", "deberta-v1-c2p", "deberta-v1-absolute",
         "deberta-v2-sequence", "deberta-v2-own-keys", "deberta-v2-own-keys-p2c", "deberta-v2-buckets64", "deberta-v2-conv",
         "deberta-v2-absolute"]


def load(name):
    folder = FIXTURES / "tiny" / name
    model_class = getattr(transformers, json.loads((folder / "config.json").read_text())["architectures"][0])
    return model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def watch_span_kernels(model, kernels):
    """Collects softmax(conv_kernel_layer(...)), which ConvBertSelfAttention computes and does not return."""
    for layer in model.convbert.encoder.layer:
        attention = layer.attention.self

        def hook(_, __, output, attention=attention):
            taps = output.reshape(-1, attention.num_attention_heads, attention.conv_kernel_size)
            kernels.append(torch.softmax(taps, dim=-1))

        attention.conv_kernel_layer.register_forward_hook(hook)


def make(name):
    model = load(name)
    kernels = []
    if model.config.model_type == "convbert":
        watch_span_kernels(model, kernels)
    ids = load_file(FIXTURES / "tiny" / name / "expected.safetensors")[f"{TEXT}.input_ids"]
    with torch.no_grad():
        outputs = model(input_ids=ids.long()[None], token_type_ids=torch.zeros_like(ids).long()[None],
                        attention_mask=torch.ones_like(ids)[None], output_attentions=True, output_hidden_states=True)
    tensors = {"input_ids": ids}
    tensors |= {f"attentions.{layer}": map[0].contiguous() for layer, map in enumerate(outputs.attentions)}
    tensors |= {f"hidden_states.{layer}": state[0].contiguous() for layer, state in enumerate(outputs.hidden_states)}
    tensors |= {f"span_kernels.{layer}": kernel.contiguous() for layer, kernel in enumerate(kernels)}
    save_file(tensors, FIXTURES / "attention" / f"{name}.safetensors")


def main():
    torch.set_num_threads(1)
    (FIXTURES / "attention").mkdir(exist_ok=True)
    for name in CASES:
        make(name)


if __name__ == "__main__":
    main()
