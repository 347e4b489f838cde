"""The folders of compare_folders.py: a table of (class, files that are there, flags), and the lines they are tried on."""
import itertools
import json
import os

from folder_pairs import pairwise_rows
from folder_parts import Table, bert_normalizer, both, flags, member, normalizer, sentencepiece_model, with_tokens, without_token


def class_rows(table):
    for name in ("BertJapaneseTokenizer", "HerbertTokenizerFast", "MyOwnTokenizer", "CanineTokenizer"):
        table.add("class-%s-vocabulary" % name, "bert", has_json=False, has_vocabulary=True, config={"tokenizer_class": name},
                  refused="tokenizer_class")
    for name in ("BertJapaneseTokenizer", "MyOwnTokenizer", "CanineTokenizer"):
        table.add("class-%s-json" % name, "bert", config={"tokenizer_class": name}, refused="tokenizer_class")
    table.add("class-auto-map", "bert", config={"tokenizer_class": "BertTokenizer", "auto_map": {"AutoTokenizer": ["x.X", None]}}, refused="auto_map")
    table.add("class-auto-map-list", "bert", config={"auto_map": ["x.X", None]}, refused="auto_map")
    table.add("class-auto-map-null", "bert", config={"tokenizer_class": "BertTokenizer", "auto_map": {}})
    for name in ("BertTokenizer", "BertTokenizerFast", "ElectraTokenizer", "ConvBertTokenizerFast", "DistilBertTokenizer", "PreTrainedTokenizerFast",
                 "PreTrainedTokenizer", "MPNetTokenizer", "MobileBertTokenizer"):
        table.add("class-%s" % name, "bert", config={"tokenizer_class": name}, change=normalizer(bert_normalizer(lowercase=False)))
    for name in ("RobertaTokenizer", "GPT2TokenizerFast", "DebertaTokenizer"):
        table.add("class-%s" % name, "bpe", config={"tokenizer_class": name}, model_type="deberta")
    table.add("class-with-tokens-of-its-own", "unigram", config={"tokenizer_class": "CamembertTokenizer"})
    for name in ("XLMRobertaTokenizer", "AlbertTokenizer", "DebertaV2TokenizerFast"):
        table.add("class-%s" % name, "unigram", config={"tokenizer_class": name}, model_type="deberta-v2")
    table.add("class-by-type-json-albert", "unigram", model_type="albert")
    table.add("class-plain-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"tokenizer_class": "PreTrainedTokenizerFast"},
              refused="tokenizer_class")
    for model_type in ("bert", "electra", "convbert"):
        table.add("class-by-type-" + model_type, "bert", has_json=False, has_vocabulary=True, model_type=model_type)
        table.add("class-by-type-json-" + model_type, "bert", model_type=model_type, change=normalizer(bert_normalizer(lowercase=False)))
    table.add("class-by-type-deberta", "bpe", has_json=False, has_vocabulary=True, model_type="deberta")
    table.add("class-by-type-v2", "unigram", has_json=False, has_vocabulary=True, model_type="deberta-v2")
    table.add("class-of-config", "bert", has_json=False, has_vocabulary=True, model_type="bert", config={},
              config_json={"model_type": "bert", "tokenizer_class": "BertJapaneseTokenizer"}, refused="tokenizer_class")
    table.add("class-v2-of-a-v1-type", "unigram", has_json=False, has_vocabulary=True, model_type="deberta", config={"tokenizer_class": "DebertaV2Tokenizer"})
    table.add("class-wrong-vocabulary", "bpe", has_json=False, has_vocabulary=True, config={"tokenizer_class": "BertTokenizer"}, refused="vocab.txt")


