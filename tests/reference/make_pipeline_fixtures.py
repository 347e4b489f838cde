"""Runs the reference pipelines over tiny random checkpoints, with every option, and writes what they give.

    python make_pipeline_fixtures.py [--out-dir tests/fixtures/pipelines]

The layout is described in tests/fixtures/pipelines/README.md. A case whose order hangs on less than 1e-3 is left out, so that
rounding cannot change it; how many were is printed.

Needs what tools/train/requirements.txt names.
"""
import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy
import safetensors.torch
import tokenizers
import torch
import transformers
from transformers import (ConvBertTokenizerFast, DebertaTokenizerFast, DebertaV2TokenizerFast, pipeline)

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SCALE = 0.25
CLEAR = 1e-3

SENTENCES = [
    "The bees live in a hollow oak behind the mill.",
    "Zoë met Mr. O'Neill in Berlin, Germany, on Monday!",
    "A waste of two hours; the film is too long.",
    "Anna Schmidt works for the United Nations in Genève 🎉 and lives in Thun.",
    "unbelievable",
    "  white   space\tand a newline\n here ",
    "東京は日本の首都です。 Tokyo is the capital.",
    "He said: \"Don't go there, it's 3.50 $ a day.\"",
]
LONG = " ".join(SENTENCES[i % 4] for i in range(9))
QUESTIONS = [("Where do the bees live?", SENTENCES[0]), ("Who was met?", SENTENCES[1]), ("What is it?", SENTENCES[3]),
             ("Where is it?", SENTENCES[6]), ("Why?", LONG)]

SMALL = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48, "max_position_embeddings": 96}
DEBERTA = SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "max_relative_positions": 16, "pooler_hidden_size": 32}
FAMILIES = {
    "convbert": ("ConvBert", SMALL | {"embedding_size": 16, "head_ratio": 2, "conv_kernel_size": 5}),
    "deberta-v2": ("DebertaV2", DEBERTA | {"position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm",
                                           "position_biased_input": False, "type_vocab_size": 0}),
    "deberta": ("Deberta", DEBERTA | {"position_biased_input": False, "type_vocab_size": 0}),
}
ENTITIES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
HEADS = {
    "sequence": ("SequenceClassification", {"num_labels": 3}),
    "one-logit": ("SequenceClassification", {"num_labels": 1}),
    "token": ("TokenClassification", {"id2label": dict(enumerate(ENTITIES)), "label2id": {n: i for i, n in enumerate(ENTITIES)}}),
    "question": ("QuestionAnswering", {}),
    "masked-lm": ("MaskedLM", {}),
    "choice": ("MultipleChoice", {}),
}
FAMILY_HEADS = {"convbert": list(HEADS), "deberta-v2": ["sequence", "token", "question", "masked-lm"], "deberta": ["token", "question", "masked-lm"]}


