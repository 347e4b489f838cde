"""Pre-training within a recipe for a GPU: the text, and masked words (pretraining.py) for a share of the run."""

import numpy as np

from shared.pretraining import Corpus, MaskedWords, Steps
from shared.texts import SENTIMENT_SETS, emotion_rows, general_documents, intent_rows, passages, read_lines, sentiment_rows
from shared.timed import rate_within

WINDOW = 128  # tokens of a row


def corpus_texts(data_dir):
    """(texts of the tasks, other texts) that may be trained on."""
    task = [text for text, _ in emotion_rows(data_dir, "train")] + [text for text, _ in intent_rows(data_dir, "train")] + passages(data_dir, "train")
    task += [text for name in SENTIMENT_SETS for _, text in sentiment_rows(data_dir, name, "train")]
    task += [line.split("\t")[1] for line in read_lines(data_dir / "classification" / "subjectivity-train.tsv.gz")]
    files = [path.name.removesuffix(".txt.xz") for path in sorted((data_dir / "english-text").glob("*.txt.xz"))]
    return task, [paragraph for name in files if "wikitext" not in name for document in general_documents(data_dir, name) for paragraph in document]


def corpus_ids(tokenizer, data_dir, own, share=1.0):
    """One array of token ids: the texts in any order, each ended by [SEP], those of the tasks `own` times. `share` of all, for a trial."""
    end, found = tokenizer.token_to_id("[SEP]"), []
    for texts, times in zip(corpus_texts(data_dir), (own, 1)):
        texts = texts[::round(1 / share)]
        for start in range(0, len(texts), 4000):
            encoded = tokenizer.encode_batch(texts[start:start + 4000], add_special_tokens=False)
            found += [np.array([*encoding.ids, end], np.uint16) for encoding in encoded] * times
    return np.concatenate([found[number] for number in np.random.default_rng(1).permutation(len(found))])


def pretrain(model, ids, vocab, device, clock, end, tokens, rate, autocast):
    """Trains the encoder of `model` until `end` of the run. `ids` is the whole corpus on the CPU."""
    words = MaskedWords(model.base_model, Corpus(ids, vocab, device)).to(device).train()
    steps, start, loss = Steps([words], model.base_model), clock.progress, None
    while (progress := clock.progress) < end:
        with autocast():
            loss = words(tokens // WINDOW, WINDOW)
        steps.step(loss, rate * rate_within(progress, start, end))
        if steps.number % 20 == 0 and clock.due():
            clock.say(f"pre-training step {steps.number} ({steps.number * tokens / 1e6:.0f} M tokens) loss {loss.item():.3f}")
    last = loss.item() if loss is not None else 0
    print(f"{clock.name}: pre-trained {steps.number} steps, {steps.number * tokens / 1e6:.0f} M tokens, loss {last:.3f}", flush=True)
