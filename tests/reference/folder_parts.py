"""The parts of folder_table.py's folders: tokenizer files with small vocabularies, and changes to them."""
import json
import os
import struct
import tempfile

import tokenizers
from sentencepiece import sentencepiece_model_pb2
from transformers import (BertTokenizerFast, CamembertTokenizerFast, DebertaTokenizerFast, DebertaV2TokenizerFast,
                          PreTrainedTokenizerFast, RobertaTokenizerFast, XLMRobertaTokenizerFast)

# Classes that are tried with every pair of flags.
TYPES = {"BertTokenizer": "bert", "ElectraTokenizer": "electra", "ConvBertTokenizer": "convbert", "DebertaTokenizer": "deberta",
         "DebertaV2Tokenizer": "deberta-v2", "DistilBertTokenizer": "distilbert", "RobertaTokenizer": "roberta",
         "XLMRobertaTokenizer": "xlm-roberta", "CamembertTokenizer": "camembert"}
_bases = {}


def base(kind, fixtures=None):
    if kind not in _bases:
        folder = os.path.join(fixtures, "tokenizer")
        if kind == "bert":
            tokenizer = BertTokenizerFast(os.path.join(folder, "bert.vocab.txt"))
        elif kind == "bpe":
            tokenizer = DebertaTokenizerFast(os.path.join(folder, "bpe.vocab.json"), os.path.join(folder, "bpe.merges.txt"))
        elif kind == "roberta":
            path = os.path.join(folder, "bpe.merges.txt")
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as vocabulary:
                json.dump(roberta_vocabulary(fixtures), vocabulary)
                vocabulary.flush()
                tokenizer = RobertaTokenizerFast(vocabulary.name, path)
        elif kind == "xlm":
            tokenizer = XLMRobertaTokenizerFast(tokenizer_object=small_xlm(os.path.join(folder, "unigram.spm.model")))
        elif kind in ("gemma", "japanese"):
            tokenizer = PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, kind + ".tokenizer.json"))
        elif kind == "camembert":
            with tempfile.NamedTemporaryFile(suffix=".model") as model:
                model.write(fairseq_pieces(fixtures))
                model.flush()
                tokenizer = CamembertTokenizerFast(model.name)
        else:
            tokenizer = DebertaV2TokenizerFast(os.path.join(folder, "unigram.spm.model"))
        _bases[kind] = json.loads(tokenizer.backend_tokenizer.to_str())
        if kind == "unigram":  # without the character map, which is large
            _bases[kind]["normalizer"] = {"type": "Sequence", "normalizers": [
                {"type": "Replace", "pattern": {"Regex": r"\s{2,}|[\n\r\t]"}, "content": " "}, {"type": "NFC"},
                {"type": "Strip", "strip_left": False, "strip_right": True}]}
    return json.loads(json.dumps(_bases[kind]))


ROBERTA_NAMES = {"[CLS]": "<s>", "[PAD]": "<pad>", "[SEP]": "</s>", "[UNK]": "<unk>", "[MASK]": "<mask>"}


def roberta_vocabulary(fixtures):
    with open(os.path.join(fixtures, "tokenizer", "bpe.vocab.json"), encoding="utf-8") as file:
        return {ROBERTA_NAMES.get(token, token): index for token, index in json.load(file).items()}


def small_xlm(path):
    """Like XLMRobertaConverter's, with fewer pieces and without the large character map."""
    model = sentencepiece_model_pb2.ModelProto()
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    pieces = [piece for index, piece in enumerate(model.pieces) if index < 900 or len(piece.piece) == 1]
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocabulary += [(piece.piece, piece.score) for piece in pieces if piece.type == 1] + [("<mask>", 0.0)]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFKC(), tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([tokenizers.pre_tokenizers.WhitespaceSplit(),
                                                                  tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                                        special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = tokenizers.decoders.Metaspace(prepend_scheme="always")
    return tokenizer


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def sentencepiece_model(model_type, pieces, unk_id=1):
    """A SentencePiece model of (piece, score, type), written as a protobuf message."""
    def field(number, data):
        return varint(number << 3 | 2) + varint(len(data)) + data
    data = b"".join(field(1, field(1, piece.encode()) + b"\x15" + struct.pack("<f", score) + b"\x18" + varint(kind)) for piece, score, kind in pieces)
    trainer = varint(3 << 3) + varint(model_type) + varint(40 << 3) + varint(unk_id) + field(45, b"<unk>")
    if any(kind == 6 for _, _, kind in pieces):
        trainer += varint(35 << 3) + b"\x01"  # byte_fallback
    normalizer = field(1, b"identity") + varint(3 << 3) + b"\x01"
    return data + field(2, trainer) + field(3, normalizer)


def fairseq_pieces(fixtures):
    """A sentencepiece.bpe.model like those of XLM-RoBERTa and CamemBERT, with a few of DeBERTa's pieces, without the character map."""
    model = sentencepiece_model_pb2.ModelProto()
    with open(os.path.join(fixtures, "tokenizer", "unigram.spm.model"), "rb") as file:
        model.ParseFromString(file.read())
    normal = [(piece.piece, piece.score, 1) for index, piece in enumerate(model.pieces)
              if piece.type == 1 and (index < 500 or len(piece.piece) == 1)]
    return sentencepiece_model(1, [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3)] + normal, 0)


def llama_pieces(fixtures):
    """The tokenizer.model of the tokenizer that is called japanese, of which transformers makes another tokenizer.json."""
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3}
    pieces = base("japanese", fixtures)["model"]["vocab"]
    return sentencepiece_model(1, [(piece, score, 6 if piece.startswith("<0x") else kinds.get(piece, 1)) for piece, score in pieces], 0)


