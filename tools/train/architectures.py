"""Configurations of the demo models. They stay below 6 MB as F16."""

import numpy as np
import torch
from transformers import ConvBertConfig, DebertaV2Config

MAX_LENGTH = 512


def convbert_config(vocab_size, **extra):
    return ConvBertConfig(
        vocab_size=vocab_size, embedding_size=64, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
        head_ratio=2, conv_kernel_size=9, num_groups=1, intermediate_size=512, hidden_act="gelu",
        max_position_embeddings=MAX_LENGTH, type_vocab_size=2, layer_norm_eps=1e-12, initializer_range=0.02,
        hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, pad_token_id=0, bos_token_id=None,
        eos_token_id=None, **extra)


def wide_convbert_config(vocab_size, **extra):
    """Token embeddings as wide as the hidden states, which begin as word vectors."""
    config = convbert_config(vocab_size, **extra)
    config.embedding_size = 128
    return config


def tagger_config(vocab_size, **extra):
    """Half the layers of the classifier: what a word is comes with its vector, and a step costs half."""
    config = wide_convbert_config(vocab_size, **extra)
    config.num_hidden_layers = 2
    return config


def deberta_config(vocab_size, **extra):
    return DebertaV2Config(
        vocab_size=vocab_size, embedding_size=64, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=512, hidden_act="gelu", max_position_embeddings=MAX_LENGTH, type_vocab_size=2,
        layer_norm_eps=1e-7, initializer_range=0.02, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1,
        relative_attention=True, max_relative_positions=-1, position_buckets=64, norm_rel_ebd="layer_norm",
        share_att_key=True, pos_att_type="p2c|c2p", position_biased_input=False, pad_token_id=0,
        pooler_hidden_size=128, pooler_dropout=0, pooler_hidden_act="gelu", **extra)


READER_SIZES = ("narrow", "small", "wide", "deep", "large")


def reader_config(vocab_size, size="small", **extra):
    """Token embeddings begin as word vectors, and matching words begins with them.

    `narrow` has token embeddings of half the width. `wide` is what widen_reader.py makes of it, `deep` what deepen_reader.py makes of
    that. `large` needs a GPU to train, and fits 20 MB in q8.
    """
    config = deberta_config(vocab_size, **extra)
    if size == "narrow":
        return config
    if size in ("wide", "deep"):
        config.hidden_size, config.pooler_hidden_size, config.embedding_size = 192, 192, 128
        config.num_attention_heads, config.intermediate_size = 6, 768
        config.num_hidden_layers = 6 if size == "deep" else 4
        return config
    config.embedding_size, config.position_buckets = 128, 32
    if size == "large":
        config.hidden_size = config.pooler_hidden_size = 384
        config.num_hidden_layers, config.num_attention_heads, config.intermediate_size = 8, 6, 1536
        config.position_buckets = 64
    return config


def generator_config(vocab_size, size):
    """Of replaced-token detection: a third to a half of the reader."""
    config = reader_config(vocab_size, size)
    config.hidden_size = config.pooler_hidden_size = 192 if size == "large" else 64
    config.num_hidden_layers, config.num_attention_heads = config.num_hidden_layers // 2, config.num_attention_heads // 2
    config.intermediate_size = 4 * config.hidden_size
    return config


def zero_shot_config(vocab_size, dropout, **extra):
    """Fewer layers than the reader and more words: labels of any kind have to be known, and a label has a few words only.

    A hidden state holds two vectors of a token's embedding (comparing_sums.py).
    """
    config = deberta_config(vocab_size, **extra)
    config.embedding_size, config.hidden_size, config.pooler_hidden_size, config.intermediate_size = 96, 192, 192, 768
    config.num_hidden_layers, config.position_buckets = 2, 16
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    return config


@torch.no_grad()
def begin_with_vectors(model, encoder, path):
    """Word vectors as token embeddings; the other matrices large enough that states differ from the first step on."""
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and "embeddings" not in name:
            torch.nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
    encoder.embeddings.word_embeddings.weight.copy_(torch.from_numpy(np.load(path)))
    encoder.embeddings.token_type_embeddings.weight.normal_(std=0.5)
