"""A DeBERTa of twice the width and twice the layers that begins by computing what a trained one computes."""

import copy

import torch


@torch.no_grad()
def grown(model, inputs):
    """`model` is a DebertaV2ForQuestionAnswering; `inputs` a batch on which the new layers learn to change nothing (nearly)."""
    config = copy.deepcopy(model.config)
    for name in ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "pooler_hidden_size"):
        setattr(config, name, 2 * getattr(config, name))
    hidden = model.eval()(**inputs, output_hidden_states=True).hidden_states
    there = inputs["attention_mask"].bool()
    spreads = [(states[there].std(-1).mean().item(), states[there].mean().item()) for states in hidden[:-1]]
    larger = type(model)(config).to(inputs["input_ids"].device)
    weights, values = model.state_dict(), {}
    for name, value in larger.state_dict().items():
        parts = name.split(".")
        if "layer" in parts:
            number = int(parts[3])
            values[name] = doubled(weights[".".join([*parts[:3], str(number // 2), *parts[4:]])], name)
            if number % 2 == 0:  # a layer that adds nothing, before each of the old ones
                spread, mean = spreads[number // 2]
                if "output.LayerNorm" in name:
                    values[name] = torch.full_like(value, spread if name.endswith("weight") else mean)
                elif "output.dense" in name:
                    values[name] = torch.zeros_like(value)
        else:
            values[name] = doubled(weights[name], name)
    larger.load_state_dict(values)
    return larger


def doubled(value, name):
    """The tensor with every channel twice. A layer that reads them takes a random share of each copy, so that the copies become different."""
    if "word_embeddings" in name or "token_type_embeddings" in name:
        return value.clone()
    if "qa_outputs.bias" in name:
        return value.clone()
    if value.ndim == 1:
        return torch.cat([value, value])
    if "rel_embeddings" in name:
        return torch.cat([value, value], 1)
    if "qa_outputs" not in name:
        value = torch.cat([value, value], 0)
    if "embed_proj" in name:
        return value
    part = 0.5 + 0.3 * torch.randn_like(value)
    return torch.cat([value * part, value * (1 - part)], 1)
