"""Jina's BERT, which no release of transformers has: transformers' BERT classes, with the changes that its authors describe. Biases of
attention are those of transformers' BLOOM, added to the attention mask; feed-forward layers have gates."""
import torch
from torch import nn
from transformers import BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification, BertForTokenClassification, BertModel
from transformers.models.bert.modeling_bert import BertSelfAttention
from transformers.models.bloom.modeling_bloom import build_alibi_tensor


class LinearBiases(BertSelfAttention):
    """Adds -slope |i - j| to the score of query i and key j of a head. `has_norms`: queries and keys are normed, all heads together."""

    def __init__(self, config, has_norms):
        super().__init__(config, position_embedding_type="alibi")
        if has_norms:
            for letter, linear in (("q", self.query), ("k", self.key)):
                norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
                setattr(self, "layer_norm_" + letter, norm)
                linear.register_forward_hook(lambda _module, _inputs, output, norm=norm: norm(output))

    def forward(self, hidden_states, attention_mask=None, *others, **named):
        length = hidden_states.shape[1]
        by_position = build_alibi_tensor(torch.ones(1, length), self.num_attention_heads, torch.float32)  # [heads, 1, length]
        places = torch.arange(length)
        biases = -by_position[:, 0, :][:, (places[:, None] - places[None, :]).abs()][None]
        return super().forward(hidden_states, biases if attention_mask is None else attention_mask + biases, *others, **named)


class Gated(nn.Module):
    """wo(gate(first half) * second half), plus its input, normed."""

    def __init__(self, config):
        super().__init__()
        self.gated_layers = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.act = {"geglu": nn.GELU(), "reglu": nn.ReLU()}[config.feed_forward_type]
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.wo = nn.Linear(config.intermediate_size, config.hidden_size)
        self.layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        gate, up = self.gated_layers(x).chunk(2, dim=-1)
        return self.layernorm(self.wo(self.dropout(self.act(gate) * up)) + x)


class GatedOfNormed(nn.Module):
    """down(first half * gate(second half)) of jina-bert-v2-qk-post-norm."""

    def __init__(self, config):
        super().__init__()
        self.up_gated_layer = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.act = {"geglu": nn.GELU(), "reglu": nn.ReLU()}[config.feed_forward_type]
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.down_layer = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        up, gate = self.up_gated_layer(x).chunk(2, dim=-1)
        return self.down_layer(self.dropout(up * self.act(gate)))


def norm_twice(layer):
    """The layer's forward pass in jina-bert-v2-qk-post-norm: its input is added to the output of the attention once more."""
    def forward(hidden_states, attention_mask=None, *_others, **_named):
        attended = layer.attention(hidden_states, attention_mask=attention_mask)[0]
        x = layer.layer_norm_1(hidden_states + attended)
        return (layer.layer_norm_2(x + layer.mlp(x)),)
    return forward


def call_of(module):
    """A call of the module, and not its `forward`, so that exporters see the module."""
    return lambda x: module(x)


def change(bert):
    config = bert.config
    has_norms = "qk-post-norm" in str(getattr(config, "auto_map", ""))
    del bert.embeddings.position_embeddings
    for layer in bert.encoder.layer:
        layer.attention.self = LinearBiases(config, has_norms)
        if has_norms:
            layer.mlp = GatedOfNormed(config)
            layer.layer_norm_1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            layer.layer_norm_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            layer.forward = norm_twice(layer)
        elif config.feed_forward_type != "original":
            layer.mlp = Gated(config)
            layer.feed_forward_chunk = call_of(layer.mlp)
        if config.feed_forward_type != "original":
            del layer.intermediate, layer.output


class JinaBertModel(BertModel):
    def __init__(self, config, *others, **named):
        super().__init__(config, *others, **named)
        change(self)


def with_head(name, head):
    def init(self, config):
        head.__init__(self, config)
        change(self.bert)
    return type("JinaBertFor" + name, (head,), {"__init__": init, "__doc__": head.__doc__})


JinaBertForSequenceClassification = with_head("SequenceClassification", BertForSequenceClassification)
JinaBertForTokenClassification = with_head("TokenClassification", BertForTokenClassification)
JinaBertForQuestionAnswering = with_head("QuestionAnswering", BertForQuestionAnswering)
JinaBertForMaskedLM = with_head("MaskedLM", BertForMaskedLM)
