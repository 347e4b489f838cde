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
        output = self.model(input_ids=input_ids, attention_mask=attention_mask)
        if hasattr(output, "logits"):
            return output.logits
        return torch.stack([output.start_logits, output.end_logits], dim=-1)
