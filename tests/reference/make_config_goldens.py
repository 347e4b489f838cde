"""Writes tests/fixtures/configs.json: config.json files at the edge of what transformers reads, and what it makes of each.

    python make_config_goldens.py

For each: the file's text, the classes' model_type and the names that the pipelines give the labels (a number that names a label becomes text; null
where a pipeline raises KeyError because the label has no name); "refused" where the class does not load the file or cannot run it.
A file without model_type is read by the class that `architectures` names: AutoConfig guesses from the folder's name alone.

Needs: tests/reference/requirements.txt.
"""
import json
import tempfile
from pathlib import Path

import torch
import transformers
from transformers.pipelines.token_classification import AggregationStrategy

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "configs.json"
SIZES = {"vocab_size": 16, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
         "max_position_embeddings": 40}
DISTIL = {"vocab_size": 16, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 40}
BUCKETS = {"model_type": "deberta-v2", "relative_attention": True, "pos_att_type": "c2p|p2c", "position_biased_input": False}


def configs():
    bert = {"model_type": "bert"}
    for about, labels in [
            ("names", {"0": "no", "1": "yes"}), ("in another order", {"1": "yes", "0": "no"}), ("numbers", {"0": 1, "1": 2, "2": -3}),
            ("fractions", {"0": 0.5, "1": "one"}), ("a gap", {"0": "a", "2": "b"}), ("far away", {"0": "a", "1": "b", "70000": "c"}),
            ("from one", {"1": "a", "2": "b"}), ("negative", {"-1": "a", "0": "b"}), ("a list", ["a", "b"]), ("an empty list", []),
            ("words", {"a": "0"}), ("null", None), ("a number", 3), ("a list of pairs", [[0, "a"]]), ("a fraction", {"0.0": "a"}),
            ("numbers of every size", {"0": 1.0, "1": 123456.75, "2": 1e-4, "3": -0.0, "4": 0.1, "5": 1234567890123456789, "6": -1e15, "7": 0.30000000000000004})]:
        yield "id2label: " + about, "BertForSequenceClassification", bert | {"id2label": labels}
    yield "fewer names than num_labels", "BertForSequenceClassification", bert | {"id2label": {"0": "a"}, "num_labels": 3}
    yield "more names than num_labels", "BertForSequenceClassification", bert | {"id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 2}
    yield "a gap beside num_labels", "BertForSequenceClassification", bert | {"id2label": {"0": "a", "2": "b"}, "num_labels": 3}
    yield "no names", "BertModel", bert | {"id2label": {}}
    yield "no names beside num_labels", "BertForSequenceClassification", bert | {"id2label": {}, "num_labels": 3}
    yield "num_labels", "BertForTokenClassification", bert | {"num_labels": 3}
    yield "id2label with a gap, of tags", "BertForTokenClassification", bert | {"id2label": {"0": "O", "3": "B-X"}}
    for name in ("Bert", "Electra", "ConvBert", "Deberta", "DebertaV2", "Roberta", "XLMRoberta", "DistilBert"):
        yield "no model_type", name + "ForSequenceClassification", {}
        yield "no model_type", name + "Model", {}
    yield "layer_norm_eps: a string", "BertForSequenceClassification", bert | {"layer_norm_eps": "1e-12"}
    yield "layer_norm_eps: a string", "DebertaForSequenceClassification", {"model_type": "deberta", "layer_norm_eps": "1e-7"}
    for name in ("gelu_accurate", "gelu_python_tanh", "leaky_relu", "relu2", "laplace", "swiglu"):
        yield "hidden_act", "BertForSequenceClassification", bert | {"hidden_act": name}
    electra = {"model_type": "electra", "embedding_size": 16}
    for fields in ({"summary_type": "mean"}, {"summary_type": "attn"}, {"summary_proj_to_labels": True, "num_labels": 3},
                   {"summary_proj_to_labels": True, "num_labels": 16}, {"summary_proj_to_labels": True, "num_labels": 3, "summary_use_proj": False}):
        yield "summary", "ElectraForMultipleChoice", electra | fields
    for buckets, most in ((8, 3), (8, 1), (256, 100), (2, 1)):
        yield "buckets", "DebertaV2ForSequenceClassification", BUCKETS | {"position_buckets": buckets, "max_relative_positions": most}


def load(name, folder):
    model_class = getattr(transformers, name)
    with open(folder + "/config.json", encoding="utf-8") as file:
        typed = "model_type" in json.load(file)
    config = transformers.AutoConfig.from_pretrained(folder) if typed else model_class.config_class.from_pretrained(folder)
    return model_class(config).eval()


def golden(name, fields):
    sizes = DISTIL if name.startswith("DistilBert") else SIZES
    config = {"architectures": [name], **sizes, **fields}
    ids = torch.tensor([[[1, 2, 3, 4, 5, 6]]] if "MultipleChoice" in name else [[1, 2, 3, 4, 5, 6]])
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/config.json", "w", encoding="utf-8") as file:
            json.dump(config, file)
        try:
            model = load(name, folder)
            with torch.no_grad():
                model(input_ids=ids)
        except Exception as error:  # noqa: BLE001: whatever it says, it refuses
            return config, {"refused": type(error).__name__}
    found = {"model_type": model.config.model_type}
    if "SequenceClassification" in name or "TokenClassification" in name:
        found["labels"] = [label_of(model, name, index) for index in range(model.config.num_labels)]
    return config, found


def label_of(model, name, best):
    """The pipeline's name of label `best`, if its score is the highest."""
    scores = torch.zeros(model.config.num_labels)
    scores[best] = 9
    try:
        if "Token" in name:
            pipeline = object.__new__(transformers.TokenClassificationPipeline)
            pipeline.model = model
            token = {"word": "a", "scores": scores.numpy(), "start": 0, "end": 1, "index": 1, "is_subword": False}
            return str(pipeline.aggregate([token], AggregationStrategy.NONE)[0]["entity"])
        pipeline = object.__new__(transformers.TextClassificationPipeline)
        pipeline.model, pipeline.framework = model, "pt"
        return str(pipeline.postprocess({"logits": scores[None]})["label"])
    except KeyError:
        return None


def main():
    transformers.logging.set_verbosity_error()
    lines = []
    for about, name, fields in configs():
        config, found = golden(name, fields)
        lines.append(json.dumps({"about": about, "config": json.dumps(config), **found}))
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


main()
