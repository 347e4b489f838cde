#include "core/families/class_names.h"

namespace peruse {

std::string_view ClassSuffix(Head head) {
  switch (head) {
    case Head::kSequenceClassification:
      return "ForSequenceClassification";
    case Head::kTokenClassification:
      return "ForTokenClassification";
    case Head::kQuestionAnswering:
      return "ForQuestionAnswering";
    case Head::kMaskedLm:
      return "ForMaskedLM";
    case Head::kMultipleChoice:
      return "ForMultipleChoice";
    case Head::kNone:
    case Head::kReplacedTokenDetection:
    case Head::kEntities:
      return "";
  }
  return "";
}

std::optional<Head> ClassifierOfClass(std::string_view class_name) {
  for (const Head head : {Head::kSequenceClassification, Head::kTokenClassification, Head::kMultipleChoice}) {
    if (class_name.ends_with(ClassSuffix(head))) return head;
  }
  return std::nullopt;
}

}  // namespace peruse
