"""Writes the attention maps and span kernels that the reference implementation computes with the tiny checkpoints.

    python make_attention_goldens.py

For each case below, tests/fixtures/attention/<case>.safetensors holds, of a text of the checkpoint (tests/fixtures/tiny) as
a pipeline reads it, with token types of zero: input_ids [tokens], attentions.<layer> [heads, tokens, tokens],
hidden_states.<layer> [tokens, hidden] and, of ConvBERT, span_kernels.<layer> [tokens, heads, kernel_size].

<case>.more.safetensors holds for the same text
 - head_mask [layers, heads] and masked.hidden_states.<layer> with it. DeBERTa's classes take no head_mask: there each head's columns of
   what DisentangledSelfAttention returns are multiplied, which is what head_mask does in the others;
 - of DeBERTa with relative positions c2c.<layer>, c2p.<layer>, p2c.<layer> [heads, tokens, tokens]: the terms of the scores, from
   DisentangledSelfAttention's own functions, asked for one kind of pos_att_type at a time.
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
    """Collects softmax(conv_kernel_layer(...)), which ConvBertSelfAttention does not return."""
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


def watch_terms(model, terms):
    v1 = model.config.model_type == "deberta"
    method = "disentangled_att_bias" if v1 else "disentangled_attention_bias"
    for number, layer in enumerate(model.deberta.encoder.layer):
        attention = layer.attention.self
        whole = getattr(attention, method)

        def watch(query, key, relative_pos, rel_embeddings, scale_factor, number=number, attention=attention, whole=whole):
            scale = 1 if v1 else (query.size(-1) * scale_factor) ** 0.5  # v1 has scaled its query already
            terms[f"c2c.{number}"] = torch.matmul(query, key.transpose(-1, -2)) / scale
            kinds = attention.pos_att_type
            for kind in kinds:
                attention.pos_att_type = [kind]
                terms[f"{kind}.{number}"] = whole(query, key, relative_pos, rel_embeddings, scale_factor)
            attention.pos_att_type = kinds
            return whole(query, key, relative_pos, rel_embeddings, scale_factor)

        setattr(attention, method, watch)


def mute_columns(model, head_mask):
    """Applies a head_mask to classes that do not accept one."""
    for layer, mask in zip(model.deberta.encoder.layer, head_mask):
        def hook(_, __, output, mask=mask):
            context = output[0]
            return (context * mask.repeat_interleave(context.size(-1) // len(mask)), *output[1:])

        layer.attention.self.register_forward_hook(hook)


def make_more(name):
    ids = load_file(FIXTURES / "tiny" / name / "expected.safetensors")[f"{TEXT}.input_ids"]
    inputs = {"input_ids": ids.long()[None], "token_type_ids": torch.zeros_like(ids).long()[None],
              "attention_mask": torch.ones_like(ids)[None], "output_hidden_states": True}
    tensors = {"input_ids": ids}
    model = load(name)
    heads = model(**inputs, output_attentions=True).attentions[0].size(1)
    layers = model.config.num_hidden_layers
    # Heads are muted, halved or unchanged, differently in each layer.
    mask = torch.tensor([[(0.0, 1.0, 0.5)[(layer + head) % 3] for head in range(heads)] for layer in range(layers)])
    tensors["head_mask"] = mask
    is_deberta = model.config.model_type.startswith("deberta")
    if is_deberta:
        terms = {}
        watch_terms(model, terms)
        model(**inputs)
        size = len(ids)
        tensors |= {term: values.reshape(heads, size, size).contiguous() for term, values in terms.items()}
        model = load(name)
        mute_columns(model, mask)
        masked = model(**inputs)
    else:
        masked = model(**inputs, head_mask=mask)
    tensors |= {f"masked.hidden_states.{layer}": state[0].contiguous() for layer, state in enumerate(masked.hidden_states)}
    save_file(tensors, FIXTURES / "attention" / f"{name}.more.safetensors")


def main():
    torch.set_num_threads(1)
    (FIXTURES / "attention").mkdir(exist_ok=True)
    for name in CASES:
        make(name)
        with torch.no_grad():
            make_more(name)


if __name__ == "__main__":
    main()
