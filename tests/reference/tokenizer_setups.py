"""The tokenizers that make_tokenizer_fixtures.py compares: each as the reference builds it, and the files that say the same."""
import json
import os
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoTokenizer

from tokenizer_lines import SPECIALS, corpus_lines
from trained_tokenizers import gemma, japanese


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


def deberta_v2(model, **config):
    """As transformers makes it of spm.model and this tokenizer_config.json."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "spm.model"), "wb") as file:
            file.write(model.SerializeToString())
        for name, content in (("config.json", {"model_type": "deberta-v2"}), ("tokenizer_config.json", config)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        return AutoTokenizer.from_pretrained(folder)._tokenizer


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
        self.texts = data
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
                  self.unicode_forms, self.splitting, self.gemma_bytes, self.japanese_bytes, self.japanese_stages]
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
        # The class gives the pre-tokeniser its own add_prefix_space.
        config = self.write("gpt2_config.json", json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": True}))
        return Setup("gpt2", tokenizer, [{**self.saved("gpt2", tokenizer), "tokenizer_config.json": config}])

    def roberta(self):
        path = self.path("roberta-base", "tokenizer.json")
        return Setup("roberta", Tokenizer.from_file(path), [{"tokenizer.json": path}])

    def t5(self):
        path = self.path("t5", "tokenizer.json")
        return Setup("t5", Tokenizer.from_file(path), [{"tokenizer.json": path}], pair_type=0)

    def sentencepiece_setup(self, name, path, **config):
        tokenizer = deberta_v2(read_sentencepiece(path), **config)
        files = {"spm.model": path, "tokenizer_config.json": self.write(name + "_config.json", json.dumps(config))}
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
                                        do_lower_case=True, split_by_punct=True)

    def trained(self, name, make, *options):
        lines = [line for line in corpus_lines(self.texts) if line][::20]
        tokenizer = make(lines, 8000, *options)
        return Setup(name, tokenizer, [self.saved(name, tokenizer)], pair_type=0)

    def gemma_bytes(self):
        return self.trained("gemma-bytes", gemma)

    def japanese_bytes(self):
        return self.trained("japanese-bytes", japanese, False)

    def japanese_stages(self):
        return self.trained("japanese-stages", japanese, True)

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
