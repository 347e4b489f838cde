"""Disentangled self-attention of transformers' DeBERTa v2, computed faster on a CPU for training; same weights, same meaning.

`use()` puts it in place of the original in every model of this process. No dropout of probabilities, texts padded on the right;
bfloat16 where autocast is on, else float32. On anything but a CPU the original stays.
"""

import math

import torch
from torch.nn import functional as F
from transformers.models.deberta_v2 import modeling_deberta_v2 as reference

import native

LIBRARY = None
TABLES = {}
SUFFIX = {torch.bfloat16: "Bfloat16", torch.float32: "Float32"}  # of the functions in C


def bucket_table(length, buckets, most):
    """For every key less query from -(length - 1) to length - 1 the row of the relative embeddings, and where runs of one row end."""
    key = (length, buckets, most)
    if key not in TABLES:
        distances = -torch.arange(-(length - 1), length)  # query less key
        rows = (reference.make_log_bucket_position(distances, buckets, most).long() + buckets).clamp(0, 2 * buckets - 1)
        ends = torch.cat([torch.nonzero(rows[1:] != rows[:-1])[:, 0] + 1, torch.tensor([len(rows)])])
        TABLES[key] = rows.to(torch.int32).contiguous(), ends.to(torch.int32).contiguous()
    return TABLES[key]


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, to_position, from_position, table, lengths, scale):
        batch, heads, length, _ = scores.shape
        buckets = to_position.shape[-1]
        scores = scores.contiguous()  # overwritten: nothing else reads it
        to_position, from_position = to_position.contiguous(), from_position.contiguous()
        run = getattr(LIBRARY, "SoftmaxForward" + SUFFIX[scores.dtype])
        run(native.pointer(scores), native.pointer(to_position), native.pointer(from_position), native.pointer(table[0]),
            native.pointer(lengths), batch, heads, length, buckets, native.number(scale))
        ctx.save_for_backward(scores)
        ctx.rest = table, lengths, buckets, scale
        return scores

    @staticmethod
    def backward(ctx, gradient):
        probabilities, = ctx.saved_tensors
        table, lengths, buckets, scale = ctx.rest
        batch, heads, length, _ = probabilities.shape
        gradient = gradient.to(probabilities.dtype).contiguous().clone()
        to_gradient = torch.zeros(batch, heads, length, buckets)
        from_gradient = torch.zeros(batch, heads, length, buckets)
        run = getattr(LIBRARY, "SoftmaxBackward" + SUFFIX[probabilities.dtype])
        run(native.pointer(probabilities), native.pointer(gradient), native.pointer(to_gradient), native.pointer(from_gradient),
            native.pointer(table[0]), native.pointer(table[1]), len(table[1]), native.pointer(lengths), batch, heads, length, buckets,
            native.number(scale))
        return gradient, to_gradient.to(gradient.dtype), from_gradient.to(gradient.dtype), None, None, None


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def forward(self, hidden_states, attention_mask, output_attentions=False, query_states=None, relative_pos=None, rel_embeddings=None):
    """Of DisentangledSelfAttention, with shared keys and both position terms."""
    heads, length = self.num_attention_heads, hidden_states.shape[1]
    kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
    hidden = hidden_states.to(kind)
    weight = torch.cat([self.query_proj.weight, self.key_proj.weight, self.value_proj.weight]).to(kind)
    bias = torch.cat([self.query_proj.bias, self.key_proj.bias, self.value_proj.bias]).to(kind)
    with torch.autocast("cpu", enabled=False):
        query, key, value = (split_heads(part, heads) for part in F.linear(hidden, weight, bias).chunk(3, dim=-1))
        size = self.all_head_size
        positions = F.linear(rel_embeddings.to(kind), weight[:2 * size], bias[:2 * size])
        position_query, position_key = (split_heads(part, heads) for part in positions.chunk(2, dim=-1))
        scores = query @ key.transpose(-1, -2)
        to_position = query @ position_key.transpose(-1, -2)
        from_position = key @ position_query.transpose(-1, -2)
        lengths = attention_mask[:, 0, 0].sum(-1).to(torch.int32).contiguous()
        table = bucket_table(length, self.position_buckets, self.max_relative_positions)
        scale = 1 / math.sqrt(3 * self.attention_head_size)
        probabilities = Softmax.apply(scores, to_position, from_position, table, lengths, scale)
        context = (probabilities @ value).transpose(1, 2).flatten(2)
    return context, None


def get_rel_pos(self, hidden_states, query_states=None, relative_pos=None):
    """Of DebertaV2Encoder: the table above takes its place."""
    return None


def use():
    global LIBRARY
    LIBRARY = native.load("disentangled_attention.c")
    reference.DisentangledSelfAttention.forward = forward
    reference.DebertaV2Encoder.get_rel_pos = get_rel_pos