def unigram_tokenizer(path):
    """A small SentencePiece-like tokenizer, trained on the sentences."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram())
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Strip(), tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    specials = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    trainer = tokenizers.trainers.UnigramTrainer(vocab_size=400, special_tokens=specials, unk_token="[UNK]", show_progress=False)
    tokenizer.train_from_iterator(SENTENCES[:6] + [q for q, _ in QUESTIONS], trainer)
    ids = {token: tokenizer.token_to_id(token) for token in specials}
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    tokenizer.save(str(path), pretty=False)


def tokenizer_of(family, folder):
    """The reference tokenizer, and the files from which Peruse makes its own."""
    limit = {"model_max_length": 96}
    fixtures = FIXTURES / "tokenizer"
    if family == "convbert":
        return ConvBertTokenizerFast(vocab_file=str(fixtures / "bert.vocab.txt"), **limit), {"vocab.txt": "tokenizer/bert.vocab.txt"}
    if family == "deberta":
        made = DebertaTokenizerFast(vocab_file=str(fixtures / "bpe.vocab.json"), merges_file=str(fixtures / "bpe.merges.txt"), **limit)
        made.save_pretrained(folder / "saved")
        shutil.copy(folder / "saved/tokenizer.json", folder / "tokenizer.json")
        shutil.rmtree(folder / "saved")
        return made, {"tokenizer.json": "pipelines/deberta/tokenizer.json"}
    unigram_tokenizer(folder / "tokenizer.json")
    return DebertaV2TokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **limit), {"tokenizer.json": "pipelines/deberta-v2/tokenizer.json"}


def randomise(module, seed):
    generator = torch.Generator().manual_seed(int(hashlib.sha256(seed.encode()).hexdigest()[:8], 16))
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            scale = 3.0 if name.startswith(("classifier", "qa_outputs")) else 1.0
            parameter.copy_((torch.randn(parameter.shape, generator=generator) * SCALE * scale).half())
            if name.endswith("LayerNorm.weight"):
                parameter.add_(1.0).copy_(parameter.half())


class Family:
    """One encoder with several heads: base.safetensors holds what they share, <head>.safetensors the rest."""

    def __init__(self, name, out):
        self.name, self.folder = name, out / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer, self.files = tokenizer_of(name, self.folder)
        prefix, config = FAMILIES[name]
        self.models, base = {}, None
        for head in FAMILY_HEADS[name]:
            suffix, extra = HEADS[head]
            model_class = getattr(transformers, f"{prefix}For{suffix}")
            settings = config | extra | {"vocab_size": len(self.tokenizer), "pad_token_id": self.tokenizer.pad_token_id}
            model = model_class._from_config(model_class.config_class(**settings), attn_implementation="eager").eval()
            encoder_name = model.base_model_prefix
            # The encoder last: a tied output matrix is its word embeddings.
            for part, module in sorted(model.named_children(), key=lambda child: child[0] == encoder_name):
                randomise(module, f"{name} encoder" if part == encoder_name else f"{name} {head} {part}")
            model.tie_weights()
            tensors = {key: value.half() for key, value in model.state_dict().items() if not key.endswith("position_ids")}
            shared = {key: value.contiguous().clone() for key, value in tensors.items() if key.startswith(encoder_name + ".")}
            tied = {key for key, value in model.state_dict().items() if value is not None and any(
                value.data_ptr() == other.data_ptr() for other in model.base_model.state_dict().values())}
            own = {key: value.contiguous().clone() for key, value in tensors.items() if key not in shared and key not in tied}
            if base is None:
                base = shared
                safetensors.torch.save_file(base, self.folder / "base.safetensors", metadata={"format": "pt"})
            assert all(torch.equal(base[key], shared[key]) for key in base), head
            if own:
                safetensors.torch.save_file(own, self.folder / f"{head}.safetensors", metadata={"format": "pt"})
            model.config.architectures = [model_class.__name__]
            (self.folder / f"{head}.config.json").write_text(json.dumps(model.config.to_diff_dict(), indent=1, sort_keys=True) + "\n")
            self.models[head] = model


class Cases:
    def __init__(self, family):
        self.family, self.cases, self.dropped = family, [], 0

    def add(self, task, head, inputs, expected, options=None, patch=None):
        if not is_clear(expected):
            self.dropped += 1
            return
        self.cases.append({"task": task, "head": head, "config": patch or {}, "inputs": inputs, "options": options or {}, "expected": expected})

    def pipe(self, task, head, patch=None):
        """The reference pipeline over a model whose configuration is changed by `patch`."""
        model = self.family.models[head]
        original = model.config.to_dict()
        for key, value in (patch or {}).items():
            setattr(model.config, key, {int(k): v for k, v in value.items()} if key == "id2label" else value)
        made = pipeline(task, model=model, tokenizer=self.family.tokenizer, device="cpu")
        restore = lambda: [setattr(model.config, key, {int(k): v for k, v in original[key].items()} if key == "id2label" else original.get(key))
                           for key in patch or {}]
        return made, restore


def scores_of(value):
    """Lists of scores whose order the result shows."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "score" in item for item in value):
        if "start" not in value[0] or "answer" in value[0]:
            yield [item["score"] for item in value]
    elif isinstance(value, dict) and "scores" in value:
        yield value["scores"]
    elif isinstance(value, list):
        for item in value:
            yield from scores_of(item)


def is_clear(expected):
    return all(abs(a - b) > CLEAR for scores in scores_of(expected) for a, b in zip(scores, scores[1:]))


