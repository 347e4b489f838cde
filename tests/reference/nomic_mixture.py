"""NomicBERT 2 (nomic-embed-text-v2-moe), which no release of transformers has: its formulas, with the names of its published tensors. Post-norm
layers with rotary positions and biases; layers 1, 3, 5, ... have experts, of which each token passes through `moe_top_k`."""
import torch
from torch import nn
from transformers.modeling_outputs import BaseModelOutput


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.base = config.n_head, config.rotary_emb_base
        self.Wqkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out_proj = nn.Linear(config.n_embd, config.n_embd)

    def rotated(self, x):
        """x [heads, tokens, width]: element i turns with element i + width / 2."""
        width = x.shape[-1]
        frequencies = self.base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
        angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float32), frequencies)
        first, second = x.chunk(2, dim=-1)
        cosines, sines = angles.cos(), angles.sin()
        return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)

    def forward(self, x):
        query, key, value = (part.view(len(x), self.heads, -1).transpose(0, 1) for part in self.Wqkv(x).chunk(3, dim=-1))
        scores = self.rotated(query) @ self.rotated(key).transpose(1, 2) / query.shape[-1] ** 0.5
        return self.out_proj((scores.softmax(dim=-1) @ value).transpose(0, 1).reshape(x.shape))


class Plain(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.n_embd, config.n_inner)
        self.fc2 = nn.Linear(config.n_inner, config.n_embd)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Mixture(nn.Module):
    """sum of p_e gelu(x W1_e^T) W2_e over the experts e with the largest p = softmax(router x), plus a bias."""

    def __init__(self, config):
        super().__init__()
        self.count, self.chosen = config.num_experts, config.moe_top_k
        self.router = nn.ModuleDict({"layer": nn.Linear(config.n_embd, self.count, bias=False)})
        self.experts = nn.Module()
        self.experts.mlp = nn.Module()
        for name in ("w1", "w2"):
            setattr(self.experts.mlp, name, nn.Parameter(torch.empty(self.count * config.n_inner, config.n_embd)))
        self.experts.bias = nn.Parameter(torch.empty(config.n_embd))

    def forward(self, x):
        shares, experts = self.router["layer"](x).softmax(dim=-1).topk(self.chosen, dim=-1)
        up, down = (weight.view(self.count, -1, x.shape[-1]) for weight in (self.experts.mlp.w1, self.experts.mlp.w2))
        rows = [sum(p * (nn.functional.gelu(row @ up[e].T) @ down[e]) for p, e in zip(*chosen)) for row, *chosen in zip(x, shares, experts)]
        return torch.stack(rows) + self.experts.bias


class Layer(nn.Module):
    def __init__(self, config, has_experts):
        super().__init__()
        self.attn = Attention(config)
        self.mlp = Mixture(config) if has_experts else Plain(config)
        self.norm1, self.norm2 = (nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon) for _ in range(2))

    def forward(self, x):
        x = self.norm1(x + self.attn(x))
        return self.norm2(x + self.mlp(x))


class NomicBertModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(config.vocab_size, config.n_embd)
        self.embeddings.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.n_embd)
        self.emb_ln = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        every = config.moe_every_n_layers
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList(Layer(config, i % every == 1) for i in range(config.n_layer))})

    def forward(self, input_ids, token_type_ids, **_):
        x = self.embeddings.word_embeddings(input_ids[0]) + self.embeddings.token_type_embeddings(token_type_ids[0])
        hidden = [self.emb_ln(x)]
        for layer in self.encoder["layers"]:
            hidden.append(layer(hidden[-1]))
        return BaseModelOutput(last_hidden_state=hidden[-1][None], hidden_states=tuple(states[None] for states in hidden))
