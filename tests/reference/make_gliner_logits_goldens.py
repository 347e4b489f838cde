"""Writes tests/fixtures/gliner/logits.json: raw logits of the package `gliner` for checkpoints of make_gliner_fixtures.py.

    python make_gliner_logits_goldens.py

Needs requirements-gliner.txt. By checkpoint: spans within the text [spans][labels], or for a token model [words][labels][3].
"""
import json

import gliner
import safetensors.torch
import torch
from make_gliner_fixtures import LABELS, OUT_DIR, TEXTS, logits_of, valid_spans

CASES = ("markerV0", "token", "bi", "bi-token")
TEXT = TEXTS[0]


def load(name):
    folder = OUT_DIR / name
    settings = json.loads((folder / "gliner_config.json").read_text())
    settings["model_name"] = str(OUT_DIR / "tokenizer")
    if settings.get("labels_encoder"):
        settings["labels_encoder"] = str(OUT_DIR / "labels")
    model = gliner.GLiNER.from_config(settings, backbone_from_pretrained=False)
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    missing, unexpected = model.model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()}, strict=False)
    assert not unexpected and all(name.endswith("position_ids") for name in missing), (missing, unexpected)
    return model.eval()


def main():
    torch.set_num_threads(1)
    goldens = {}
    for name in CASES:
        with torch.no_grad():
            logits = valid_spans(logits_of(load(name), TEXT)[1])
        goldens[name] = [[[round(float(x), 6) for x in row] for row in rows] if logits.dim() == 3 else [round(float(x), 6) for x in rows]
                         for rows in logits]
        print(name, tuple(logits.shape))
    (OUT_DIR / "logits.json").write_text(json.dumps({"text": TEXT, "labels": LABELS, "logits": goldens}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
