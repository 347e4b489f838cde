// The inputs of a GLiNER model: labels and the words of a text. A text of more words than the model was trained on is split into overlapping
// windows, without cutting spans; gliner ignores the excess. Many labels are processed in groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/labels/label_reader.h"
#include "core/tasks/task.h"
#include "core/tasks/word_text.h"

namespace peruse {

class EntityReader {
 public:
  explicit EntityReader(const TaskContext& context)
      : tokenizer_(context.tokenizer), model_(context.model), reader_(context) {}

  // Returns the readings of labels, which must run before all texts. max_tokens: the model's limit.
  Result<std::vector<Reading>> Start(std::span<const std::string> labels, int32_t max_tokens);
  void Collect(const Reading& reading, std::span<const float> vector) { reader_.Collect(reading, vector); }
  // Returns the windows of a text; a text without words has none. A window with too many pairs for one run becomes several readings.
  // found: byte ranges of the words. Errors: kTextTooLong if the labels leave no room.
  Result<std::vector<Reading>> Read(size_t input, const WordText& text, std::vector<text::Offset>* found) const;

  // Whether scores are those of spans; otherwise those of each word as the first, last or inner word of an entity.
  bool finds_spans() const { return format().max_width > 0; }
  // Without repetitions.
  const std::vector<std::string>& labels() const { return labels_; }

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
    std::vector<text::Offset> offsets;  // byte range of each token
    std::vector<int32_t> ends;          // for each word: index after its last token

    int32_t begin(size_t word) const { return word == 0 ? 0 : ends[word - 1]; }
    int32_t tokens(size_t first, size_t end) const { return begin(end) - begin(first); }
    void CutTo(size_t count) {
      if (count >= bytes.size()) return;
      bytes.resize(count);
      ends.resize(count);
    }
  };

  const EntityInput& format() const { return *std::get_if<EntityInput>(&model_.config().label_input); }
  Status ReadLabels(std::span<const std::string> labels);
  Result<std::vector<Prompt>> MakePrompts() const;
  // For a model that encodes labels separately: returns groups of labels without tokens.
  std::vector<Prompt> EmptyPrompts() const;
  Result<Words> ReadWords(const WordText& text) const;
  size_t WindowEnd(const Words& words, size_t first, size_t prompt_tokens) const;
  // Adds the words [first, end) after a prompt.
  void AddWindow(Reading reading, const Words& words, const Prompt& prompt, size_t first, size_t end,
                 std::vector<Reading>* readings) const;

  const text::Tokenizer& tokenizer_;
  const Runner& model_;
  LabelReader reader_;
  int32_t max_tokens_ = 0;
  std::vector<std::string> labels_;
  std::vector<Prompt> prompts_;
};

}  // namespace peruse
