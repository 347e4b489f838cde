// Zero-shot entity recognition with a GLiNER model (gliner's predict_entities). A text of more words than the model was trained on is split
// into overlapping windows, without cutting spans; gliner ignores the excess. Many labels are processed in groups. A bi-encoder encodes
// labels separately and caches them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/entity_decoding.h"
#include "core/tasks/label_reader.h"
#include "core/tasks/task.h"

namespace peruse {

struct ZeroShotEntityRequest {
  std::vector<std::string> inputs;
  std::vector<std::string> labels;
  float threshold = 0.5f;    // minimum probability, exclusive
  bool flat_ner = true;      // whether entities must not overlap; otherwise one may contain another
  bool multi_label = false;  // the same words may have several labels
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
  // A group of labels, and the tokens that precede the text for them.
  struct Prompt {
    std::vector<int32_t> ids;   // tokens before the first word
    std::vector<int32_t> rows;  // rows of the labels among these tokens
    int32_t first_label = 0;
  };
  struct Words {
    std::vector<text::Offset> bytes;
    std::vector<int32_t> ids;
    std::vector<int32_t> ends;  // for each word: index after its last token

    int32_t begin(size_t word) const { return word == 0 ? 0 : ends[word - 1]; }
    int32_t tokens(size_t first, size_t end) const { return begin(end) - begin(first); }
  };

  Status ReadLabels();
  Result<std::vector<Prompt>> MakePrompts() const;
  // For a model that encodes labels separately: returns groups of labels without tokens.
  std::vector<Prompt> EmptyPrompts() const;
  Result<Words> ReadWords(std::string_view text) const;
  size_t WindowEnd(const Words& words, size_t first, size_t prompt_tokens) const;
  Status EnqueueText(size_t input, const Words& words, std::span<const Prompt> prompts);
  // Enqueues the words [first, end) after a prompt. Uses several readings if there are too many pairs for one run (kMostPairs).
  void EnqueueWindow(size_t input, const Words& words, const Prompt& prompt, size_t first, size_t end,
                     bool last_window);
  void CollectSpans(const Reading& reading, const Matrix& logits);
  void CollectTokens(const Reading& reading, const Matrix& logits);

  LabelReader reader_;
  std::vector<std::string> labels_;               // without repetitions
  std::vector<std::vector<text::Offset>> words_;  // words of each input
  std::vector<EntityCandidate> candidates_;       // candidates of the current input
  std::vector<float> probabilities_;              // for a window that is scored token by token: [pairs, 3] so far
};

}  // namespace peruse
