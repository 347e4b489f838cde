"""Text in many languages for make_tokenizer_fixtures.py, line by line, and cases made of it."""
import gzip
import json
import lzma
import os
import random
import tarfile

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def open_text(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    if path.endswith(".xz"):
        return lzma.open(path, "rt", encoding="utf-8", newline="\n")
    return open(path, encoding="utf-8", newline="\n")


def strings_of(value):
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
