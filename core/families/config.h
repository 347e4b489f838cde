// Parsed config.json of any family: typed, with defaults and checks. Field names and defaults are those of transformers' configuration
// classes. Families read their own fields.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/families/config_reader.h"
#include "core/ops/activation.h"

namespace peruse {

enum class ProblemType : uint8_t { kUnspecified, kRegression, kSingleLabel, kMultiLabel };

// Generous bounds, which keep every product of two sizes within 32 bits.
inline constexpr int32_t kMaxVocabulary = 1 << 24;
inline constexpr int32_t kMaxHidden = 1 << 14;
inline constexpr int32_t kMaxIntermediate = 1 << 16;
inline constexpr int32_t kMaxLayers = 1 << 10;
inline constexpr int32_t kMaxPositions = 1 << 20;
inline constexpr int32_t kMaxTypes = 1 << 16;
inline constexpr int32_t kMaxLabels = 1 << 16;
inline constexpr int32_t kMaxKernel = 1 << 10;

// Defaults that differ between the families.
struct ConfigDefaults {
  int32_t vocab_size = 30522;
  int32_t hidden_size = 768;
  int32_t embedding_size = 0;  // 0 means hidden_size
  int32_t num_hidden_layers = 12;
  int32_t num_attention_heads = 12;
  int32_t intermediate_size = 3072;
  int32_t max_position_embeddings = 512;
  int32_t type_vocab_size = 2;
  float layer_norm_eps = 1e-12f;
};

// Families' names of the common fields.
struct ConfigFields {
  std::string_view hidden_size = "hidden_size";
  std::string_view num_hidden_layers = "num_hidden_layers";
  std::string_view num_attention_heads = "num_attention_heads";
  std::string_view intermediate_size = "intermediate_size";
  std::string_view hidden_act = "hidden_act";
  std::string_view embedding_size = "embedding_size";  // empty means that it always equals hidden_size
};

// A GLiNER's or GLiClass's settings for its texts with labels.
struct LabelPrompt {
  std::string marker;           // before each label
  std::string separator;        // after the last label
  int32_t marker_id = -1;       // -1 means that GLiNER's markers follow the vocabulary
  int32_t separator_id = -1;    // GLiClass
  bool embed_marker = true;     // the label's vector is the marker's, otherwise that of the following token
  int32_t max_words = 0;        // GLiNER: maximum words per window
  int32_t max_width = 0;        // maximum words of a span; 0 means spans of any width, found token by token
  bool last_token = false;      // a word's vector is its last token's, otherwise its first token's
  bool all_tokens = false;      // a word is represented by all of its tokens
  bool labels_first = false;    // GLiClass: labels precede the text
  bool from_separator = false;  // the text starts at the separator, otherwise it is the whole input
  bool whole_text = false;      // all tokens of the text count as words, otherwise its first one
  bool fill_text = false;       // transformers zero-pads the text to the full input length before pooling
  bool label_tokens = false;    // a label is represented by all of its tokens
  bool in_text = true;          // the input contains labels, or positions for them; otherwise labels are only vectors
  bool only_places = false;     // the input contains only the markers of labels
};

// The second encoder of a model that encodes labels separately.
struct LabelEncoder {
  int32_t vocab_size = 0;
  int32_t type_vocab_size = 0;
  int32_t max_tokens = 0;
  int32_t width = 0;  // width of label vectors
};

struct ModelConfig {
  static constexpr int32_t kUnlimited = std::numeric_limits<int32_t>::max();

  std::string model_type;          // as written, or inferred from `architectures`
  bool int8_weights = false;       // a q8 checkpoint, according to quantization_config (docs/precision.md)
  std::string architecture_class;  // architectures[0], such as "ConvBertForSequenceClassification"; may be empty

  int32_t vocab_size = 0;
  int32_t hidden_size = 0;
  int32_t embedding_size = 0;
  int32_t num_hidden_layers = 0;
  int32_t num_attention_heads = 0;
  int32_t intermediate_size = 0;
  Activation hidden_act = Activation::kGelu;
  int32_t max_position_embeddings = 0;
  int32_t type_vocab_size = 0;
  float layer_norm_eps = 0;
  bool tie_word_embeddings = true;

  // Maximum tokens of a text, including special tokens. kUnlimited without a position table.
  int32_t max_tokens = 0;

  std::vector<std::string> id2label;  // [num_labels]; "LABEL_0", ... if the file names none
  std::vector<int32_t> nameless;      // labels without a name in an id2label with gaps, ascending: see LabelName
  // In file order, in which transformers searches. From id2label if the file has no label2id.
  std::vector<std::pair<std::string, int32_t>> label2id;
  ProblemType problem_type = ProblemType::kUnspecified;
  LabelPrompt prompt;
  std::optional<LabelEncoder> label_encoder;
  std::string ranking_activation;  // a cross-encoder's, from sentence-transformers; may be empty

  int32_t num_labels() const { return static_cast<int32_t>(id2label.size()); }
  // Whether the head compares a text with labels that it also encodes (GLiNER, GLiClass).
  bool reads_labels() const { return !prompt.marker.empty(); }
};

// Reads the common fields. The reader keeps errors.
ModelConfig ReadModelConfig(ConfigReader& reader, const ConfigDefaults& defaults, const ConfigFields& fields);

// Replaces the labels of config.json.
void SetLabels(std::vector<std::string> id2label, ModelConfig* config);

// Returns a label's name, as a view into `config`. Errors: kMalformedFile if id2label names other labels but not this one. As in
// transformers, such a file loads, and only a result that needs the name fails (there with KeyError).
Result<std::string_view> LabelName(const ModelConfig& config, size_t label);

// Requires that the number of heads divides the hidden size.
void RequireWholeHeads(ConfigReader& reader, const ModelConfig& config);

}  // namespace peruse
