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

}  // namespace peruse
