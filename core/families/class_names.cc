#include "core/families/class_names.h"

namespace peruse {
namespace {

struct Row {
  std::string_view end;  // of the class's name; the first row that fits counts
  ClassUse use;
};

constexpr Row kClasses[] = {
    {"ForSequenceClassification", {.head = Head::kSequenceClassification}},
    {"ForTokenClassification", {.head = Head::kTokenClassification}},
    {"ForQuestionAnswering", {.head = Head::kQuestionAnswering}},
    {"ForMaskedLM", {.head = Head::kMaskedLm}},
    {"ForMultipleChoice", {.head = Head::kMultipleChoice}},
    {"ElectraForPreTraining", {.head = Head::kReplacedTokenDetection}},
    {"GLiNER", {.head = Head::kEntities, .reads_labels = true}},
    {"GLiClassModel", {.head = Head::kSequenceClassification, .reads_labels = true}},
    {"GLiNER2", {.head = Head::kEntities, .reads_labels = true, .reads_schema = true}},
    {"SpanExtractorModel", {.head = Head::kEntities, .reads_labels = true, .reads_schema = true}},
    {"Model", {}},
};

struct RefusedType {
  std::string_view model_type;
  std::string_view why;
  std::string_view instead;
};

constexpr std::string_view kRmsNorms = "its layers have RMS norms, and heads that share keys and values";
constexpr std::string_view kEncoderDecoder = "it is an encoder with a decoder, with RMS norms";
constexpr std::string_view kModernBert = "a ModernBERT, or an XLM-RoBERTa for languages other than English";

constexpr RefusedType kRefused[] = {
    {"ultrabert", kRmsNorms, kModernBert},
    {"neobert", "its layers have RMS norms, and it rotates neighbouring columns", kModernBert},
    {"t5", kEncoderDecoder, "a DeBERTa or a ModernBERT"},
    {"mt5", kEncoderDecoder, "an mDeBERTa, or bge-m3 for vectors"},
    {"umt5", kEncoderDecoder, "an mDeBERTa, or bge-m3 for vectors"},
};

constexpr std::string_view kDecoders[] = {"gpt2", "gpt_neox", "llama", "mistral", "qwen2", "gemma", "gemma2", "phi3"};

bool IsDecoder(std::string_view model_type, std::string_view architecture) {
  for (const std::string_view known : kDecoders) {
    if (model_type == known) return true;
  }
  return architecture.ends_with("ForCausalLM") || architecture.ends_with("LMHeadModel");
}

std::string Message(std::string_view why, std::string_view instead) {
  return ": " + std::string(why) + "; use " + std::string(instead);
}

}  // namespace

std::optional<ClassUse> UseOfClass(std::string_view class_name) {
  for (const Row& row : kClasses) {
    if (class_name.ends_with(row.end)) return row.use;
  }
  return std::nullopt;
}

std::string_view ClassOf(const ClassUse& use) {
  for (const Row& row : kClasses) {
    if (row.use == use) return row.end;
  }
  return "";
}

std::string_view ClassSuffix(Head head) {
  const std::string_view end = ClassOf({.head = head});
  return end.starts_with("For") ? end : "";
}

std::optional<Head> ClassifierOfClass(std::string_view class_name) {
  for (const Head head : {Head::kSequenceClassification, Head::kTokenClassification, Head::kMultipleChoice}) {
    if (class_name.ends_with(ClassSuffix(head))) return head;
  }
  return std::nullopt;
}

std::string WhyRefused(std::string_view model_type, std::string_view architecture) {
  for (const RefusedType& refused : kRefused) {
    if (refused.model_type == model_type) return Message(refused.why, refused.instead);
  }
  if (!IsDecoder(model_type, architecture)) return {};
  return Message("it is a causal language model, and Peruse runs encoders", "an encoder that was trained for the task");
}

}  // namespace peruse
