"""The reader's recipe: a saved reader continues with questions that people asked, some of them about another passage, without an answer.

Goes on from OUT/checkpoint.pt; --steps may differ then, and the rate falls over the last part of them. OUT/best is the mean of the
weights that was best on the choosing part.
"""

import random

from torch.nn import functional as F
from transformers import DebertaV2ForQuestionAnswering

from shared import attention
from shared.facts import FactMaker, Facts
from shared.reading import measure, of_facts
from shared.recurring import recurring_rows
from shared.span_batches import Batches, Joined, Renamed, Unanswered, encode_rows
from shared.texts import qamr_rows, reader_rows
from shared.training import Run, at, cached, load_model, recipe_parser, single_thread, train_steps

# Shares of the sources, by progress.
STAGES = [(0.0, {"sentence": 0.12, "real": 0.73, "facts": 0.15}), (0.6, {"sentence": 0.05, "real": 0.83, "facts": 0.12})]
WITH_RECURRING = [(0.0, {"sentence": 0.08, "real": 0.45, "facts": 0.12, "recurring": 0.35}), (0.4, {"sentence": 0.05, "real": 0.72, "facts": 0.13, "recurring": 0.1}),
                  (0.7, STAGES[-1][1])]
WINDOWS = [(0.0, 128), (0.5, 160), (0.85, 256)]  # tokens of a window, from these parts of the steps on

# Shares of all examples: renamed words; of questions: those whose passage lacks the answer. `recurring` is the number of examples with recurring spans.
SETTINGS = {"batch_tokens": 2560, "renamed": 0.05, "unanswered": 0.3, "recurring": 0}
CHOICE = {"f1": 1.0, "f1 where it may decline": 1.0, "declines without the sentence": 0.2, "facts exact": 0.1, "facts declined": 0.1}


def span_logits(model, inputs):
    output, hidden = model(**inputs), inputs["attention_mask"] == 0
    return [logits.float().masked_fill(hidden, -1e4) for logits in (output.start_logits, output.end_logits)]


def span_loss(model, inputs, first, last):
    start, end = span_logits(model, inputs)
    return (F.cross_entropy(start, first) + F.cross_entropy(end, last)) / 2


def choosing_rows(data_dir, count):
    rows = [row for part in reader_rows(data_dir, "dev").values() for row in part]
    random.Random(0).shuffle(rows)
    return rows[:count]


def make_sources(args, tokenizer, vocab, rng):
    real = encode_rows(tokenizer, [row for part in reader_rows(args.data_dir, "train").values() for row in part])
    sentence = encode_rows(tokenizer, qamr_rows(args.data_dir, "train"))
    ends = [vocab[mark] for mark in ".?!"]
    listed = {"sentence": Joined(sentence, rng), "real": real, "facts": Facts("train", tokenizer, rng)}
    if args.recurring:
        listed["recurring"] = cached(args.out_dir / "recurring.pickle", lambda: encode_rows(tokenizer, recurring_rows(args.data_dir, args.recurring)))
    listed |= {name: Unanswered(listed[name], args.unanswered, rng, ends) for name in ("sentence", "real")}
    listed = {name: Renamed(examples, args.renamed, len(vocab), rng) for name, examples in listed.items()}
    return {name: Batches(examples, args.batch_tokens, rng, vocab) for name, examples in listed.items()}


def train(run, tokenizer, args, loss=span_loss):
    """Trains on batches of questions; `loss(model, inputs, first, last)` is that of one, whose answers have these first and last tokens."""
    vocab, rng = tokenizer.get_vocab(), random.Random(args.seed + run.number)
    sources, held_out = make_sources(args, tokenizer, vocab, rng), choosing_rows(args.data_dir, 400)
    facts = FactMaker("dev", random.Random(3)).rows(200)
    stages = WITH_RECURRING if args.recurring else STAGES

    def loss_of(progress):
        shares = at(stages, progress)
        return loss(run.model, *sources[rng.choices(list(shares), shares.values())[0]].next(at(WINDOWS, progress)))

    def choice(averaged):
        found = measure(averaged, tokenizer, held_out) | of_facts(averaged, tokenizer, facts)
        print("choosing part:", found, flush=True)
        return sum(CHOICE[name] * found[name] for name in CHOICE)

    train_steps(run, args, loss_of, choice, decay=0.35)


def main():
    args = recipe_parser(__doc__, "steps", rate=4e-4, dropout=0.08, evaluate_every=400, **SETTINGS).parse_args()
    single_thread(args.seed)
    attention.use()
    model, tokenizer = load_model(DebertaV2ForQuestionAnswering, args.weights, args.dropout)
    train(Run(model, args.weights, args.out_dir), tokenizer, args)


if __name__ == "__main__":
    main()
