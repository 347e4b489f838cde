"""Small tokenizer.json files, one for each part that the cut-down checkpoints of make_tokenizer_fixtures.py do not use, with texts and ids that
reach every branch of it."""

CHARACTERS = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


def tokenizer(model, added_tokens=(), **stages):
    parts = {name: stages.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
    added = [{"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, content in added_tokens]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts, "model": model}


def numbered(tokens):
    return {token: i for i, token in enumerate(dict.fromkeys(tokens))}


def words(tokens):
    return {"type": "WordLevel", "vocab": numbered(["[UNK]", *tokens]), "unk_token": "[UNK]"}


def characters(texts):
    """A model whose tokens are the characters of `texts`, so that ids show the normalised text."""
    return words([" ", *sorted(set("".join(texts)))])


def bpe(tokens, merges, **options):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
            "byte_fallback": False, "ignore_merges": False, **options, "vocab": numbered(tokens), "merges": merges}


def byte_tokens(values=range(256)):
    return ["<0x%02X>" % value for value in values]


def between(first, last):
    """The code points from first to last, an `a` after each."""
    return "".join(chr(c) + "a" for c in range(first, last + 1))


class Part:
    def __init__(self, name, tokenizer_json, texts=(), ids=(), pairs=(), sequences_of=None):
        """sequences_of: a tokenizer.json whose sequence ids are right where the reference's are not."""
        self.name, self.tokenizer_json, self.ids, self.sequences_of = name, tokenizer_json, list(ids), sequences_of
        self.cases = [{"text": text} for text in texts] + [{"text": text, "pair": pair} for text, pair in pairs]


def normalizers():
    blanks = [between(0x01, 0x21), between(0x7E, 0xA1), between(0x167F, 0x1681), between(0x180D, 0x180F), between(0x1FFF, 0x2011),
              between(0x2027, 0x2030), between(0x2580, 0x2582), between(0x2FFF, 0x3001), between(0xFEFE, 0xFF00), between(0xFFFC, 0xFFFE), ""]
    yield Part("nmt", tokenizer(characters(blanks), normalizer={"type": "Nmt"}, pre_tokenizer=CHARACTERS), blanks)
    # Marks of each kind (Mn, Mc, Me), alone, in a row, first and last; a composed letter stays as it is.
    marks = ["plain", "e\u0301", "\u0301e\u0323\u0302", "a\u0903b\u20ddc", "\u00e9\u0e31\u05b0", "x\U0001d165\U0001e8d0y", "\u0301", "n\u0303 \u093f "]
    strip = {"type": "StripAccents"}
    yield Part("strip-accents", tokenizer(characters(marks), normalizer=strip, pre_tokenizer=CHARACTERS), marks)
    composed = ["\u00c9t\u00e9", "\u1e69\u0302", "\u212b \ud55c", "\u0958"]
    letters = characters(composed + ["Ee", "s", "A", "\u1112\u1161\u11ab", "\u0915"])
    yield Part("nfd-strip-accents", tokenizer(letters, normalizer={"type": "Sequence", "normalizers": [{"type": "NFD"}, strip]},
                                              pre_tokenizer=CHARACTERS), composed)
    stand_ins = [chr(c) for c in range(0x21, 0x7F)] + [chr(c) for c in range(0xA1, 0x144)]
    texts = ["ab c", "\u00e9\n\u4e2d", "\U0001f600\x7f", ""]
    yield Part("byte-level-normalizer", tokenizer(bpe([*stand_ins, "ab", "\u0120c"], [["a", "b"], ["\u0120", "c"]]), normalizer={"type": "ByteLevel"},
                                                  decoder=BYTE_LEVEL), texts)


def pre_tokenizers():
    texts = ["Hello, world!", "a_b 1\u00b2 don't\u2026", " \t x\u00a0\u00a0y\u3000z\n", "\u65e5\u672c\u8a9e\u3001e\u0301-\u0903", "\u200d\u200db\U0001f600\U0001f600c", "?!?", ""]
    pieces = ["Hello", ",", "world", "!", "a_b", "1", "1\u00b2", "\u00b2", "don", "'", "t", "\u2026", "x", "y", "z", "\u65e5\u672c\u8a9e", "\u3001", "e\u0301",
              "-", "?!?", "\u200d\u200db", "\U0001f600\U0001f600", "c", "\u200d\u200d", "b"]
    yield Part("whitespace", tokenizer(words(pieces), pre_tokenizer={"type": "Whitespace"}), texts)
    # Texts around an added token tell "first" from "always".
    texts = ["ab ab", " ab", "ab[S]ab", "[S]ab", "ab [S] ab", ""]
    pieces = ["\u2581ab", "ab", "\u2581", "[S]"]
    for scheme, extra in (("first", {}), ("never", {}), ("never", {"add_prefix_space": False}), ("always", {"split": False})):
        name = "metaspace-" + "-".join([scheme, *extra])
        part = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, **extra}
        yield Part(name, tokenizer(words(pieces), [(4, "[S]")], pre_tokenizer=part, decoder=part), texts, [[1, 2, 1], [2, 1], [3, 3, 2]])


def models():
    bytes_of = byte_tokens()
    texts = ["ab\u00e9", "\u00e9ab\u4e2d", "xyab", "abab" * 20 + "\u4e2d" * 5, "\U0001f600", "\u4e2d\u00e9\u4e2d", "\u4e2d\u00e9\u4e2dab", ""]
    some = [token for token in bytes_of if token != "<0xAD>"]  # U+4E2D has it: its fallback is not whole
    pairs = [["a", "b"], ["<0xC3>", "<0xA9>"]]
    for name, tokens, options in (("bytes", bytes_of, {}), ("bytes-missing", some, {"unk_token": "?"}), ("bytes-missing-fused", some, {"unk_token": "?", "fuse_unk": True}),
                                  ("bytes-missing-no-unk", some, {})):
        model = bpe(["?", "a", "b", "ab", *tokens, "<0xC3><0xA9>"], pairs, byte_fallback=True, **options)
        yield Part("bpe-" + name, tokenizer(model), texts)
    tokens = ["?", "a", "b", "##a", "##b", "b</w>", "##b</w>", "a</w>", "ab", "ab</w>", "##ab</w>", "whole"]
    joins = [["a", "##b"], ["a", "##b</w>"], ["##a", "##b</w>"]]
    affixes = {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>", "unk_token": "?"}
    space = {"type": "WhitespaceSplit"}
    texts = ["ab", "aab abab", "a b", "bab", "aXb X", "XX", "whole", ""]
    yield Part("bpe-affixes", tokenizer(bpe(tokens, joins, **affixes), pre_tokenizer=space), texts)
    for ignore in (False, True):
        model = bpe(["a", "b", "c", "ab", "abc"], [["a", "b"]], ignore_merges=ignore)
        yield Part("bpe-ignore-merges" if ignore else "bpe-merges", tokenizer(model, pre_tokenizer=space), ["abc ab", "cab", "abcabc"])

    vocabulary = [["<unk>", 0.0], ["\u2581", -2.0], ["a", -3.0], ["b", -3.5], ["ab", -4.0], ["<0xC3><0xA9>", -9.0]]
    texts = ["ab", "a\u00e9b", "\u00e9\u00e9", "\u4e2d\u00e9ab\u4e2d", "a\U0001f600", ""]
    for name, tokens in (("bytes", bytes_of), ("bytes-missing", some)):
        pieces = vocabulary + [[token, -10.0] for token in tokens]
        yield Part("unigram-" + name, tokenizer({"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": True}), texts)


def without_type():
    """Files of old releases do not name the kind of their model."""
    wordpiece = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": numbered(["[UNK]", "a", "##b", "ab"])}
    unigram = {"unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -2.0], ["ab", -2.5]]}
    kinds = {"bpe": bpe(["a", "b", "ab"], ["a b"]), "wordpiece": wordpiece, "unigram": unigram}
    for name, model in kinds.items():
        untyped = {key: value for key, value in model.items() if key != "type"}
        yield Part("untyped-" + name, tokenizer(untyped, pre_tokenizer={"type": "WhitespaceSplit"}), ["ab", "aab b", "abb"])


def decoders():
    # Bytes of U+00E9 (whole, cut short, in the wrong order), of U+1F600, lower-case digits, and what only looks like a byte.
    tokens = ["\u2581a", "b", *byte_tokens([0xC3, 0xA9, 0xF0, 0x9F, 0x98, 0x80, 0x41]), "<0xc3>", "<0xa9>", "<0xG1>", "<0x1>", "<0x0041>", "(0x41)", "<0x\u00e9>",
              "\u2581\u2581\u2581", "x\u2581\u2581y\u2581\u2581", "\u2581", " \u2581c", "d e", "<0x41", "0x41>>"]
    at = numbered(["[UNK]", *tokens])
    model = words(tokens)
    runs = [["<0xC3>", "<0xA9>"], ["<0xC3>"], ["b", "<0xC3>", "b"], ["<0xA9>", "<0xC3>", "<0xA9>"], ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "b"],
            ["<0xF0>", "<0x9F>", "<0x98>"], ["<0xc3>", "<0xa9>", "<0x41>"], ["<0xG1>", "<0x1>", "<0x0041>", "(0x41)", "<0x\u00e9>", "<0x41", "0x41>>"],
            ["\u2581a", "<0x41>", "<0xA9>", "<0x41>", "\u2581a"], []]
    ids = [[at[token] for token in run] for run in runs]
    yield Part("byte-fallback-decoder", tokenizer(model, decoder={"type": "ByteFallback"}), ids=ids)
    llama = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
             {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    yield Part("llama-decoder", tokenizer(model, decoder={"type": "Sequence", "decoders": llama}), ids=ids)
    ends = [["\u2581a", "b"], ["x\u2581\u2581y\u2581\u2581"], ["\u2581\u2581\u2581", "b"], ["b", " \u2581c", "d e"]]
    for start, stop in ((0, 0), (1, 0), (2, 1), (1, 2), (9, 0)):
        strip = {"type": "Strip", "content": "\u2581", "start": start, "stop": stop}
        # The reference panics where the two ends of a token meet.
        chosen = [run for run in ends if stop == 0 or "\u2581\u2581\u2581" not in run]
        yield Part("strip-decoder-%d-%d" % (start, stop), tokenizer(model, decoder=strip), ids=[[at[token] for token in run] for run in chosen])


def post_processors():
    tokens = ["[CLS]", "[SEP]", *[chr(c) for c in range(0x61, 0x7B)], "\u0120", "\u0120a", "ab", "\u0120ab"]
    at = numbered(tokens)
    model = bpe(tokens, [["\u0120", "a"], ["a", "b"], ["\u0120", "ab"]])
    level = BYTE_LEVEL
    sequence = lambda name, kind: {kind: {"id": name, "type_id": 1 if name == "B" else 0}}
    template = {"type": "TemplateProcessing", "single": [sequence("[CLS]", "SpecialToken"), sequence("A", "Sequence")],
                "pair": [sequence("[CLS]", "SpecialToken"), sequence("A", "Sequence"), sequence("[SEP]", "SpecialToken"), sequence("B", "Sequence")],
                "special_tokens": {name: {"id": name, "ids": [at[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}}
    steps = {"level": [level], "level-untrimmed": [level, {**level, "trim_offsets": False}], "level-template": [level, template], "template-level": [template, level],
             "template-level-untrimmed": [template, {**level, "trim_offsets": False}], "template": [template], "none": []}
    texts, pairs = ["ab", " ab  a", "a b ", ""], [(" ab", "a  ab "), ("", "b")]
    for name, chosen in steps.items():
        made = lambda processor: tokenizer(model, pre_tokenizer=level, post_processor=processor, decoder=level)
        # After a template ByteLevel numbers the template's parts as if each were a sequence.
        right = made(template) if name.startswith("template-") else None
        yield Part("post-sequence-" + name, made({"type": "Sequence", "processors": chosen}), texts, pairs=pairs, sequences_of=right)
    for name, processor in (("post-byte-level", level), ("post-byte-level-plain", {**level, "trim_offsets": False}),
                            ("post-byte-level-no-prefix", {**level, "add_prefix_space": False})):
        yield Part(name, tokenizer(model, pre_tokenizer=level, post_processor=processor, decoder=level), texts, pairs=pairs)


def all_parts():
    for group in (normalizers, pre_tokenizers, models, without_type, decoders, post_processors):
        yield from group()
