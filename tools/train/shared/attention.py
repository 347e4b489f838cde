"""Disentangled self-attention of transformers' DeBERTa v2, faster: the two position terms become the bias of PyTorch's fused attention.

Same weights, same meaning. `use()` puts it in place of the original in every model of this process.
"""

import functools
import math

import torch
from torch.nn import functional as F
from transformers.models.deberta_v2 import modeling_deberta_v2 as reference


@functools.cache
def bucket_tables(length, buckets, most, device):
    """Rows of the relative embeddings [2, 2 * length] by distance, query less key: from -(length - 1) upwards, and from length - 1 downwards.

    One more than there are distances: a GPU multiplies matrices of an even width faster.
    """
    upwards = torch.arange(-(length - 1), length + 1)
    distances = torch.stack([upwards, -upwards])
    return (reference.make_log_bucket_position(distances, buckets, most).long() + buckets).clamp(0, 2 * buckets - 1).to(device)


def shifted(scores):
    """[..., i, column] becomes [..., i, k] with k = column + i - (length - 1). A gather would be slow in its gradient."""
    length, width = scores.shape[-2:]
    flat = scores.flatten(-2)[..., length - 1:length - 1 + length * (width - 1)]
    return flat.unflatten(-1, (length, width - 1))[..., :length]


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def forward(self, hidden_states, attention_mask, output_attentions=False, query_states=None, relative_pos=None, rel_embeddings=None):
    heads = self.num_attention_heads
    query, key, value = (split_heads(layer(hidden_states), heads) for layer in (self.query_proj, self.key_proj, self.value_proj))
    position_query, position_key = (split_heads(layer(rel_embeddings), heads) for layer in (self.query_proj, self.key_proj))
    upwards, downwards = relative_pos  # of get_rel_pos below
    scale = 1 / math.sqrt(3 * self.attention_head_size)
    to_position = shifted(query @ (position_key * scale)[..., downwards, :].transpose(-1, -2))
    from_position = shifted(key @ (position_query * scale)[..., upwards, :].transpose(-1, -2)).transpose(-1, -2)
    bias = (to_position + from_position).contiguous()
    bias = bias.masked_fill(~attention_mask[:, :, :1].bool(), -1e4)
    dropout = self.dropout.p if self.training else 0.0
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=bias.to(query.dtype), dropout_p=dropout, scale=scale)
    return context.transpose(1, 2).flatten(2), None


def get_rel_pos(self, hidden_states, query_states=None, relative_pos=None):
    return bucket_tables(hidden_states.shape[1], self.position_buckets, self.max_relative_positions, hidden_states.device)


def use():
    reference.DisentangledSelfAttention.forward = forward
    reference.DebertaV2Encoder.get_rel_pos = get_rel_pos
