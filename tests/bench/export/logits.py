"""A model that returns its logits alone, as exporters need it."""

import torch
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

CLASSES = {
    "question-answering": AutoModelForQuestionAnswering,
    "text-classification": AutoModelForSequenceClassification,
}


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        if getattr(self.model.config, "use_bidirectional_attention", False):
            attention_mask = self.two_sided_masks(input_ids, attention_mask)
        output = self.model(input_ids=input_ids, attention_mask=attention_mask)
        if hasattr(output, "logits"):
            return output.logits
        return torch.stack([output.start_logits, output.end_logits], dim=-1)

    def two_sided_masks(self, input_ids, attention_mask):
        """What Gemma 3 adds to the scores of its two kinds of layers, [batch, 1, tokens, tokens]: tracing fails in the library's own function."""
        positions = torch.arange(input_ids.shape[1])
        near = (positions[:, None] - positions[None]).abs() < self.model.config.sliding_window
        seen = (attention_mask[:, None, None] == 1).expand(-1, 1, input_ids.shape[1], -1)
        lowest = torch.finfo(torch.float32).min
        return {
            "full_attention": torch.where(seen, 0.0, lowest),
            "sliding_attention": torch.where(seen & near, 0.0, lowest),
        }