def plain(value):
    if isinstance(value, (numpy.floating, float)):
        return round(float(value), 8)
    if isinstance(value, numpy.integer):
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def text_classification(cases):
    pairs = [{"text": question, "text_pair": context} for question, context in QUESTIONS[:3]]
    multi, regression = {"problem_type": "multi_label_classification"}, {"problem_type": "regression"}
    plans = [("sequence", None, {"top_k": None}), ("sequence", None, {"top_k": 2}), ("sequence", multi, {"top_k": None}),
             ("sequence", regression, {"top_k": None}), ("one-logit", None, {"top_k": None}), ("one-logit", regression, {"top_k": None})]
    plans += [("sequence", None, {"top_k": None, "function_to_apply": name}) for name in ("sigmoid", "softmax", "none")]
    plans += [("sequence", None, {"top_k": None, "truncation": True})]
    for head, patch, options in plans:
        if head not in cases.family.models:
            continue
        pipe, restore = cases.pipe("text-classification", head, patch)
        for text in SENTENCES[:4] + pairs + ([LONG] if "truncation" in options else []):
            cases.add("text-classification", head, text, plain(pipe([text], **options)[0]), options, patch)
        restore()


def zero_shot(cases):
    orders = [["contradiction", "neutral", "entailment"], ["ENTAILMENT", "neutral", "contradiction"], ["no", "entails", "maybe"]]
    labels = ["travel", "nature", "the film", "food"]
    for names in orders:
        patch = {"id2label": {str(i): name for i, name in enumerate(names)}, "label2id": {name: i for i, name in enumerate(names)}}
        pipe, restore = cases.pipe("zero-shot-classification", "sequence", patch)
        for text, options in [(SENTENCES[0], {}), (SENTENCES[2], {"multi_label": True}), (SENTENCES[3], {"hypothesis_template": "It tells of {}, yes."}), (LONG, {})]:
            for chosen in (labels, labels[:1]):
                cases.add("zero-shot-classification", "sequence", [text, chosen], plain(pipe(text, chosen, **options)), options, patch)
        restore()


def question_answering(cases):
    pipe, _ = cases.pipe("question-answering", "question")
    plans = [{}, {"top_k": 3}, {"max_answer_len": 2}, {"max_answer_len": 40}, {"handle_impossible_answer": True}, {"align_to_words": False},
             {"max_seq_len": 40, "doc_stride": 8}, {"max_seq_len": 40, "doc_stride": 0, "top_k": 2}, {"max_seq_len": 60}]
    for options in plans:
        for question, context in QUESTIONS:
            given = {"max_seq_len": 90, "doc_stride": 30} | options if context == LONG and "max_seq_len" not in options else options
            more = pipe(question=question, context=context, **(given | {"top_k": given.get("top_k", 1) + 1}))
            found = pipe(question=question, context=context, **given)
            if not is_clear(plain(more if isinstance(more, list) else [more])):
                cases.dropped += 1
                continue
            cases.add("question-answering", "question", [question, context], plain(found if isinstance(found, list) else [found]), given)


def token_classification(cases):
    pipe, _ = cases.pipe("token-classification", "token")
    for strategy in ("none", "simple", "first", "max", "average"):
        for options in ({}, {"ignore_labels": []}, {"ignore_labels": ["PER", "O", "B-PER"]}):
            for text in SENTENCES:
                given = {"aggregation_strategy": strategy} | options
                cases.add("token-classification", "token", text, plain(pipe(text, **given)), given)
    if cases.family.name == "convbert":
        return  # padding of the windows to a common length changes ConvBERT's results, see the documentation
    for strategy in ("simple", "first", "max", "average"):
        for stride in (0, 8):
            given = {"aggregation_strategy": strategy, "stride": stride}
            cases.add("token-classification", "token", LONG, plain(pipe(LONG, **given)), given)


def fill_mask(cases):
    pipe, _ = cases.pipe("fill-mask", "masked-lm")
    texts = ["The bees [MASK] in a hollow oak.", "[MASK]", "Zoë met [MASK] in Berlin, [MASK] on Monday!", "the end[MASK]."]
    for text in texts:
        for options in ({}, {"top_k": 2}, {"top_k": 3, "targets": ["the", "in", "bees", "unbelievably", "in"]}):
            found = plain(pipe(text, **options))
            cases.add("fill-mask", "masked-lm", text, found, options)


