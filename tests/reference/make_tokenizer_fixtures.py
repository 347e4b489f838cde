"""Compares Peruse's tokenizers with Hugging Face `tokenizers`, and writes the sample that the native tests run.

    python make_tokenizer_fixtures.py check --data DATA --tool BUILD/encode_lines     every line; prints differences
    python make_tokenizer_fixtures.py write --data DATA --out tests/fixtures/tokenizer
    python make_tokenizer_fixtures.py files --data DATA --out FOLDER --only bert_uncased,deberta_v1,deberta_v3    for the benchmark

DATA holds `tokenizers/` (vocabularies of published checkpoints) and text in many languages (`unicode/`, `xquad/`,
`classification/`, ...); encode_lines is built from tests/tools/encode_lines.cc. The sample uses vocabularies cut down to a
few thousand entries, so that it stays small; the check uses the complete ones.

Needs: tokenizers==0.22.2 sentencepiece==0.2.1 protobuf numpy
"""
import argparse
import base64
import collections
import gzip
import json
import lzma
import os
import random
import subprocess
import sys
import tarfile
import tempfile

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

VERSION = "0.22.2"
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


# ---------------------------------------------------------------------------------------------------------------- text

def open_text(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    if path.endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def strings_of(value):
    """All strings inside of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)


def unicode_lines(data):
    folder = os.path.join(data, "unicode")
    yield from json.load(open(os.path.join(folder, "blns.json"), encoding="utf-8"))
    for line in open_text(os.path.join(folder, "normalization-16.0.txt.xz")):
        if not line.startswith("#") and ";" in line:
            columns = [column for column in line.strip().split(";") if column]
            yield " ".join("".join(chr(int(c, 16)) for c in column.split()) for column in columns)
    for name in ("emoji-test-17.0.txt.xz", "emoji-zwj-sequences-17.0.txt.xz"):
        for line in open_text(os.path.join(folder, name)):
            codes = line.split(";")[0].split()
            if codes and not line.startswith("#") and ".." not in codes[0]:
                yield "x" + "".join(chr(int(c, 16)) for c in codes) + " y"
    with tarfile.open(os.path.join(folder, "udhr.tar.xz")) as archive:
        for member in archive:
            if member.isfile():
                yield from archive.extractfile(member).read().decode("utf-8").split("\n")
    for index, line in enumerate(open_text(os.path.join(folder, "cldr-emoji-names.tsv.xz"))):
        if index % 4 == 0:
            yield line.rstrip("\n").replace("\t", " ")


def every_code_point_lines():
    """Each assigned or unassigned code point between letters, after a base character, and doubled; 16 to a line."""
    chars = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and not 0x30000 <= c < 0xE0000 and c < 0xF0100]
    for start in range(0, len(chars), 16):
        yield " ".join("a%sb \u00aa%s%s'" % (c, c, c) for c in chars[start:start + 16])


def corpus_lines(data):
    for language in "ar de el en es hi ro ru th tr vi zh".split():
        yield from strings_of(json.load(open_text(os.path.join(data, "xquad", "xquad.%s-halfA.json.gz" % language))))
    yield from strings_of(json.load(open_text(os.path.join(data, "cmrc2018", "cmrc2018-dev-halfA.json.gz"))))
    for index, text in enumerate(strings_of(json.load(open_text(os.path.join(data, "jaquad", "jaquad-dev-halfA.json.xz"))))):
        if index % 4 == 0:
            yield text
    for name in ("goemotions-train.tsv.gz", "banking77-train.tsv.gz", "rt-polarity-train.tsv.gz", "movie-reviews-dev.tsv.xz"):
        yield from (line.rstrip("\n") for line in open_text(os.path.join(data, "classification", name)))
    yield from (line.rstrip("\n") for line in open_text(os.path.join(data, "english-text", "wikitext2-valid.txt.xz")))
    for name in os.listdir(os.path.join(data, "qamr")):
        if name.endswith(".gz"):
            yield from strings_of(json.load(open_text(os.path.join(data, "qamr", name))))
    yield from botchan_lines(data)


def botchan_lines(data):
    yield from (line.rstrip("\n") for line in open_text(os.path.join(data, "tokenizers", "sentencepiece-test", "botchan.txt")))


def random_lines(count, seed):
    """Short strings over an alphabet chosen to hurt: combining marks, joiners, controls, white space, special tokens."""
    rng = random.Random(seed)
    alphabet = list("abAB.,'-_ #\t\n\r\0") + [
        "\u00a0", "\u0301", "\u0323", "\u0327", "\u0345", "\u0130", "\u03a3", "\u00df", "\u1e9b", "\u0344", "\u0f73", "\u0f71", "\u0f72",
        "\u200b", "\u200d", "\u00ad", "\ufeff", "\u2581", "\u0120", "\u4e2d", "\uac00", "\u1112", "\u1161", "\u11ab",
        "\U0001f600", "\U0001f3fb", "\ufe0f", "\U0001f1e9", "\u00aa", "\ufb01", "\uff71", "\uff9e", "\uff21", "\u2122",
        "\u0915", "\u094d", "\u0937", "\u0600", "\u0e33", "\u05b7", "\u05bc", "\u0664", "\u00bd", "\u2460", "\ufffd",
        "\x1e", "\x7f", "\x85", "\u2028", "\u3000", "[MASK]", "[SEP]", "[UNK]", "<0x41>", "\u1ed9", "'s", "'ll", "1", "23"]
    for _ in range(count):
        yield "".join(rng.choice(alphabet) for _ in range(rng.randint(0, 24)))


def all_lines(data):
    yield from unicode_lines(data)
    yield from corpus_lines(data)
    yield from every_code_point_lines()
    yield from random_lines(40000, 1)


# --------------------------------------------------------------------------------------------------------------- cases

def make_cases(lines, seed, varied):
    """A case per line; a share of `varied` of them with pairs, truncation, windows, words or special tokens inside."""
    rng = random.Random(seed)
    previous = "the other text"
    for line in lines:
        case = {"text": line}
        if rng.random() < varied:
            kind = rng.randrange(6)
            if kind in (0, 1, 2):
                case["pair"] = previous[:400]
            if kind in (1, 3):
                strategies = ["longest_first", "only_first"] + (["only_second"] if "pair" in case else [])
                case["truncation"] = rng.choice(strategies)
                case["max_length"] = rng.randint(8, 40)
                case["stride"] = rng.choice([0, 0, 1, 2, 3])
            if kind in (2, 3) and rng.random() < 0.3:
                case["special"] = False
            if kind == 4:
                case = {"words": line.split(" ")[:60]}
                if rng.random() < 0.5:
                    case["pair"] = previous.split(" ")[:20]
            if kind == 5:
                at = rng.randint(0, len(line))
                case["text"] = line[:at] + rng.choice([" ", ""]) + rng.choice(SPECIALS) + rng.choice([" ", "", "x"]) + line[at:]
        previous = line
        yield case


def reference_encoding(tokenizer, case, pair_type=1):
    """The reference's windows, or None where it refuses.

    One fault of the reference is put right: it applies the type ids of a template to the main encoding only, so a template
    that gives the pair type 0 (T5; no BERT or DeBERTa) still gets type 1 in the windows that overflow.
    """
    if "truncation" in case:
        tokenizer.enable_truncation(case["max_length"], stride=case["stride"], strategy=case["truncation"])
    else:
        tokenizer.no_truncation()
    is_words = "words" in case
    try:
        encoding = tokenizer.encode(case["words"] if is_words else case["text"], case.get("pair"), is_pretokenized=is_words,
                                    add_special_tokens=case.get("special", True))
    except BaseException as error:  # a Rust panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    if pair_type == 0:
        types = lambda window: [0] * len(window.ids)
    else:
        types = lambda window: window.type_ids
    return [{"ids": window.ids, "types": types(window), "words": window.word_ids, "sequences": window.sequence_ids,
             "special": window.special_tokens_mask,
             "offsets": [x for pair in window.offsets for x in pair]}
            for window in [encoding] + encoding.overflowing]


# ---------------------------------------------------------------------------------------------------------- tokenizers

class Setup:
    """A reference tokenizer, and one or more sets of files from which Peruse must build its equal."""

    def __init__(self, name, tokenizer, file_sets, pair_type=1):
        self.name, self.tokenizer, self.file_sets, self.pair_type = name, tokenizer, file_sets, pair_type


def bert_template(cls_id, sep_id):
    return processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                         special_tokens=[("[CLS]", cls_id), ("[SEP]", sep_id)])


def special(content, **flags):
    return AddedToken(content, normalized=False, special=True, **flags)


def bert_from_vocab(vocab, lowercase):
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.add_special_tokens([special(token) for token in SPECIALS])
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = bert_template(vocab["[CLS]"], vocab["[SEP]"])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def deberta_v1(vocab, merges):
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    tokenizer.add_special_tokens([special("[PAD]"), special("[CLS]"), special("[SEP]"), special("[UNK]"), special("[MASK]", lstrip=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = bert_template(vocab["[CLS]"], vocab["[SEP]"])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def read_sentencepiece(path):
    from sentencepiece import sentencepiece_model_pb2
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(open(path, "rb").read())
    return model


def deberta_v2(model, split_by_punct=False, lowercase=False):
    """As transformers 4 converts spm.model (DebertaV2Converter). DebertaV2Tokenizer finds [UNK] in normalised text."""
    tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in model.pieces], model.trainer_spec.unk_id, False))
    steps = [normalizers.Lowercase()] if lowercase else []
    steps.append(normalizers.Strip())
    if model.normalizer_spec.precompiled_charsmap:
        steps.append(normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap))
    steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    tokenizer.normalizer = normalizers.Sequence(steps)
    splits = [pre_tokenizers.Punctuation(behavior="isolated")] if split_by_punct else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits + [pre_tokenizers.Metaspace(prepend_scheme="always")])
    unknown = AddedToken("[UNK]", normalized=True, special=True)
    tokenizer.add_special_tokens([special("[PAD]"), special("[CLS]"), special("[SEP]"), unknown, special("[MASK]")])
    tokenizer.post_processor = bert_template(tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]"))
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def added_token_rules(vocab):
    """A cased BERT with added tokens of every kind of matching."""
    tokenizer = bert_from_vocab(vocab, True)
    tokenizer.add_tokens([AddedToken("the", single_word=True), AddedToken("AB", normalized=True), AddedToken("23", rstrip=True, normalized=False),
                          AddedToken("'s", lstrip=True, rstrip=True, normalized=False), AddedToken("\u4e2d", normalized=False),
                          AddedToken("a.", normalized=True, single_word=True), AddedToken("new token")])
    return tokenizer


def custom_stages(vocab, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.add_special_tokens([special(token) for token in SPECIALS])
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocab["[SEP]"]), ("[CLS]", vocab["[CLS]"]))
    return tokenizer


class Workshop:
    """Builds the setups and keeps their files in a temporary folder."""

    def __init__(self, data, folder):
        self.data = os.path.join(data, "tokenizers")
        self.folder = folder

    def path(self, *names):
        return os.path.join(self.data, *names)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def saved(self, name, tokenizer):
        return {"tokenizer.json": self.write(name + ".json", tokenizer.to_str())}

    def vocab_txt(self, *names):
        return {line.rstrip("\n"): i for i, line in enumerate(open(self.path(*names), encoding="utf-8", newline="\n"))}

    def setups(self):
        makers = [self.bert_uncased, self.deberta_v3, self.deberta_v1, self.bert_cased, self.bert_chinese, self.added_tokens,
                  self.t5, self.roberta, self.gpt2, self.nfkc_model, self.german_model, self.japanese_model, self.v2_options,
                  self.unicode_forms, self.splitting]
        for maker in makers:
            yield maker

    def bert_uncased(self):
        json_path = self.path("bert-base-uncased", "tokenizer.json")
        return Setup("bert-uncased", Tokenizer.from_file(json_path),
                     [{"tokenizer.json": json_path}, {"vocab.txt": self.path("bert-base-uncased", "vocab.txt")}])

    def bert_cased(self):
        vocab = self.vocab_txt("bert-base-cased", "vocab.txt")
        tokenizer = bert_from_vocab(vocab, False)
        config = self.write("cased_config.json", json.dumps({"do_lower_case": False, "tokenizer_class": "BertTokenizer"}))
        return Setup("bert-cased", tokenizer, [self.saved("bert-cased", tokenizer),
                     {"vocab.txt": self.path("bert-base-cased", "vocab.txt"), "tokenizer_config.json": config}])

    def bert_chinese(self):
        tokenizer = bert_from_vocab(self.vocab_txt("bert-base-chinese", "vocab.txt"), True)
        return Setup("bert-chinese", tokenizer, [self.saved("bert-chinese", tokenizer)])

    def added_tokens(self):
        tokenizer = added_token_rules(self.vocab_txt("bert-base-cased", "vocab.txt"))
        return Setup("added-tokens", tokenizer, [self.saved("added-tokens", tokenizer)])

    def byte_level_files(self, folder):
        vocab = json.load(open(self.path(folder, "vocab.json"), encoding="utf-8"))
        lines = open(self.path(folder, "merges.txt"), encoding="utf-8").read().split("\n")
        merges = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        return vocab, merges

    def deberta_v1(self):
        tokenizer = deberta_v1(*self.byte_level_files("deberta-v1"))
        config = self.write("v1_config.json", json.dumps({"tokenizer_class": "DebertaTokenizer"}))
        return Setup("deberta-v1", tokenizer, [self.saved("deberta-v1", tokenizer),
                     {"vocab.json": self.path("deberta-v1", "vocab.json"), "merges.txt": self.path("deberta-v1", "merges.txt"),
                      "tokenizer_config.json": config}])

    def gpt2(self):
        vocab, merges = self.byte_level_files("gpt2")
        tokenizer = Tokenizer(models.BPE(vocab, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        return Setup("gpt2", tokenizer, [self.saved("gpt2", tokenizer)])

    def roberta(self):
        path = self.path("roberta-base", "tokenizer.json")
        return Setup("roberta", Tokenizer.from_file(path), [{"tokenizer.json": path}])

    def t5(self):
        path = self.path("t5", "tokenizer.json")
        return Setup("t5", Tokenizer.from_file(path), [{"tokenizer.json": path}], pair_type=0)

    def sentencepiece_setup(self, name, path, config=None, **options):
        tokenizer = deberta_v2(read_sentencepiece(path), **options)
        files = {"spm.model": path}
        if config:
            files["tokenizer_config.json"] = self.write(name + "_config.json", json.dumps(config))
        return Setup(name, tokenizer, [self.saved(name, tokenizer), files])

    def deberta_v3(self):
        return self.sentencepiece_setup("deberta-v3", self.path("deberta-v3", "spm.model"))

    def nfkc_model(self):
        return self.sentencepiece_setup("sentencepiece-nfkc", self.path("sentencepiece-test", "test_model.model"))

    def german_model(self):
        return self.sentencepiece_setup("sentencepiece-german", self.path("sentencepiece-test", "german-30k-clean.model"))

    def japanese_model(self):
        return self.sentencepiece_setup("sentencepiece-japanese", self.path("sentencepiece-test", "test_ja_model.model"))

    def v2_options(self):
        return self.sentencepiece_setup("deberta-v2-options", self.path("sentencepiece-test", "spm_example.model"),
                                        {"do_lower_case": True, "split_by_punct": True}, lowercase=True, split_by_punct=True)

    def unicode_forms(self):
        tokenizer = custom_stages(self.vocab_txt("bert-base-cased", "vocab.txt"),
                                  normalizers.Sequence([normalizers.NFKC(), normalizers.Nmt(), normalizers.NFD(), normalizers.StripAccents(),
                                                        normalizers.Lowercase(), normalizers.NFC(), normalizers.Prepend("_")]),
                                  pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]))
        return Setup("unicode-forms", tokenizer, [self.saved("unicode-forms", tokenizer)])

    def splitting(self):
        tokenizer = custom_stages(self.vocab_txt("bert-base-cased", "vocab.txt"),
                                  normalizers.Sequence([normalizers.NFKD(), normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.Replace("ab", "xyz"),
                                                        normalizers.Strip(left=False, right=True)]),
                                  pre_tokenizers.Sequence([pre_tokenizers.Split("a", "merged_with_previous"), pre_tokenizers.Punctuation("contiguous"),
                                                           pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Digits()]))
        return Setup("splitting", tokenizer, [self.saved("splitting", tokenizer)])


# --------------------------------------------------------------------------------------------------------------- check

def compare(setup, files, cases, expected, tool, folder, report):
    path = os.path.join(folder, "cases.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for case in cases:
            file.write(json.dumps(case) + "\n")
    command = [tool] + ["%s=%s" % item for item in files.items()]
    output = subprocess.run(command, stdin=open(path, "rb"), stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    lines = output.split("\n")
    assert len(lines) == len(cases) + 1, (len(lines), len(cases))
    differences = 0
    for case, want, line in zip(cases, expected, lines):
        got = json.loads(line)
        if want is None and isinstance(got, dict):
            report["refused by both"] += 1
        elif got != want:
            differences += 1
            if differences <= 5:
                explain(setup, case, want, got)
    return differences


def explain(setup, case, want, got):
    print("  DIFFERENT:", json.dumps(case)[:600])
    if want is None or isinstance(got, dict) or len(want) != len(got):
        print("    want", None if want is None else len(want), "windows, got", got if isinstance(got, dict) else len(got))
        return
    for index, (a, b) in enumerate(zip(want, got)):
        for key in a:
            if a[key] != b[key]:
                at = next((i for i, (x, y) in enumerate(zip(a[key], b[key])) if x != y), min(len(a[key]), len(b[key])))
                print("    window %d %s[%d]: want %s got %s" % (index, key, at, a[key][max(0, at - 2):at + 6], b[key][max(0, at - 2):at + 6]))


def compare_decoding(setup, files, expected, tool, folder):
    chosen = [window["ids"] for windows in expected[::7] if windows for window in windows[:1]]
    cases = [{"decode": ids, "skip": skip} for ids in chosen for skip in (False, True)]
    want = [setup.tokenizer.decode(ids, skip_special_tokens=skip) for ids in chosen for skip in (False, True)]
    path = os.path.join(folder, "cases.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(case) + "\n" for case in cases)
    command = [tool] + ["%s=%s" % item for item in files.items()]
    output = subprocess.run(command, stdin=open(path, "rb"), stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    got = [json.loads(line)["decoded"] for line in output.split("\n") if line]
    wrong = [(case, a, b) for case, a, b in zip(cases, want, got) if a != b]
    for case, a, b in wrong[:5]:
        print("  DECODED DIFFERENTLY:", case, repr(a[:200]), repr(b[:200]))
    return len(cases), len(wrong)


def check(args):
    lines = [line[:4000] for line in all_lines(args.data)]
    print("%d lines" % len(lines))
    total = differences = 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(args.data, folder)
        for index, maker in enumerate(workshop.setups()):
            if args.only and maker.__name__ not in args.only.split(","):
                continue
            setup = maker()
            # The three tokenizers that matter most see every line, the others every fifth.
            chosen = lines[args.skip::max(1, args.every)] if index < 3 else lines[(index + args.skip) % 5::5 * max(1, args.every)]
            report = collections.Counter()
            found, start = [], 0
            counts = [0] * len(setup.file_sets)
            decoded = wrong = 0
            for start in range(0, len(chosen), 20000):
                cases = list(make_cases(chosen[start:start + 20000], seed=index * 1000 + start, varied=0.25))
                expected = [reference_encoding(setup.tokenizer, case, setup.pair_type) for case in cases]
                for i, files in enumerate(setup.file_sets):
                    counts[i] += compare(setup, files, cases, expected, args.tool, folder, report)
                if start == 0:
                    decoded, wrong = compare_decoding(setup, setup.file_sets[0], expected, args.tool, folder)
            total += len(chosen)
            differences += sum(counts) + wrong
            print("%-24s %7d lines, differences by file set: %s; %d decoded, %d differ; %s" %
                  (setup.name, len(chosen), counts, decoded, wrong, dict(report)), flush=True)
    print("%d encodings compared, %d differences" % (total, differences))
    return 1 if differences else 0


# --------------------------------------------------------------------------------------------------------------- write

def cut_wordpiece(vocab, lines, size):
    """The special tokens, single characters, and the most useful of the rest for `lines`."""
    full = bert_from_vocab(vocab, True)
    counts = collections.Counter(token for line in lines for token in full.encode(line, add_special_tokens=False).tokens)
    kept = SPECIALS + [token for token, _ in counts.most_common() if token in vocab and token not in SPECIALS][:size]
    kept += [token for token in list("abcdefghijklmnopqrstuvwxyz") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"] if token not in kept]
    return {token: index for index, token in enumerate(kept)}


def cut_unigram(model, lines, size):
    full = deberta_v2(model)
    counts = collections.Counter(token for line in lines for token in full.encode(line, add_special_tokens=False).tokens)
    useful = {token for token, _ in counts.most_common(size)}
    pieces = [piece for index, piece in enumerate(model.pieces) if index < 270 or piece.piece in useful]
    del model.pieces[:]
    cut = [type(piece)() for piece in pieces]
    for new, old in zip(cut, pieces):
        new.CopyFrom(old)
    model.pieces.extend(cut)
    return model


def cut_bpe(vocab, merges, count):
    kept = merges[:count]
    alphabet = sorted({c for token in vocab for c in token if len(c) == 1 and c in vocab}, key=lambda c: vocab[c])
    tokens = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"] + alphabet + [a + b for a, b in kept]
    tokens = list(dict.fromkeys(tokens)) + ["[MASK]"]
    return {token: index for index, token in enumerate(tokens)}, kept


def write(args):
    rng = random.Random(7)
    # Only text in the public domain or under the Unicode licence is committed.
    lines = [line for line in list(unicode_lines(args.data)) + list(botchan_lines(args.data)) if len(line) <= 120]
    sample = rng.sample(lines, 700) + rng.sample(list(every_code_point_lines()), 60) + list(random_lines(250, 99)) + [""]
    workshop = Workshop(args.data, args.out)
    os.makedirs(args.out, exist_ok=True)

    def emit(name, tokenizer, chosen, files):
        for file_name, content in files.items():
            mode = "wb" if isinstance(content, bytes) else "w"
            with open(os.path.join(args.out, name + "." + file_name), mode, **({} if mode == "wb" else {"encoding": "utf-8"})) as file:
                file.write(content)
        with open(os.path.join(args.out, name + ".cases.jsonl"), "w", encoding="utf-8") as file:
            for case in make_cases(chosen, seed=5, varied=0.4):
                want = reference_encoding(tokenizer, case)
                if want is not None:
                    ids = [i for i in want[0]["ids"]]
                    entry = {"case": case, "windows": want, "decoded": tokenizer.decode(ids, skip_special_tokens=True)}
                    line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")) + "\n"
                    if len(line) <= 4000:  # many windows make long lines; the check sees them all
                        file.write(line)

    vocab = cut_wordpiece(workshop.vocab_txt("bert-base-uncased", "vocab.txt"), sample, 2500)
    # The goldens decode as `tokenizers` does. BertTokenizer alone would clean up spaces after it.
    emit("bert", bert_from_vocab(vocab, True), sample, {"vocab.txt": "".join(token + "\n" for token in vocab),
                                                        "tokenizer_config.json": json.dumps({"clean_up_tokenization_spaces": False}) + "\n"})
    tokenizer = added_token_rules(vocab)
    emit("added", tokenizer, sample[::4], {"tokenizer.json": tokenizer.to_str()})
    vocab, merges = cut_bpe(*workshop.byte_level_files("deberta-v1"), 1500)
    emit("bpe", deberta_v1(vocab, merges), sample[::2],
         {"vocab.json": json.dumps(vocab, ensure_ascii=False), "merges.txt": "#version: 0.2\n" + "".join("%s %s\n" % pair for pair in merges)})
    model = cut_unigram(read_sentencepiece(workshop.path("deberta-v3", "spm.model")), sample, 2500)
    emit("unigram", deberta_v2(model), sample, {"spm.model": model.SerializeToString()})
    return 0


def files(args):
    """FOLDER/<name>/tokenizer.json of the chosen setups (tests/bench/tokenizer)."""
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(args.data, folder)
        for maker in workshop.setups():
            if args.only and maker.__name__ not in args.only.split(","):
                continue
            setup = maker()
            os.makedirs(os.path.join(args.out, setup.name), exist_ok=True)
            setup.tokenizer.no_truncation()
            setup.tokenizer.no_padding()
            setup.tokenizer.save(os.path.join(args.out, setup.name, "tokenizer.json"))
    return 0


def main():
    assert tokenizers.__version__ == VERSION, "needs tokenizers==" + VERSION
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "write", "files"])
    parser.add_argument("--data", required=True)
    parser.add_argument("--tool", help="check: the encode_lines program")
    parser.add_argument("--only", help="check, files: names of setups, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="check: take every n-th line only")
    parser.add_argument("--skip", type=int, default=0, help="check: start at this line")
    parser.add_argument("--out", help="write, files: the folder")
    args = parser.parse_args()
    sys.exit({"check": check, "write": write, "files": files}[args.mode](args))


main()
