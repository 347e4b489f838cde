"""Writes a tiny checkpoint again, split over several files as the reference library splits large ones.

    python make_sharded_model.py

tests/fixtures/sharded holds the checkpoint tests/fixtures/tiny/deberta-v2-sequence; what it computes stands there. Its
tokenizer reads "t5 t17" as the ids 5 and 17, and adds nothing.
"""

from pathlib import Path

import tokenizers
import torch
import transformers

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


def main():
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        FIXTURES / "tiny" / "deberta-v2-sequence", dtype=torch.float16)
    model.save_pretrained(FIXTURES / "sharded", max_shard_size="14KB", safe_serialization=True)
    vocab = {f"t{i}": i for i in range(model.config.vocab_size)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab, unk_token="t0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(FIXTURES / "sharded" / "tokenizer.json"))


if __name__ == "__main__":
    main()
