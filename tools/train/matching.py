"""A start for the reader in which the first layer already finds the words of the question in the passage.

Small encoders take long to discover that equal words should attend to each other. Here two heads of the first layer start with
equal query and key projections, so that a token scores highest with tokens of the same word, and the two token types start
apart, so that what comes back tells whether such a word stands in the question. Training changes all of it freely.
"""

import torch

MATCHING_HEADS = 2
EQUAL_SCORE = 6.0  # attention score of two equal words; of unequal ones it is 0 +- about 1
TYPE_NORM = 0.7  # length of a token type's embedding, in mean lengths of a word embedding


def evening(states, rounds=30):
    """A map [rank, D] after which no word is much longer than the others, so that frequent words don't win everywhere.

    It comes from the smallest ellipsoid around the states, by Titterington's multiplicative rule.
    """
    rank = 60
    axes = torch.linalg.svd(states, full_matrices=False)[2][:rank]
    points = states @ axes.T
    weights = torch.full((len(points),), 1 / len(points))
    for _ in range(rounds):
        inverse = torch.linalg.inv((points * weights[:, None]).T @ points)
        weights = weights * ((points @ inverse) * points).sum(1) / rank
    values, vectors = torch.linalg.eigh(inverse)
    return (vectors * values.clamp(min=0).sqrt()).T @ axes


@torch.no_grad()
def start_matching(encoder, seed=1):
    """Changes a DebertaV2Model with shared attention keys in place."""
    generator = torch.Generator().manual_seed(seed)
    embeddings, attention = encoder.embeddings, encoder.encoder.layer[0].attention.self
    words = embeddings.word_embeddings.weight
    apart = torch.randn(words.shape[1], generator=generator)
    apart *= TYPE_NORM * words.norm(dim=1).mean() / apart.norm()
    embeddings.token_type_embeddings.weight.copy_(torch.stack([apart, -apart]))

    def hidden(offset):
        return embeddings.LayerNorm(embeddings.embed_proj(words + offset))

    states = torch.cat([hidden(apart), hidden(-apart)])
    types = states[:len(words)].mean(0) - states[len(words):].mean(0)
    types /= types.norm()
    size = attention.attention_head_size
    scale = (size * 3) ** 0.5  # the reference divides by sqrt(head size x number of score terms)
    centre = states.mean(0)
    even = evening(states - centre - ((states - centre) @ types)[:, None] * types)
    even = even - (even @ types)[:, None] * types  # blind to the token type
    for head in range(MATCHING_HEADS):
        rows = slice(head * size, (head + 1) * size)
        basis = torch.linalg.qr(torch.randn(len(even), size, generator=generator))[0].T @ even
        squares = ((states - centre) @ basis.T).square().sum(1)
        basis *= (EQUAL_SCORE * scale / squares.median()) ** 0.5
        for projection in (attention.query_proj, attention.key_proj):
            projection.weight[rows] = basis
            projection.bias[rows] = -(basis @ centre)
