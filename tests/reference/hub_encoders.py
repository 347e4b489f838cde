"""NomicBERT and GTE with the modules of their authors' code on the hub, from which the ONNX files on the hub are exported: transformers has other
modules (NomicBERT, GTE of transformers 5). Reads the tiny checkpoints, whose tensors have the same names, and compares itself with their goldens."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import PretrainedConfig

GATES = {"silu": nn.SiLU(), "gelu": nn.GELU(), "swiglu": nn.SiLU(), "geglu": nn.GELU()}


class Rotary(nn.Module):
    """Turns queries and keys [batch, tokens, heads, size]; the halves of a head are the two coordinates."""

    def __init__(self, config):
        super().__init__()
        size = config.head_size
        rope = getattr(config, "rope_parameters", None) or {"rope_theta": getattr(config, "rotary_emb_base", None) or config.rope_theta}
        theta, factor = rope["rope_theta"], rope.get("factor", 1.0)
        scaling = getattr(config, "rope_scaling", None)
        if scaling:  # of GTE's own code: NTK
            theta, factor = theta * scaling["factor"], scaling["factor"] ** (2 / size)
        frequencies = theta ** (-torch.arange(0, size, 2).float() / size) / factor
        self.register_buffer("inv_freq", frequencies, persistent=False)

    def forward(self, x):
        angles = torch.outer(torch.arange(x.shape[1]).float(), self.inv_freq)
        cos, sin = (torch.cat([part, part], -1)[None, :, None] for part in (angles.cos(), angles.sin()))
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], -1) * sin


def by_heads(x, *parts):
    """[batch, tokens, parts..., size]. A view of traced sizes: unflatten would export the example's length."""
    return x.view(x.shape[0], x.shape[1], *parts, x.shape[2] // torch.Size(parts).numel())


def attend(query, key, value, mask):
    """Attention of [batch, tokens, heads, size]; the mask is added to the scores."""
    shape = (query.shape[0], query.shape[1], query.shape[2] * query.shape[3])
    query, key, value = (x.transpose(1, 2) for x in (query, key, value))
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + mask
    return (scores.softmax(-1) @ value).transpose(1, 2).reshape(*shape)


class Pooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        return torch.tanh(self.dense(x[:, 0]))


class Embeddings(nn.Module):
    def __init__(self, config, has_norm):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        if config.type_vocab_size > 0:
            self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        if has_norm:
            self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, input_ids, token_type_ids):
        x = self.word_embeddings(input_ids)
        if hasattr(self, "token_type_embeddings"):
            x = x + self.token_type_embeddings(torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids)
        return self.LayerNorm(x) if hasattr(self, "LayerNorm") else x


class NomicAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.rotary_emb = Rotary(config)
        self.Wqkv = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(self, x, mask):
        query, key, value = by_heads(self.Wqkv(x), 3, self.heads).unbind(2)
        return self.out_proj(attend(self.rotary_emb(query), self.rotary_emb(key), value, mask))


class NomicGated(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc11 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.fc12 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.activation = GATES[config.gate]

    def forward(self, x):
        return self.fc2(self.fc11(x) * self.activation(self.fc12(x)))


class NomicLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attn, self.mlp = NomicAttention(config), NomicGated(config)
        self.norm1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.norm2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x, mask):
        x = self.norm1(self.attn(x, mask) + x)
        return self.norm2(self.mlp(x) + x)


class GteAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, hidden = config.num_attention_heads, config.hidden_size
        if getattr(config, "pack_qkv", True):
            self.qkv_proj = nn.Linear(hidden, 3 * hidden)
        else:
            self.q_proj, self.k_proj, self.v_proj = (nn.Linear(hidden, hidden) for _ in range(3))
        self.o_proj = nn.Linear(hidden, hidden)

    def forward(self, x, mask, rotary):
        packed = hasattr(self, "qkv_proj")
        parts = self.qkv_proj(x).chunk(3, dim=-1) if packed else (self.q_proj(x), self.k_proj(x), self.v_proj(x))
        query, key, value = (by_heads(part, self.heads) for part in parts)
        return self.o_proj(attend(rotary(query), rotary(key), value, mask))


class GteGated(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.up_gate_proj = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size)
        self.act_fn = GATES[config.gate]

    def forward(self, x):
        up, gate = self.up_gate_proj(x).chunk(2, dim=-1)
        return self.down_proj(self.act_fn(gate) * up)


class GteLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention, self.mlp = GteAttention(config), GteGated(config)
        self.attn_ln = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.mlp_ln = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x, mask, rotary):
        x = self.attn_ln(self.attention(x, mask, rotary) + x)
        return self.mlp_ln(self.mlp(x) + x)


class Layers(nn.Module):
    def __init__(self, name, layer, config):
        super().__init__()
        self.name = name
        setattr(self, name, nn.ModuleList(layer(config) for _ in range(config.num_hidden_layers)))

    def forward(self, x, *others):
        for layer in getattr(self, self.name):
            x = layer(x, *others)
        return x


