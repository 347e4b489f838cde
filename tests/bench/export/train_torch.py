"""PyTorch's side of `npm run bench -- --teach`: train_torch.py TOKENS TEXTS. One thread; prints JSON, times in milliseconds."""

import json
import sys
import time

import torch
import transformers
from torch.nn import functional

ROUNDS = 9


def main():
    tokens, texts = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    # The shape of tests/bench/train_bench.cc.
    config = transformers.ConvBertConfig(
        vocab_size=30522, hidden_size=256, embedding_size=128, num_hidden_layers=12, num_attention_heads=4, intermediate_size=1024, head_ratio=2,
        conv_kernel_size=9, num_groups=1, num_labels=2)
    model = transformers.ConvBertForSequenceClassification(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01)
    ids = torch.tensor([[1000 + (s * 977 + t * 131) % 20000 for t in range(tokens)] for s in range(texts)])
    labels = torch.tensor([s % 2 for s in range(texts)])

    def forward():
        model.eval()
        with torch.no_grad():
            model(input_ids=ids)

    def step():
        model.train()
        loss = functional.cross_entropy(model(input_ids=ids).logits, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    def milliseconds(work):
        start = time.process_time()
        work()
        return 1e3 * (time.process_time() - start)

    forward(), step()
    pairs = [(milliseconds(forward), milliseconds(step)) for _ in range(ROUNDS)]
    forward_least, step_least = (min(times) for times in zip(*pairs))
    print(json.dumps({"texts": texts, "tokens": tokens, "forward": forward_least, "step": step_least, "ratio": step_least / forward_least}))


if __name__ == "__main__":
    main()