def parts(fixtures):
    """Contents that goldens refer to as "@name", "part:name" or, in hexadecimal, "bytes:name"."""
    models = {kind + ".model": base(kind, fixtures)["model"] for kind in ("bert", "bpe", "unigram", "xlm", "camembert", "gemma", "japanese")}
    return {**models, "roberta.vocab": roberta_vocabulary(fixtures), "roberta.model": base("roberta", fixtures)["model"],
            "fairseq.pieces": fairseq_pieces(fixtures).hex(), "llama.pieces": llama_pieces(fixtures).hex()}


KIND = {"BertTokenizer": "bert", "ElectraTokenizer": "bert", "ConvBertTokenizer": "bert", "DebertaTokenizer": "bpe",
        "DebertaV2Tokenizer": "unigram", "DistilBertTokenizer": "bert", "RobertaTokenizer": "roberta", "XLMRobertaTokenizer": "xlm",
        "CamembertTokenizer": "camembert"}
VOCABULARY = {"bert": {"vocab.txt": "bert.vocab.txt"}, "bpe": {"vocab.json": "bpe.vocab.json", "merges.txt": "bpe.merges.txt"},
              "unigram": {"spm.model": "unigram.spm.model"}, "roberta": {"vocab.json": "part:roberta.vocab", "merges.txt": "bpe.merges.txt"},
              "xlm": {"sentencepiece.bpe.model": "bytes:fairseq.pieces"}, "camembert": {"sentencepiece.bpe.model": "bytes:fairseq.pieces"}}


class Folder:
    """files: contents on disk. written: the same, with names for large parts. refused: words of our message."""

    def __init__(self, name, fixtures, files, refused=None):
        self.name, self.refused, self.files, self.written = name, refused, {}, {}
        for file, content in files.items():
            self.written[file] = content
            if isinstance(content, str) and content.startswith("@"):
                with open(os.path.join(fixtures, "tokenizer", content[1:]), "rb") as source:
                    content = source.read()
            elif isinstance(content, str) and content.startswith("part:"):
                content = parts(fixtures)[content[5:]]
            elif isinstance(content, str) and content.startswith("bytes:"):
                content = bytes.fromhex(parts(fixtures)[content[6:]])
            elif isinstance(content, str) and content.startswith("hex:"):
                content = bytes.fromhex(content[4:])
            elif isinstance(content, dict) and isinstance(content.get("model"), str):
                content = {**content, "model": parts(fixtures)[content["model"][1:]]}
            self.files[file] = content


class Table:
    def __init__(self, fixtures):
        self.fixtures, self.folders = fixtures, []

    def add(self, name, kind, *, has_json=True, has_vocabulary=False, config=None, model_type="bert", change=None, refused=None, **files):
        """`config`: tokenizer_config.json, or None. `change(tokenizer_json)` edits it. `files`: others, with "_" for "."."""
        made = {"config.json": {"model_type": model_type} if model_type else {}}
        if has_vocabulary:
            made.update({file: source if source.startswith(("part:", "bytes:")) else "@" + source for file, source in VOCABULARY[kind].items()})
        if has_json:
            document = base(kind, self.fixtures)
            if change:
                change(document)
            if document["model"] == base(kind, self.fixtures)["model"]:
                document["model"] = "@" + kind + ".model"
            made["tokenizer.json"] = document
        if config is not None:
            made["tokenizer_config.json"] = config
        made.update({name.replace("_json", ".json").replace("_txt", ".txt").replace("_bpe_", ".bpe.").replace("_model", ".model"): content
                     for name, content in files.items()})
        self.folders.append(Folder(name, self.fixtures, made, refused))


def normalizer(value):
    def change(document):
        document["normalizer"] = value
    return change


def bert_normalizer(**flags):
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **flags}


def without_token(*contents):
    def change(document):
        document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] not in contents]
    return change


def with_tokens(*tokens):
    def change(document):
        for token in tokens:
            document["added_tokens"].append({"id": 0, **flags(**token)})
    return change


def member(name, value):
    def change(document):
        document[name] = value
    return change


def both(*changes):
    def change(document):
        for one in changes:
            one(document)
    return change


def flags(content, **given):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": not given.get("special", False),
            "special": False, **given}