def normalizer_rows(table):
    table.add("normalizer-cased-json-silent-config", "bert", config={}, change=normalizer(bert_normalizer(lowercase=False)))
    table.add("normalizer-cased-json-no-config", "bert", change=normalizer(bert_normalizer(lowercase=False)))
    table.add("normalizer-strips-silent", "bert", config={"do_lower_case": False}, change=normalizer(bert_normalizer(lowercase=False, strip_accents=True)))
    table.add("normalizer-chinese-silent", "bert", config={"do_lower_case": True}, change=normalizer(bert_normalizer(handle_chinese_chars=False)))
    table.add("normalizer-no-cleaning", "bert", config={"do_lower_case": False}, change=normalizer(bert_normalizer(clean_text=False)))
    leftovers = {"do_lower_case": False, "strip_accents": False, "tokenize_chinese_chars": False}
    table.add("normalizer-plain-leftovers", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast", **leftovers})
    table.add("normalizer-sequence-leftovers", "bert", config=leftovers, change=normalizer({"type": "Sequence", "normalizers": [bert_normalizer()]}))
    table.add("normalizer-nfc-leftovers", "bert", config=leftovers, change=normalizer({"type": "NFC"}))
    table.add("normalizer-lowercase-leftovers", "bert", config=leftovers, change=normalizer({"type": "Lowercase"}))
    table.add("normalizer-none-plain", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast"}, change=normalizer(None))
    table.add("normalizer-null-flag", "bert", config={"do_lower_case": None}, refused="do_lower_case")
    table.add("normalizer-v2-leftovers", "unigram", model_type="deberta-v2",
              config={"tokenizer_class": "DebertaV2Tokenizer", "do_lower_case": True, "split_by_punct": True})
    table.add("normalizer-v1-leftovers", "bpe", model_type="deberta", config={"tokenizer_class": "DebertaTokenizer", "do_lower_case": True})


def token_rows(table):
    table.add("tokens-mask-by-class", "bert", change=without_token("[MASK]"))
    table.add("tokens-none-listed", "bert", change=member("added_tokens", []))
    table.add("tokens-none-listed-plain", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast"}, change=member("added_tokens", []))
    table.add("tokens-mask-by-config-plain", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]"},
              change=without_token("[MASK]"))
    table.add("tokens-mask-by-map", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast"}, change=without_token("[MASK]"),
              special_tokens_map_json={"mask_token": {**flags("[MASK]", lstrip=True)}})
    table.add("tokens-map-string", "bert", config={"mask_token": "[SEP]"}, special_tokens_map_json={"mask_token": "[MASK]"})
    table.add("tokens-map-beside-decoder", "bert", config={"mask_token": "[MASK]", "added_tokens_decoder": {}}, change=without_token("[MASK]"),
              special_tokens_map_json={"mask_token": {**flags("[MASK]", lstrip=True)}})
    table.add("tokens-additional", "bert", config={"additional_special_tokens": ["[X]", "the", "tHe"]})
    table.add("tokens-additional-by-map", "bert", config={"additional_special_tokens": ["[Y]"]},
              special_tokens_map_json={"additional_special_tokens": ["[X]", {**flags("of", rstrip=True)}]})
    table.add("tokens-added-json", "bert", config={}, added_tokens_json={"[NEW]": 9999, "and": 5, "AND": 4})
    table.add("tokens-added-json-no-config", "bert", added_tokens_json={"[NEW]": 9999, "[MASK]": 5})
    table.add("tokens-decoder-flags", "bert", config={"added_tokens_decoder": {"4": flags("[MASK]", lstrip=True, special=True),
                                                                                "130": flags("the", single_word=True), "7000": flags("q x", rstrip=True)}})
    table.add("tokens-decoder-normalized", "bert", config={"added_tokens_decoder": {"4": flags("[MASK]", normalized=True, special=True)}})
    table.add("tokens-decoder-not-special", "bert", config={"added_tokens_decoder": {"4": flags("[MASK]"), "9": flags("[ODD]", normalized=False)}})
    table.add("tokens-decoder-vocabulary", "bert", has_json=False, has_vocabulary=True, config={
        "added_tokens_decoder": {"4": flags("[MASK]", lstrip=True, special=True), "130": flags("the", single_word=True), "7000": flags("q x")}})
    table.add("tokens-odd-names", "bert", config={"cls_token": "<c>", "sep_token": "<s>", "mask_token": "<m>", "unk_token": "<u>", "pad_token": "<p>"})
    table.add("tokens-odd-names-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"mask_token": "<m>", "pad_token": "<p>"})
    table.add("tokens-object-of-type", "bert", config={"mask_token": {"__type": "AddedToken", **flags("[MASK]", lstrip=True)}})
    table.add("tokens-object-without-type", "bert", config={"mask_token": {**flags("[MASK]", lstrip=True)}}, refused="mask_token")
    table.add("tokens-null", "bert", config={"mask_token": None})
    table.add("tokens-number", "bert", config={"mask_token": 7}, refused="mask_token")
    table.add("tokens-extra-special", "bert", config={"extra_special_tokens": {"image_token": "[IMAGE]"}})
    table.add("tokens-same-normal-form", "bert", change=with_tokens({"content": "QUICK"}, {"content": "quick"}, {"content": "Quick"}))
    table.add("tokens-same-normal-form-special", "bert",
              change=with_tokens({"content": "QUICK"}, {"content": "quick", "special": True, "normalized": True}))
    table.add("tokens-bos", "bert", config={"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "[B]", "eos_token": "of"})
    table.add("tokens-v1-mask", "bpe", model_type="deberta", change=without_token("[MASK]"), config={"tokenizer_class": "DebertaTokenizer"})
    table.add("tokens-v1-none", "bpe", model_type="deberta", change=member("added_tokens", []))
    table.add("tokens-v2-none", "unigram", model_type="deberta-v2", change=member("added_tokens", []))
    table.add("tokens-normalise-to-nothing", "bert", change=with_tokens({"content": "\u0301"}, {"content": "lazy"}))
    table.add("tokens-unk-of-config", "bert", config={"unk_token": "the"})
    table.add("tokens-unk-of-config-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"unk_token": "the"})


def other_rows(table):
    table.add("names-without-types", "bert", config={"model_input_names": ["input_ids", "attention_mask"]})
    table.add("names-with-types", "bert", config={"model_input_names": ["input_ids", "token_type_ids"]})
    table.add("names-without-types-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"model_input_names": ["input_ids", "attention_mask"]})
    table.add("names-without-types-v2", "unigram", model_type="deberta-v2", config={"model_input_names": ["input_ids", "attention_mask"]})
    table.add("spm-published", "unigram", has_json=False, has_vocabulary=True, model_type="deberta-v2", config={"do_lower_case": False, "vocab_type": "spm"})
    table.add("spm-no-config", "unigram", has_json=False, has_vocabulary=True, model_type="deberta-v2")
    for lower, split in itertools.product((True, False), repeat=2):
        table.add("spm-%d-%d" % (lower, split), "unigram", has_json=False, has_vocabulary=True, model_type="deberta-v2",
                  config={"do_lower_case": lower, "split_by_punct": split, "unk_token": "[UNK]"})
    for in_json, in_config in itertools.product((True, False), (True, False, None, "absent")):
        def change(document, value=in_json):
            document["pre_tokenizer"]["add_prefix_space"] = value
        config = {} if in_config == "absent" else {"add_prefix_space": in_config}
        table.add("prefix-%s-%s" % (in_json, in_config), "bpe", model_type="deberta", config=config, change=change)
        table.add("prefix-plain-%s-%s" % (in_json, in_config), "bpe", model_type="deberta",
                  config={"tokenizer_class": "PreTrainedTokenizerFast", **config}, change=change)
    table.add("prefix-in-sequence", "bpe", model_type="deberta", config={}, change=member("pre_tokenizer", {
        "type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}]}))
    table.add("prefix-vocabulary", "bpe", has_json=False, has_vocabulary=True, model_type="deberta", config={"add_prefix_space": True})
    table.add("split-special", "bert", config={"split_special_tokens": True})
    table.add("split-special-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"split_special_tokens": True})
    truncation = {"direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 2}
    table.add("truncation-left", "bert", config={}, change=member("truncation", truncation))
    table.add("truncation-left-config-right", "bert", config={"truncation_side": "right"}, change=member("truncation", truncation))
    table.add("truncation-left-config", "bert", config={"truncation_side": "left"})
    table.add("truncation-side-odd", "bert", config={"truncation_side": "middle"}, refused="truncation_side")
    table.add("limit-max-len", "bert", config={"max_len": 17})
    table.add("limit-both", "bert", config={"max_len": 17, "model_max_length": 33})
    table.add("limit-null", "bert", config={"max_len": 17, "model_max_length": None})
    table.add("limit-none", "bert", config={"model_max_length": 1000000000000000019884624838656})
    table.add("clean-up", "bert", config={"clean_up_tokenization_spaces": True}, change=member("decoder", None))
    table.add("clean-up-vocabulary", "bert", has_json=False, has_vocabulary=True, config={"clean_up_tokenization_spaces": False})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "quick ", "brown\t", "fox\u00a0", "##s", "fox", "quick", "\u3000", "the", "", "dog"]
    for name, end in (("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")):
        table.add("lines-" + name, "bert", has_json=False, config={}, vocab_txt=end.join(vocabulary) + end)
    table.add("lines-no-end", "bert", has_json=False, config={}, vocab_txt="\n".join(vocabulary))
    table.add("digits-17", "bert", change=member("pre_tokenizer", {"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": True}]}))
    trimming = {"type": "RobertaProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1], "trim_offsets": True, "add_prefix_space": False}
    table.add("trim-unigram", "unigram", model_type="deberta-v2", config={"tokenizer_class": "PreTrainedTokenizerFast"}, change=both(
        member("post_processor", trimming), member("normalizer", None), member("pre_tokenizer", None)))
    table.add("trim-unigram-prefix", "unigram", model_type="deberta-v2", config={"tokenizer_class": "PreTrainedTokenizerFast"}, change=both(
        member("post_processor", {**trimming, "add_prefix_space": True}), member("normalizer", None), member("pre_tokenizer", None)))
    table.add("trim-bpe", "bpe", model_type="deberta", change=member("post_processor", trimming))


def roberta_rows(table):
    def roberta(name, has_json=False, **more):
        table.add("roberta-" + name, "roberta", model_type=more.pop("model_type", "roberta"), has_json=has_json, has_vocabulary=not has_json, **more)

    roberta("vocabulary")
    roberta("json", has_json=True)
    roberta("prefix", config={"add_prefix_space": True})
    roberta("untrimmed", config={"trim_offsets": False, "add_prefix_space": True})
    roberta("class", config={"tokenizer_class": "RobertaTokenizer", "model_max_length": 512})
    roberta("types", config={"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]})
    roberta("odd-names", config={"sep_token": "<e>", "cls_token": "the", "mask_token": "<m>", "eos_token": "</s>"})
    roberta("object", config={"mask_token": {"__type": "AddedToken", **flags("<mask>")}, "pad_token": {"__type": "AddedToken", **flags("<pad>", rstrip=True)}})
    roberta("map", special_tokens_map_json={"mask_token": flags("<mask>", lstrip=True), "cls_token": "<s>", "unk_token": flags("<unk>", normalized=True)})
    roberta("longformer", config={"tokenizer_class": "LongformerTokenizer"})
    roberta("longformer-json", has_json=True, config={"tokenizer_class": "LongformerTokenizerFast"})
    roberta("without-names", vocab_json="@bpe.vocab.json")
    roberta("as-deberta", model_type="deberta")
    roberta("mpnet", model_type="mpnet", refused="MPNetTokenizer")
    table.add("roberta-no-merges", "roberta", model_type="roberta", has_json=False, vocab_json="part:roberta.vocab", refused="merges.txt")
    for name, model_type in (("deberta", "deberta"), ("roberta", "roberta")):
        for label, merges in (("no-header", "\u0120 t\nh e\n\u0120t he\n"), ("no-end", "#version: 0.2\n\u0120 t\nh e"), ("crlf", "#\r\n\u0120 t\r\nh e\r\n"),
                              ("one-line", "h e"), ("none", "#version: 0.2\n")):
            table.add("merges-%s-%s" % (name, label), "bpe", model_type=model_type, has_json=False, has_vocabulary=True, merges_txt=merges)
    table.add("xlm-class", "xlm", model_type="xlm-roberta", config={"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": 512})
    table.add("xlm-types", "xlm", model_type="xlm-roberta", config={"model_input_names": ["input_ids", "token_type_ids"]})
    table.add("xlm-none-listed", "xlm", model_type="xlm-roberta", change=member("added_tokens", []))
    for kind, model_type, name in (("xlm", "xlm-roberta", "XLMRobertaTokenizer"), ("camembert", "camembert", "CamembertTokenizer")):
        fairseq_rows(table, kind, model_type, name)
    table.add("xlm-pieces-deberta", "xlm", model_type="xlm-roberta", has_json=False, sentencepiece_bpe_model="@unigram.spm.model")
    table.add("xlm-no-file", "xlm", model_type="xlm-roberta", has_json=False, refused="sentencepiece.bpe.model")
    table.add("distilbert-json", "bert", model_type="distilbert", change=normalizer(bert_normalizer(lowercase=False)))
    table.add("distilbert-vocabulary", "bert", model_type="distilbert", has_json=False, has_vocabulary=True)
    table.add("distilbert-cased", "bert", model_type="distilbert", has_json=False, has_vocabulary=True, config={"do_lower_case": False})
    table.add("mpnet-json", "bert", model_type="mpnet")
    table.add("mpnet-json-cased", "bert", model_type="mpnet", config={"do_lower_case": False, "tokenizer_class": "MPNetTokenizer"})
    table.add("mpnet-vocabulary", "bert", model_type="mpnet", has_json=False, has_vocabulary=True)
    table.add("mpnet-named", "bert", model_type="mpnet", has_json=False, has_vocabulary=True, config={
        "tokenizer_class": "MPNetTokenizer", "cls_token": "[CLS]", "bos_token": "[CLS]", "sep_token": "[SEP]", "eos_token": "[SEP]",
        "pad_token": "[PAD]", "mask_token": "[MASK]"})
    table.add("mpnet-types", "bert", model_type="mpnet", has_json=False, has_vocabulary=True,
              config={"model_input_names": ["input_ids", "token_type_ids"], "strip_accents": True})


def ends_rows(table):
    """Gemma's and Llama's classes put their own tokens around a text, whatever the post_processor says."""
    for kind, name in (("gemma", "GemmaTokenizerFast"), ("japanese", "LlamaTokenizerFast")):
        for flags_of_it in ({}, {"add_eos_token": True}, {"add_bos_token": False, "add_eos_token": True}, {"add_bos_token": False}):
            label = "-".join("%s-%d" % (flag[4:7], value) for flag, value in flags_of_it.items()) or "silent"
            table.add("ends-%s-%s" % (kind, label), kind, model_type="modernbert", config={"tokenizer_class": name, **flags_of_it})
        table.add("ends-%s-named" % kind, kind, model_type="modernbert",
                  config={"tokenizer_class": name, "bos_token": "<mask>", "eos_token": "<pad>", "add_eos_token": True, "mask_token": "<mask>"})
        table.add("ends-%s-plain" % kind, kind, model_type="modernbert", config={"tokenizer_class": "PreTrainedTokenizerFast"})
    llama = {"tokenizer_class": "LlamaTokenizer", "add_eos_token": True, "legacy": False}
    table.add("ends-llama-converted", "japanese", model_type="modernbert", config={**llama, "add_prefix_space": False}, tokenizer_model="bytes:llama.pieces")
    table.add("ends-llama-prefix", "japanese", model_type="modernbert", config={**llama, "add_prefix_space": True}, tokenizer_model="bytes:llama.pieces",
              refused="add_prefix_space")


def fairseq_rows(table, kind, model_type, name):
    def pieces(label, **more):
        table.add("%s-pieces-%s" % (kind, label), kind, model_type=more.pop("model_type", model_type), has_json=False, has_vocabulary=True, **more)

    pieces("alone")
    pieces("class", config={"tokenizer_class": name, "model_max_length": 512})
    pieces("fast-class", config={"tokenizer_class": name + "Fast", "do_lower_case": True, "model_max_length": 512})
    pieces("names", config={"mask_token": "<m>", "cls_token": "the", "unk_token": "<u>", "pad_token": "<pad>", "additional_special_tokens": ["dog"]})
    pieces("object", config={"mask_token": {"__type": "AddedToken", **flags("<mask>")}, "unk_token": {"__type": "AddedToken", **flags("<unk>", rstrip=True)}})
    pieces("map", special_tokens_map_json={"mask_token": flags("<mask>", lstrip=True), "cls_token": "<s>", "additional_special_tokens": ["<s>NOTUSED", "lazy"]})
    pieces("added", config={}, added_tokens_json={"<new>": 5000, "over": 77})
    pieces("decoder", config={"tokenizer_class": name, "added_tokens_decoder": {
        "0": flags("<s>", special=True), "1": flags("<pad>", special=True), "2": flags("</s>", special=True), "3": flags("<unk>", special=True),
        "900": flags("<mask>", special=True, lstrip=True), "901": flags("Quick fox", rstrip=True)}})
    pieces("types", config={"model_input_names": ["input_ids", "token_type_ids"]})
    pieces("odd", model_type="bert", config={"tokenizer_class": name, "truncation_side": "left", "split_special_tokens": True})
    words = "\u2581the \u2581 \u2581d o g \u2581do \u2581dog l a z y az zy laz lazy \u2581l \u2581la \u2581lazy t h e th he q u i c k".split(" ")
    special = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("<user>", 0, 4), ("<mask>", 0, 4)]
    normal = [(word, -float(index // 2), 1) for index, word in enumerate(words)]
    for label, model in (("unigram", 1), ("bpe", 2)):
        table.add("%s-pieces-%s" % (kind, label), kind, model_type=model_type, has_json=False, config={},
                  sentencepiece_bpe_model="hex:" + sentencepiece_model(model, special + normal, 0).hex())
    table.add("%s-json" % kind, kind, model_type=model_type)
    table.add("%s-json-class" % kind, kind, model_type=model_type, config={"tokenizer_class": name})
    table.add("%s-json-tokens" % kind, kind, model_type=model_type, config={"tokenizer_class": name, "additional_special_tokens": ["dog"], "mask_token": "<m>"})


def sentencepiece_rows(table):
    words = "\u2581the \u2581 \u2581d o g \u2581do \u2581dog l a z y az zy laz lazy \u2581l \u2581la \u2581lazy t h e th he the \u2581t \u2581th q u i c k [SEP]".split(" ")
    special = [("[PAD]", 0, 3), ("<unk>", 0, 2), ("[CLS]", 0, 3), ("[SEP]", 0, 3), ("[UNK]", 0, 3), ("<user>", 0, 4), ("dog ", 0, 4), ("OVER", 0, 4)]
    seen = {piece for piece, _, _ in special}
    normal = [(word, -float(index // 2), 1) for index, word in enumerate(dict.fromkeys(words)) if word not in seen]
    for name, model_type in (("unigram", 1), ("bpe", 2)):
        for lower in (True, False):
            table.add("pieces-%s-%d" % (name, lower), "unigram", has_json=False, model_type="deberta-v2", config={"do_lower_case": lower},
                      spm_model="hex:" + sentencepiece_model(model_type, special + normal).hex())
    table.add("pieces-word", "unigram", has_json=False, model_type="deberta-v2", config={},
              spm_model="hex:" + sentencepiece_model(3, special + normal).hex(), refused="SentencePiece model")


PATTERNS = [
    r"\d", r"\D+", r"\w+", r"\W", r"[\w]+", r"[^\w]", r"\s+", r"\S+", r"\p{L}+", r"\p{Lu}\p{Ll}*", r"\P{L}", r"\p{^N}+", r"[\p{P}\p{S}]", r"\p{M}",
    r"o", r"ow|o", r"(?:qu|br)(?:i|o)", r"(q|b)(u|r)", r"o*", r"x?", r"[a-e]{2,3}", r"[a-e]{2,3}?", r"o+?w", r"o??", r"", r"the|", r".", r"..", r"[^ ]*? ",
    r"^", r"$", r"^the", r"dog$", r"\Athe", r"\n\Z", r"\z", r"\b", r"\B", r"\bd", r"g\b", r"o(?=w)", r"o(?!w)", r"(?<=o)w", r"(?<!o)[a-z]", r"(?=o)",
    r"\s+(?!\S)|\s+", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:THE)", r"(?i:k)", r"[]x]", r"[a\-z]", r"[a-]", r"\x41", r"\u4e00", r"\.", r"a{,2}", r"{", r"a{x", r"(a|ab)(c|bcd)", r"(?:a|b)+?c", r"((o)|(w))*n",
    r"[A-Za-z]+(?=\s)", r"(?:(?=\p{L})\w)+", r"\h+", "\u4e2d|\u00c9", r"\r\n|\n", r"[\s\S]{5}", r"[^\S\n]+", r"\p{Nd}{2}", r"(?:ab?){2,4}",
]
REFUSED_PATTERNS = [r"a++", r"(?>a)", r"a**", r"\1(a)", r"[a[bc]]", r"[a&&b]", r"\p{Greek}", r"(?i:\u00e9)", r"(?<=ab)c", r"(?x: a)", r"[[:alpha:]]", r"x{2}?", r"(",
                    r"a{2001}", r"\R", r"(?i:ss)"]


def part_rows(table):
    plain = {"tokenizer_class": "PreTrainedTokenizerFast"}

    def split(pattern, behavior="Isolated", invert=False):
        return member("pre_tokenizer", {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert})

    for index, pattern in enumerate(PATTERNS):
        table.add("regex-split-%d" % index, "bert", config=plain, change=split(pattern))
        table.add("regex-replace-%d" % index, "bert", config=plain, change=both(
            normalizer({"type": "Replace", "pattern": {"Regex": pattern}, "content": "a-"}), member("decoder", {
                "type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"Regex": pattern}, "content": "<>"}, {"type": "Fuse"}]})))
    for index, behavior in enumerate(("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")):
        for number, pattern in enumerate((r"o", r"o*", r"\s|[a-f]+")):
            table.add("regex-%s-%d" % (behavior, number), "bert", config=plain, change=split(pattern, behavior, index % 2 == number % 2))
    for index, pattern in enumerate(REFUSED_PATTERNS):
        table.add("regex-refused-%d" % index, "bert", config=plain, change=split(pattern), refused="regular expression")
    words = ["[PAD]", "<unk>", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "lazy", ",", "over"]
    level = {"type": "WordLevel", "vocab": {word: index for index, word in enumerate(words)}, "unk_token": "<unk>"}
    table.add("model-word-level", "bert", config=plain, change=member("model", level))
    table.add("model-word-level-no-unknown", "bert", config=plain, change=member("model", {**level, "unk_token": "<none>"}))
    table.add("model-word-level-class", "bert", config={}, change=member("model", level))


def folders(fixtures):
    table = Table(fixtures)
    class_rows(table)
    normalizer_rows(table)
    token_rows(table)
    other_rows(table)
    roberta_rows(table)
    ends_rows(table)
    part_rows(table)
    sentencepiece_rows(table)
    pairwise_rows(table)
    names = [folder.name for folder in table.folders]
    assert len(names) == len(set(names))
    return table.folders


def short_cases():
    return [
        {"text": "The QUICK brown foxes of \u00c9t\u00e9, don't \u4e2d\u56fd!"},
        {"text": "the [MASK] dog[mask] [Mask].  lazy[X] and AND [NEW]"},
        {"text": "q x over the \U0001f600 Quick fox  of dogof of", "pair": "The lazy dog [SEP] [unk] [UNK] <m> <u>"},
        {"text": " the  dog \u0301 and\u00a0the\tfox\n lazy [UNK]"},
        {"text": "a 12\u0664 \u00bd\u2460 \U00011de0\U00011de1x \U0001ccf0 \u4e00"},
        {"text": "the quick brown fox over the lazy dog and of the quick", "truncation": "longest_first", "max_length": 9, "stride": 2},
        {"text": "the dog", "pair": "quick brown fox over the lazy dog and of", "truncation": "only_second", "max_length": 9, "stride": 1},
        {"text": ""},
        {"text": "\u0301"},
        {"text": "Lazy <mask> fox<mask>,  <s>dog</s> \u00c9t\u00e9<pad>", "pair": " over <unk>the  \u4e2d dogs "},
    ]


def cases(fixtures):
    """Lines of a full check: the short ones, and texts of the tokenizers' goldens."""
    found = short_cases()
    for name in ("bert", "added", "unigram"):
        with open(os.path.join(fixtures, "tokenizer", name + ".cases.jsonl"), encoding="utf-8") as file:
            for line in list(file)[::40]:
                case = json.loads(line)["case"] if "case" in json.loads(line) else json.loads(line)
                if isinstance(case.get("text"), str):
                    found.append({key: case[key] for key in ("text", "pair") if isinstance(case.get(key), str)})
    return found
