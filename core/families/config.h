// What config.json says about a model of any family: typed, defaulted and checked. Field names and defaults are those of
// transformers' configuration classes. What only one family has is read by that family.
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

// Generous bounds that keep every product of two sizes within 32 bits.
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
  int32_t embedding_size = 0;  // 0: as hidden_size
  int32_t num_hidden_layers = 12;
  int32_t num_attention_heads = 12;
  int32_t intermediate_size = 3072;
  int32_t max_position_embeddings = 512;
  int32_t type_vocab_size = 2;
  float layer_norm_eps = 1e-12f;
};

// How families spell the common fields.
struct ConfigFields {
  std::string_view hidden_size = "hidden_size";
  std::string_view num_hidden_layers = "num_hidden_layers";
  std::string_view num_attention_heads = "num_attention_heads";
  std::string_view intermediate_size = "intermediate_size";
  std::string_view hidden_act = "hidden_act";
  std::string_view embedding_size = "embedding_size";  // empty: always hidden_size
};

// What a GLiNER or GLiClass checkpoint says of the texts that its head reads.
struct LabelPrompt {
  std::string marker;           // before each label
  std::string separator;        // behind the last one
  int32_t marker_id = -1;       // -1: GLiNER's markers are not of the vocabulary; their ids follow it
  int32_t separator_id = -1;    // GLiClass
  bool embed_marker = true;     // the marker's vector is the label's; else that of the token behind it
  int32_t max_words = 0;        // GLiNER: words that are read at once
  int32_t max_width = 0;        // words of the longest span; 0: spans of any width, found token by token
  bool last_token = false;      // a word's last token stands for it, not its first
  bool all_tokens = false;      // all of a word's tokens stand for it together
  bool labels_first = false;    // GLiClass: before the text, not behind it
  bool from_separator = false;  // the text is what stands from the separator on; else all that is read
  bool whole_text = false;      // all tokens of the text are the words; else its first one
  bool fill_text =
      false;  // the reference pools the text with rows of zeros behind it, to the length of all that is read
  bool label_tokens = false;  // all of a label's tokens stand for it together
  bool in_text =
      true;  // labels, or places for them, stand in what is read; else their vectors are all there is of them
  bool only_places = false;  // of each label its marker alone
};

// The second encoder of a model that reads labels apart from texts.
struct LabelEncoder {
  int32_t vocab_size = 0;
  int32_t type_vocab_size = 0;
  int32_t max_tokens = 0;
  int32_t width = 0;  // of a label's vector
};

struct ModelConfig {
  static constexpr int32_t kUnlimited = std::numeric_limits<int32_t>::max();

  std::string model_type;          // as written, or what `architectures` tells
  bool int8_weights = false;       // a q8 checkpoint: quantization_config says so (docs/precision.md)
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

  // Tokens that one text may have, special tokens included. kUnlimited where no table of positions bounds it.
  int32_t max_tokens = 0;

  std::vector<std::string> id2label;  // [num_labels]; "LABEL_0", ... where the file names none
  std::vector<int32_t> nameless;      // labels that an id2label with gaps leaves out, in order: see LabelName
  // The file's own order, which is the reference's where it looks for a label. Of id2label where the file has none.
  std::vector<std::pair<std::string, int32_t>> label2id;
  ProblemType problem_type = ProblemType::kUnspecified;
  LabelPrompt prompt;
  std::optional<LabelEncoder> label_encoder;
  std::string ranking_activation;  // a cross-encoder's, as sentence-transformers writes it; empty: none is named

  int32_t num_labels() const { return static_cast<int32_t>(id2label.size()); }
  // Whether the head compares a text with labels that it reads too (GLiNER, GLiClass).
  bool reads_labels() const { return !prompt.marker.empty(); }
};

// Reads the fields that all families have. Errors go to the reader.
ModelConfig ReadModelConfig(ConfigReader& reader, const ConfigDefaults& defaults, const ConfigFields& fields);

// Puts other labels in the place of those of config.json.
void SetLabels(std::vector<std::string> id2label, ModelConfig* config);

// The name that an answer gives to a label. kMalformedFile where id2label names others but not this one: the reference
// loads such a file too, and raises KeyError when an answer needs that name. The view is of the configuration.
Result<std::string_view> LabelName(const ModelConfig& config, size_t label);

// Refuses heads that do not divide the hidden size.
void RequireWholeHeads(ConfigReader& reader, const ModelConfig& config);

}  // namespace peruse
