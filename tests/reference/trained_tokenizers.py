"""Small tokenizers of the kinds that mmBERT and EmbeddingGemma (Gemma's), Japanese ModernBERT models, Qwen3, EuroBERT (Llama 3's) and OpenAI's
privacy-filter (o200k) have, trained on given lines. Their tokenizer.json has the
stages, the options and the kinds of added tokens of the published ones."""
import collections
import json
import struct

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

BYTES = ["<0x%02X>" % value for value in range(256)]
SPACE = "\u2581"


def bytes_decoder(strips_first):
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(content=" ", left=1)] if strips_first else []))


def add_tokens(tokenizer, special, plain):
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in plain])


def gemma(lines, size):
    """BPE with byte fallback; spaces become U+2581, and runs of spaces and line breaks are pieces and added tokens."""
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Replace(" ", SPACE)
    trained.pre_tokenizer = pre_tokenizers.Split(SPACE, "merged_with_next")
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, limit_alphabet=size // 3, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "[multimodal]"]
    runs = ["\n" * count for count in range(2, 6)] + [SPACE * count for count in range(2, 8)] + ["<table>", "</table>"]
    tokens = list(dict.fromkeys(special + ["\n", *runs] + BYTES + list(model["vocab"])))
    vocabulary = {token: id for id, token in enumerate(tokens)}
    merges = [tuple(merge) for merge in model["merges"]]
    merges += [(SPACE * (count - 1), SPACE) for count in range(2, 8) if (SPACE * (count - 1), SPACE) not in merges and SPACE in vocabulary]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    add_tokens(tokenizer, special, runs)
    tokenizer.normalizer = normalizers.Replace(" ", SPACE)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = bytes_decoder(strips_first=False)
    tokenizer.post_processor = ends(tokenizer, "<bos>", "<eos>")
    return tokenizer


def japanese(lines, size, own_stages):
    """Unigram with byte fallback. own_stages: normalises and splits at spaces; without, the whole text is one word (LlamaTokenizer)."""
    special = ["<unk>", "<s>", "</s>", "<mask>", "<pad>", "<CLS>", "<SEP>"]
    counts = collections.Counter(character for line in lines for character in line)
    common = {character for character, _ in counts.most_common(size // 3)}  # others become bytes
    lines = ["".join(character for character in line if character in common) for line in lines]
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.Metaspace(prepend_scheme="never")])
    trained.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=special, show_progress=False))
    pieces = json.loads(trained.to_str())["model"]["vocab"]
    pieces = pieces[:len(special)] + [(token, 0.0) for token in BYTES] + pieces[len(special):]
    pieces = [(piece, struct.unpack("<f", struct.pack("<f", score))[0]) for piece, score in pieces]  # as SentencePiece stores them
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))
    add_tokens(tokenizer, special, [])
    if own_stages:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace("\u3000", " ")])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
        tokenizer.post_processor = ends(tokenizer, "<CLS>", "<SEP>")
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
        tokenizer.decoder = bytes_decoder(strips_first=False)
        tokenizer.post_processor = ends(tokenizer, "<s>", "</s>")
    return tokenizer


# The patterns of the published tokenizer.json files. Qwen: single digits; Llama 3 and o200k: up to three; o200k: upper-case letters start a word.
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
QWEN = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CONTRACTIONS + "?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CONTRACTIONS + "?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def split_bytes(lines, size, pattern, special, plain=(), ignore_merges=False, normalizer=None):
    """Byte-level BPE after a split by `pattern`. ignore_merges: a word that is a piece is that piece."""
    stages = lambda: pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                              pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trained = Tokenizer(models.BPE())
    if normalizer:
        trained.normalizer = normalizer
    trained.pre_tokenizer = stages()
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    model = json.loads(trained.to_str())["model"]
    vocabulary = model["vocab"]
    if ignore_merges:  # whole words whose merges lead elsewhere
        for word in ("unexpectedness", "\u0120Wahrscheinlichkeit"):
            vocabulary.setdefault(word, len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(merge) for merge in model["merges"]], ignore_merges=ignore_merges))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in special])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in plain])
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = stages()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def qwen(lines, size):
    """Qwen3-Embedding's: NFC, single digits, and an end token from the template."""
    tokenizer = split_bytes(lines, size, QWEN, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], ["<think>", "</think>"], normalizer=normalizers.NFC())
    end = tokenizer.token_to_id("<|endoftext|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="$A <|endoftext|>", pair="$A <|endoftext|> $B <|endoftext|>", special_tokens=[("<|endoftext|>", end)])])
    return tokenizer


def llama3(lines, size):
    """EuroBERT's: words that are pieces, numbers of three digits."""
    tokenizer = split_bytes(lines, size, LLAMA3, ["<|begin_of_text|>", "<|end_of_text|>", "<|mask|>", "<|parallel_sep|>"], ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), ends(tokenizer, "<|begin_of_text|>", "<|end_of_text|>")])
    return tokenizer


def o200k(lines, size):
    """That of OpenAI's privacy-filter, without tokens around a text."""
    tokenizer = split_bytes(lines, size, O200K, ["<|startoftext|>", "<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def ends(tokenizer, first, last):
    ids = [(token, tokenizer.token_to_id(token)) for token in (first, last)]
    return processors.TemplateProcessing(single="%s $A %s" % (first, last), pair="%s $A %s $B %s" % (first, last, last), special_tokens=ids)
