"""Weights with which a DeBERTa of the v3 structure compares a text and a label as sentence_vectors.py does, before it is trained.

A pair's logits are then near the product of two sums of token vectors, one of the text's tokens, one of the hypothesis's:

- An embedding is a token's vector of length 1, and beside it the logarithm of its weight in the sum and which of the two it is in.
- In the last layer the first token attends to the text with half of the heads and to the hypothesis with the others: the scores of the
  attention are the logarithms of the weights, so what comes is the two weighted means, side by side.
- The feed-forward layer multiplies them: gelu(x) + gelu(-x) is even, near 0.8 x² about 0, and (a + b)² - (a - b)² = 4ab.
- The pooler and the classifier read that product.

Training goes on from there: everything else begins small.
"""

import math

import torch

SPARE = 4  # dimensions of an embedding beside the vector: weight, part, kind of special token, and one that begins empty
TYPE, WEIGHT, SPECIAL, PRODUCT = range(-4, 0)  # of a hidden state, beside both vectors
TYPE_SIZE, WEIGHT_SIZE = 0.25, 0.06  # in an embedding whose vector has length 1
APART = 10.0  # by how much a head's scores prefer its part of the pair
GATHERED, FACTOR, KEPT = 6.0, 0.6, 0.1  # sizes of the means, of what is squared, of the product
SILENT = ("[CLS]", "[SEP]", "[PAD]", "[MASK]")
OF_TEMPLATES = ("this", "example", "is", ".")  # every hypothesis has them
NOISE = 0.01


def vector_size(config):
    return config.embedding_size - SPARE


@torch.no_grad()
def begin(model, token_vectors, weights, vocab):
    """`token_vectors` [tokens, size] and `weights` [tokens] of a SentenceVectors."""
    config = model.config
    if config.hidden_size != 2 * config.embedding_size:
        raise ValueError("the hidden states have to hold two vectors and four numbers more: hidden_size is twice embedding_size")
    generator = torch.Generator().manual_seed(0)
    layers = model.deberta.encoder.layer
    for linear in (layers[0].attention.output.dense, layers[0].output.dense, model.classifier, model.pooler.dense):
        linear.weight.normal_(std=NOISE, generator=generator)
        linear.bias.zero_()
    embed(model.deberta.embeddings, shorter(token_vectors, weights, vector_size(config)), weights, vocab)
    model.deberta.encoder.rel_embeddings.weight.normal_(std=0.5, generator=generator)
    gather(layers[-1].attention, model.deberta.encoder.rel_embeddings.weight, config)
    multiply(layers[-1], vector_size(config), generator)
    for row, sign in enumerate((1.0, -1.0)):
        model.pooler.dense.weight[row] = 0
        model.pooler.dense.weight[row, PRODUCT] = sign
        for number in range(2):  # entailment is the first class
            model.classifier.weight[number, row] = sign if number == 0 else -sign


def shorter(vectors, weights, size):
    """The part of the vectors along the directions in which weighted tokens differ most, [tokens, size]."""
    if vectors.shape[1] <= size:
        return torch.nn.functional.pad(vectors, (0, size - vectors.shape[1]))
    directions = torch.linalg.eigh((weights[:, None] * vectors).T @ (weights[:, None] * vectors)).eigenvectors
    return vectors @ directions[:, -size:]


def embed(embeddings, vectors, weights, vocab):
    size = vectors.shape[1]
    length = vectors.norm(dim=1).clamp_min(1e-6)
    weight = (weights * length).clamp_min(1e-9)
    logarithm = (weight / weight.median()).log().clamp_min(-7)
    for token in OF_TEMPLATES:
        logarithm[vocab[token]] = logarithm[vocab[token]].clamp_max(-3)
    table = embeddings.word_embeddings.weight
    table.zero_()
    table[:, :size] = vectors / length[:, None]
    for number, token in enumerate(SILENT):
        logarithm[vocab[token]] = -7
        table[vocab[token], :size] = 0
        table[vocab[token], size + 2] = 1 - number
    table[:, size] = logarithm * WEIGHT_SIZE
    embeddings.token_type_embeddings.weight.zero_()
    embeddings.token_type_embeddings.weight[:, size + 1] = torch.tensor([-TYPE_SIZE, TYPE_SIZE])
    project = embeddings.embed_proj.weight
    project.zero_()
    project[:size, :size] = torch.eye(size)
    project[WEIGHT, size] = project[TYPE, size + 1] = project[SPECIAL, size + 2] = 1


def gather(attention, positions, config):
    """Half of the heads take the mean of the text, the others of the hypothesis."""
    inner, output, size = attention.self, attention.output.dense, vector_size(config)
    for linear in (inner.query_proj, inner.key_proj, inner.value_proj, output):
        linear.weight.zero_()
        linear.bias.zero_()
    heads = config.num_attention_heads
    width = config.hidden_size // heads
    normalised = math.sqrt(config.hidden_size) / math.sqrt(1 + TYPE_SIZE ** 2)  # what LayerNorm makes of length 1
    # Queries are 1 in a head's first dimension. Positions' queries are too, so that each key counts twice.
    unit = math.sqrt(3 * width) / 2 / normalised
    for head in range(heads):
        first = head * width
        inner.query_proj.bias[first] = 1
        inner.key_proj.weight[first, TYPE] = (1 if head >= heads // 2 else -1) * APART * unit / (2 * TYPE_SIZE)
        inner.key_proj.weight[first, WEIGHT] = unit / WEIGHT_SIZE
    positions[:, [TYPE, WEIGHT]] = 0
    for part in range(2):
        start = part * config.hidden_size // 2
        inner.value_proj.weight[start:start + size, :size] = torch.eye(size)
        output.weight[part * size:(part + 1) * size, start:start + size] = GATHERED * torch.eye(size)


def multiply(layer, size, generator):
    up, down = layer.intermediate.dense, layer.output.dense
    for linear in (up, down):
        linear.weight.normal_(std=NOISE, generator=generator)
        linear.bias.zero_()
    for number, (first, second) in enumerate(((1, 1), (-1, -1), (1, -1), (-1, 1))):
        units = slice(number * size, (number + 1) * size)
        up.weight[units] = 0
        up.weight[units, :size] = first * FACTOR * torch.eye(size)
        up.weight[units, size:2 * size] = second * FACTOR * torch.eye(size)
        down.weight[:, units] = 0
        down.weight[PRODUCT, units] = KEPT * first * second
