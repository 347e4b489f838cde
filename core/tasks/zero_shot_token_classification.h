// Zero-shot entity recognition with a GLiNER model (gliner's predict_entities). A bi-encoder encodes labels separately and caches them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/labels/entity_decoding.h"
#include "core/tasks/labels/gliner_reader.h"
#include "core/tasks/task.h"
#include "core/tasks/word_text.h"

namespace peruse {

struct ZeroShotEntityRequest {
  std::vector<WordText> inputs;
  std::vector<std::string> labels;
  float threshold = 0.5f;    // minimum probability, exclusive
  bool flat_ner = true;      // whether entities must not overlap; otherwise one may contain another
  bool multi_label = false;  // the same words may have several labels

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("labels", &labels);
    reader.Read("threshold", &threshold);
    reader.Read("flat_ner", &flat_ner);
    reader.Read("multi_label", &multi_label);
  }
};

struct LabelledSpan {
  std::string label;
  std::string text;
  float score = 0;
  TextSpan span = {0, 0};
};

class ZeroShotTokenClassification : public TaskOf<ZeroShotEntityRequest, std::vector<LabelledSpan>> {
 public:
  static constexpr Head kHead = Head::kEntities;
  explicit ZeroShotTokenClassification(const TaskContext& context) : TaskOf(context), reader_(context) {}
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  void CollectSpans(const Reading& reading, const Matrix& logits);
  void CollectTokens(const Reading& reading, const Matrix& logits);

  EntityReader reader_;
  std::vector<std::vector<text::Offset>> words_;  // words of each input
  std::vector<EntityCandidate> candidates_;       // candidates of the current input
  std::vector<float> probabilities_;              // for a window that is scored token by token: [pairs, 3] so far
};

}  // namespace peruse