class Encoder(nn.Module):
    """A model without a head, or the encoder of one with a head."""

    def __init__(self, config, pools):
        super().__init__()
        self.config, self.is_nomic = config, config.model_type == "nomic_bert"
        self.embeddings = Embeddings(config, has_norm=not self.is_nomic)
        if self.is_nomic:
            self.emb_ln = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            self.encoder = Layers("layers", NomicLayer, config)
        else:
            self.embeddings.rotary_emb = Rotary(config)
            self.encoder = Layers("layer", GteLayer, config)
        if pools:
            self.pooler = Pooler(config)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        mask = 0.0 if attention_mask is None else (1 - attention_mask[:, None, None].float()) * -1e9
        x = self.embeddings(input_ids, token_type_ids)
        x = self.encoder(self.emb_ln(x), mask) if self.is_nomic else self.encoder(x, mask, self.embeddings.rotary_emb)
        return self.pooler(x) if hasattr(self, "pooler") else x


class Predictions(nn.Module):
    """The masked LM's head; `norm_name` and the owner of the bias differ between the two families."""

    def __init__(self, config, norm_name, activation):
        super().__init__()
        self.norm_name, self.activation = norm_name, activation
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        setattr(self, norm_name, nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps))

    def forward(self, x):
        return getattr(self, self.norm_name)(self.activation(self.dense(x)))


class NomicPredictions(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.transform = Predictions(config, "layer_norm", GATES[config.gate])
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, x):
        return self.decoder(self.transform(x))


class GtePredictions(Predictions):
    def __init__(self, config):
        super().__init__(config, "norm", nn.GELU())
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, x):
        return self.decoder(super().forward(x))


class Predicting(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.predictions = NomicPredictions(config)

    def forward(self, x):
        return self.predictions(x)


class WithHead(nn.Module):
    """`prefix`: the name of the encoder."""

    def __init__(self, config, head, prefix):
        super().__init__()
        self.config, self.prefix, self.head = config, prefix, head
        setattr(self, prefix, Encoder(config, head == "SequenceClassification"))
        if head != "MaskedLM":
            self.classifier = nn.Linear(config.hidden_size, len(config.id2label))
        elif config.model_type == "nomic_bert":
            self.cls = Predicting(config)
        else:
            self.lm_head = GtePredictions(config)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        x = getattr(self, self.prefix)(input_ids, attention_mask, token_type_ids)
        if self.head == "MaskedLM":
            return self.cls(x) if hasattr(self, "cls") else self.lm_head(x)
        return self.classifier(x)


def config_of(folder):
    fields = json.loads((folder / "config.json").read_text())
    for name, other in {"n_embd": "hidden_size", "n_layer": "num_hidden_layers", "n_head": "num_attention_heads", "n_inner": "intermediate_size",
                        "layer_norm_epsilon": "layer_norm_eps", "activation_function": "hidden_act"}.items():
        if name in fields:
            fields[other] = fields[name]
    config = PretrainedConfig.from_dict(fields)
    config.model_type, config.gate = fields["model_type"], fields["hidden_act"]
    config.head_size = config.hidden_size // config.num_attention_heads
    config.name_or_path = str(folder)
    return config


def load(folder, class_name):
    folder = Path(folder)
    config = config_of(folder)
    tensors = load_file(folder / "model.safetensors")
    prefix = next((name.split(".")[0] for name in tensors if name.endswith(".embeddings.word_embeddings.weight")), None)
    kind = type(class_name, (WithHead if prefix else Encoder,), {})
    model = kind(config, class_name.split("For")[-1], prefix) if prefix else kind(config, pools=False)
    tie_and_fill(model, tensors)
    compare(model.eval(), load_file(folder / "expected.safetensors"))
    return model


def tie_and_fill(model, tensors):
    """Loads every tensor; a decoder that is not stored is the word table, and biases that are not stored are zeros."""
    words = next(value for name, value in tensors.items() if name.endswith("word_embeddings.weight"))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            stored = tensors.pop(name, None)
            if stored is None and name.endswith("decoder.weight"):
                stored = words
            if stored is None and name.endswith("predictions.decoder.bias"):
                stored = tensors.pop("cls.predictions.bias", None)
            if stored is None:
                assert name.endswith("bias"), name
                stored = torch.zeros_like(parameter)
            parameter.copy_(stored.float())
    assert not [name for name in tensors if "pooler" not in name and name != "cls.predictions.bias"], list(tensors)


def compare(model, golden):
    states = []
    for module in model.modules():
        if isinstance(module, (NomicLayer, GteLayer)):
            module.register_forward_hook(lambda _module, _inputs, output: states.append(output))
    for text in "abc":
        ids, types = golden[f"{text}.input_ids"][None].long(), golden[f"{text}.token_type_ids"][None].long()
        states.clear()
        with torch.no_grad():
            outputs = model(ids, torch.ones_like(ids), types)
        for layer, state in enumerate(states, 1):
            assert torch.allclose(state[0], golden[f"{text}.hidden_states.{layer}"], atol=1e-4), (text, layer)
        if f"{text}.logits" in golden:
            assert torch.allclose(outputs[0], golden[f"{text}.logits"], atol=1e-4), text
    for module in model.modules():
        module._forward_hooks.clear()
