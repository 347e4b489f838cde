// The common fields of config.json, with transformers' names and defaults. Families read their own fields.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/status.h"
#include "core/families/config_reader.h"
#include "core/families/label_input.h"
#include "core/formats/linear_spec.h"
#include "core/heads/heads.h"
#include "core/ops/activation.h"

namespace peruse {

enum class ProblemType : uint8_t { kUnspecified, kRegression, kSingleLabel, kMultiLabel };

// Generous limits that keep every product of two sizes within 32 bits.
inline constexpr int32_t kMaxVocabulary = 1 << 24;
inline constexpr int32_t kMaxHidden = 1 << 14;
inline constexpr int32_t kMaxIntermediate = 1 << 16;
inline constexpr int32_t kMaxLayers = 1 << 10;
inline constexpr int32_t kMaxPositions = 1 << 20;
inline constexpr int32_t kMaxTypes = 1 << 16;
inline constexpr int32_t kMaxLabels = 1 << 16;
inline constexpr int32_t kMaxKernel = 1 << 10;

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

struct ConfigFields {
  std::string_view hidden_size = "hidden_size";
  std::string_view num_hidden_layers = "num_hidden_layers";
  std::string_view num_attention_heads = "num_attention_heads";
  std::string_view intermediate_size = "intermediate_size";
  std::string_view hidden_act = "hidden_act";
  std::string_view embedding_size = "embedding_size";  // empty means that the size always equals hidden_size
};

struct LabelEncoder {
  int32_t vocab_size = 0;
  int32_t type_vocab_size = 0;
  int32_t max_tokens = 0;
  int32_t width = 0;
  // Tokens of the text's tokenizer without embeddings, at most: gliner adds special tokens that texts never contain.
  int32_t unused_tokens = 0;
};

// What core/tasks/bioes_path.h adds to the scores of steps between labels of neighbouring tokens.
struct PathBiases {
  float background_stay = 0;      // O to O
  float background_to_start = 0;  // O to B or S
  float inside_to_continue = 0;   // B or I to I
  float inside_to_end = 0;        // B or I to E
  float end_to_background = 0;    // E or S to O
  float end_to_start = 0;         // E or S to B or S
};

struct ModelConfig {
  static constexpr int32_t kUnlimited = std::numeric_limits<int32_t>::max();

  std::string model_type;  // model_type of config.json, or inferred from `architectures`
  std::optional<Precision>
      stored_precision;            // by quantization_config (docs/precision.md); nullopt if weights are floats
  std::string architecture_class;  // architectures[0], such as "ConvBertForSequenceClassification"; may be empty

  std::string lora_task;                  // name of the task whose adapter is applied; empty means none
  int32_t vocab_size = 0;                 // -1 means the tokenizer's size and those of added_tokens that it lacks
  std::vector<std::string> added_tokens;  // special tokens that the tokenizer may lack
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

  // Maximum number of tokens, including special tokens; kUnlimited if there is no position table.
  int32_t max_tokens = 0;

  std::vector<std::string> id2label;      // [num_labels]; "LABEL_0" and so on if the file does not name any
  std::vector<int32_t> nameless;          // labels without a name in an id2label with gaps, ascending (LabelName)
  std::optional<PathBiases> path_biases;  // present if spans are read from the best path of BIOES labels
  // In file order, in which transformers searches. Derived from id2label if the file does not have label2id.
  std::vector<std::pair<std::string, int32_t>> label2id;
  ProblemType problem_type = ProblemType::kUnspecified;
  LabelInput label_input;  // how the model receives labels; monostate if it does not read any
  std::optional<LabelEncoder> label_encoder;
  std::vector<int32_t>
      score_tokens;  // ids of Head::kLogitScore: the logit of the first, minus that of the second if there is one
  std::string ranking_activation;  // sentence-transformers' activation of a cross-encoder; may be empty
  SparsePooling sparse_pooling;    // for Head::kVocabulary; set by the loader
  int32_t token_vector = 0;        // for Head::kTokenVectors: the width of a row; set by the loader

  int32_t num_labels() const { return static_cast<int32_t>(id2label.size()); }
  // Whether the head compares the text with labels that the model encodes (GLiNER, GLiClass, GLiNER2).
  bool reads_labels() const { return label_input.index() != 0; }
  // Whether the head fills in a schema (GLiNER2); then reads_labels() is true.
  bool reads_schema() const { return std::holds_alternative<SchemaInput>(label_input); }
};

ModelConfig ReadModelConfig(ConfigReader& reader, const ConfigDefaults& defaults, const ConfigFields& fields);

void SetLabels(std::vector<std::string> id2label, ModelConfig* config);

// Returns the name of a label, as a view into `config`. Errors: kMalformedFile if id2label has names, but not this one. As in transformers,
// such a file loads, and only results that need the name fail.
Result<std::string_view> LabelName(const ModelConfig& config, size_t label);

void RequireWholeHeads(ConfigReader& reader, const ModelConfig& config);

}  // namespace peruse