def feature_extraction(cases):
    head = FAMILY_HEADS[cases.family.name][0]
    model, tokenizer = cases.family.models[head], cases.family.tokenizer
    pipe, _ = cases.pipe("feature-extraction", head)
    for text in SENTENCES[:2]:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = model.base_model(**inputs, output_hidden_states=True).hidden_states
        last = numpy.array(model.base_model(**inputs)[0].detach()[0])
        for layer in (None, 0, 1, -2):
            hidden = last if layer is None else numpy.array(states[layer][0])
            for pooling in ("none", "cls", "mean", "max") if layer is None else ("mean",):
                vector = {"none": hidden, "cls": hidden[0], "mean": hidden.mean(axis=0), "max": hidden.max(axis=0)}[pooling]
                if pooling == "none":
                    vector = vector[:, :4]  # enough to tell
                options = {"pooling": pooling} | ({} if layer is None else {"layer": layer})
                cases.add("feature-extraction", head, text, numpy.round(vector, 7).tolist(), options)
                if pooling in ("cls", "mean") and layer is None:
                    unit = vector / max(numpy.linalg.norm(vector), 1e-12)
                    cases.add("feature-extraction", head, text, numpy.round(unit, 7).tolist(), options | {"normalize": True})


def logits_of(cases, head, *texts):
    inputs = cases.family.tokenizer(*texts, return_tensors="pt", truncation=True)
    if head == "choice":
        inputs = {key: value[None] for key, value in inputs.items()}
    with torch.no_grad():
        return cases.family.models[head](**inputs).logits.reshape(-1)[0].item()


def text_ranking(cases):
    """What sentence-transformers' CrossEncoder.rank does: sigmoid, unless the configuration names another activation."""
    sigmoid = lambda x: 1 / (1 + numpy.exp(-x))
    names = [({}, sigmoid), ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, float),
             ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"}, sigmoid)]
    query, documents = QUESTIONS[0][0], SENTENCES + [LONG]
    logits = [logits_of(cases, "one-logit", query, document) for document in documents]
    for patch, function in names:
        ranked = sorted(({"corpus_id": i, "score": function(x)} for i, x in enumerate(logits)), key=lambda one: -one["score"])
        cases.add("text-ranking", "one-logit", [query, documents], plain(ranked), {}, patch)
        cases.add("text-ranking", "one-logit", [query, documents], plain(ranked[:2]), {"top_k": 2}, patch)


def multiple_choice(cases):
    """The model's contract: the probabilities are the softmax of the choices' logits. Each choice unpadded, as Peruse reads it."""
    prompt, choices = SENTENCES[2], SENTENCES[3:7]
    logits = numpy.array([logits_of(cases, "choice", prompt, choice) for choice in choices])
    scores = numpy.exp(logits - logits.max()) / numpy.exp(logits - logits.max()).sum()
    ranked = sorted(({"choice": i, "score": s} for i, s in enumerate(scores)), key=lambda one: -one["score"])
    cases.add("multiple-choice", "choice", [prompt, choices], plain(ranked))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out-dir", type=Path, default=FIXTURES / "pipelines")
    parser.add_argument("--only", choices=list(FAMILIES))
    args = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for name in [args.only] if args.only else FAMILIES:
        family = Family(name, args.out_dir)
        cases = Cases(family)
        makers = {"sequence": [text_classification, zero_shot], "one-logit": [text_ranking], "token": [token_classification],
                  "question": [question_answering], "masked-lm": [fill_mask], "choice": [multiple_choice]}
        for head in FAMILY_HEADS[name]:
            for maker in makers[head]:
                maker(cases)
        feature_extraction(cases)
        content = {"transformers": transformers.__version__, "files": family.files, "cases": cases.cases}
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases.cases)
        head = json.dumps({key: value for key, value in content.items() if key != "cases"})
        (args.out_dir / name / "cases.json").write_text(head[:-1] + ', "cases": [\n' + lines + "\n]}\n", encoding="utf-8")
        print(f"{name}: {len(cases.cases)} cases, {cases.dropped} unclear ones left out")


if __name__ == "__main__":
    main()
