"""Writes tiny random folders of static embeddings, as model2vec and sentence-transformers save them, and the vectors of texts.

    python make_static_fixtures.py

tests/fixtures/static/<case>: the folder; vectors.json with the texts and the library's vectors.
Requirements: requirements-static.txt.
"""

import json
import random
import shutil
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from safetensors.numpy import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers, processors

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "static"
WIDTH = 8
LETTERS = "abcdef"


def tokenizer() -> Tokenizer:
    random.seed(7)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    while len(pieces) < 40:
        piece = "".join(random.choices(LETTERS, k=random.randint(2, 3)))
        piece = random.choice(["", "##"]) + piece
        if piece not in pieces:
            pieces.append(piece)
    made = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    return made


def texts() -> list[str]:
    random.seed(8)
    words = lambda: "".join(random.choices(LETTERS, k=random.randint(1, 6)))  # noqa: E731
    made = [" ".join(words() for _ in range(random.randint(1, 9))) for _ in range(12)]
    return [*made, "abc xyz fed", "z a", "abc " * 40]


def write_vectors(folder: Path, vectors: np.ndarray) -> None:
    rows = [[float(value) for value in row] for row in vectors]
    (folder / "vectors.json").write_text(json.dumps({"texts": texts(), "vectors": rows}) + "\n")


def model2vec_case(name: str, dtype: type, mapped: bool = False) -> None:
    folder = FOLDER / name
    rng = np.random.default_rng(len(name))
    vocabulary = tokenizer().get_vocab_size()
    rows = 17 if mapped else vocabulary
    vectors = rng.standard_normal((rows, WIDTH))
    vectors = np.round(vectors * 40).astype(np.int8) if dtype is np.int8 else vectors.astype(dtype)
    more = {}
    if mapped:
        more = {
            "weights": rng.uniform(0.1, 2, vocabulary).astype(np.float32),
            "token_mapping": rng.integers(0, rows, vocabulary),
        }
    model = StaticModel(vectors=vectors, tokenizer=tokenizer(), normalize=True, **more)
    model.save_pretrained(folder)
    for extra in ("README.md", "modules.json"):
        (folder / extra).unlink(missing_ok=True)
    loaded = StaticModel.from_pretrained(folder)
    loaded.embedding = loaded.embedding.astype(np.float32)  # The library sums halves in float16.
    write_vectors(folder, loaded.encode(texts(), use_multiprocessing=False).astype(np.float64))


def sentence_transformers_case(name: str, normalized: bool) -> None:
    folder = FOLDER / name
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((tokenizer().get_vocab_size(), WIDTH)).astype(np.float32)
    steps = [StaticEmbedding(tokenizer(), embedding_weights=vectors), *([Normalize()] if normalized else [])]
    model = SentenceTransformer(modules=steps, device="cpu")
    model.save(str(folder))
    (folder / "README.md").unlink(missing_ok=True)
    write_vectors(folder, SentenceTransformer(str(folder), device="cpu").encode(texts()).astype(np.float64))


def main() -> None:
    for case in FOLDER.glob("*/"):
        shutil.rmtree(case)
    model2vec_case("float32", np.float32)
    model2vec_case("float16", np.float16)
    model2vec_case("int8", np.int8)
    model2vec_case("mapped", np.float32, mapped=True)
    sentence_transformers_case("sentence", normalized=False)
    sentence_transformers_case("sentence-normalized", normalized=True)
    for tensors in sorted(FOLDER.glob("**/*.safetensors")):
        print(tensors.relative_to(FOLDER), {name: value.shape for name, value in load_file(tensors).items()})


if __name__ == "__main__":
    main()
