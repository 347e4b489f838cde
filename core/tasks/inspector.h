// Returns tokens, attention maps, span kernels, hidden states and logits of texts, pairs or token ids, or of one text with labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/labels/gliclass_reader.h"
#include "core/tasks/labels/gliner_reader.h"
#include "core/tasks/task.h"

namespace peruse {

struct InspectedInput : TextInput {
  // Token ids and their segments, which replace the text. Without segments all tokens are in segment 0.
  std::optional<std::vector<int32_t>> ids = {}, type_ids = {};
};

struct InspectionRequest {
  std::vector<InspectedInput> inputs;          // exactly one with `labels`
  bool output_attentions = false;              // attention probabilities, and the diagonal concentration of every head
  bool output_span_kernels = false;            // kernels of ConvBERT's (or DynamicConv's) convolution heads
  bool output_hidden_states = false;           // outputs of the embeddings and of every layer
  bool output_logits = false;                  // the head's output, before any activation
  bool output_attention_terms = false;         // terms of DeBERTa's attention scores, before the softmax
  std::optional<std::vector<int32_t>> layers;  // layers to return, -1 for the last; nullopt means all
  std::optional<std::vector<std::string>> labels;  // labels that a GLiNER or GLiClass model reads with the text
  bool truncation = false;                         // truncate a long text instead of returning kTextTooLong

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("output_attentions", &output_attentions);
    reader.Read("output_span_kernels", &output_span_kernels);
    reader.Read("output_hidden_states", &output_hidden_states);
    reader.Read("output_attention_terms", &output_attention_terms);
    reader.Read("output_logits", &output_logits);
    reader.ReadOptional("layers", &layers);
    reader.ReadOptional("labels", &labels);
    reader.Read("truncation", &truncation);
  }
};

struct InspectedToken {
  std::string token;
  int32_t id;
  TextSpan span;  // range in the text or pair that contains the token
  bool special;
  int32_t sequence;  // 0 for the text, 1 for the pair, -1 for special tokens
};

struct InspectedArray {
  std::vector<int64_t> dims;
  std::span<const float> values;  // row-major; valid until the model's next run
};

// Terms of one layer. Terms that the model does not have are empty.
struct InspectedTerms {
  std::vector<int64_t> dims;  // [heads, tokens, tokens]
  std::vector<float> content_to_content, content_to_position, position_to_content;
};

struct InspectionResult {
  std::vector<InspectedToken> tokens = {};
  // One array per layer. Empty lists were not requested.
  std::vector<InspectedArray> attentions = {};     // [heads, tokens, tokens]
  std::vector<InspectedArray> span_kernels = {};   // [tokens, heads, kernel_size]
  std::vector<InspectedArray> hidden_states = {};  // [tokens, hidden_size]
  std::vector<InspectedTerms> attention_terms = {};
  std::vector<std::vector<double>> diagonal_concentration = {};  // [layers][heads]
  // [labels] for heads on texts, otherwise [tokens, labels]; `values` is empty unless requested. GLiNER: [spans, labels], or
  // [words, labels, 3] with start, end and inside.
  InspectedArray logits = {};
  std::vector<TextSpan> spans = {};  // GLiNER: the span or word of each row of logits
};

class Inspector : public TaskOf<InspectionRequest, InspectionResult> {
 public:
  explicit Inspector(const TaskContext& context) : TaskOf(context), entities_(context), labelled_(context) {}
  Status Start() override;

 protected:
  std::vector<OutputId> Wanted() const override;
  Status Collect(const Reading& reading, size_t text) override;

 private:
  std::vector<InspectedToken> Tokens(size_t input, const text::Encoding& tokens) const;
  std::vector<int32_t> Layers(int32_t count) const;
  Status CheckRequest() const;
  Status CheckLogits() const;
  Status StartWithLabels();
  Result<text::Encoding> Tokenized(size_t input) const;
  Result<text::Encoding> TokensOfIds(size_t input) const;
  bool RunsAlone() const;
  Result<std::vector<Reading>> ReadWithLabels(std::vector<Reading>* labels);
  void AppendLogits(const Reading& reading, std::span<const float> logits);
  void GiveLabelLogits(InspectionResult* found) const;
  // Whether labels are compared with spans or words, and not with the whole text.
  bool compares_words() const { return std::holds_alternative<EntityInput>(model_.config().label_input); }
  Status CollectTerms(int32_t tokens, std::vector<InspectedTerms>* found) const;
  std::vector<double> Concentrations(std::span<const float> maps, int32_t tokens) const;

  EntityReader entities_;
  LabelledTextReader labelled_;
  std::vector<text::Offset> words_;  // words that the labels are compared with
  std::vector<float> label_logits_;  // logits of all readings so far
  std::vector<text::Offset> spans_;
};

}  // namespace peruse
