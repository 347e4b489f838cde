// GLiClass (Stepanov et al., 2025; gliclass's uni-encoder, bi-encoder, fused bi-encoder): classifies a text with all labels in one run.
#include <optional>

#include "core/families/wrapped.h"

namespace peruse {
namespace {

using Labels = LabelHead::Labels;

class GliClass : public WrappedEncoder {
 public:
  GliClass(ConfiguredFamily encoder, std::optional<ConfiguredFamily> labels, LabelHead head, bool segments)
      : WrappedEncoder(std::move(encoder), "model.encoder_model."),
        labels_(std::move(labels)),
        head_(std::move(head)),
        segments_(segments) {}

  std::optional<LabelHead> LabelScores() const override { return head_; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    constexpr int32_t kSegments = 3;
    if (labels_) EncodeLabels(b, config);
    Build::WordChanges changes;
    if (head_.labels == Labels::kPlaces) changes.rows = b.Input(0, {Domain::kLabels, 1}, config.hidden_size);
    if (segments_) changes.segments = "model.segment_embeddings.weight";
    changes.segment_count = kSegments;
    b.ChangeWords(std::move(changes));
    return WrappedEncoder::Encode(b, config);
  }

 private:
  void EncodeLabels(Build& b, const ModelConfig& config) const {
    b.BeginPart("model.label_encoder.");
    const Value hidden = labels_->family->Encode(b, labels_->config);
    b.EndPart();
    b.Output(kLabelVectors, LabelVectorsOf(b, hidden, head_, config.hidden_size));
  }

  const std::optional<ConfiguredFamily> labels_;
  const LabelHead head_;
  const bool segments_;
};

// Rejects variants that are different models, or that no published checkpoint uses.
void RefuseOthers(ConfigReader& reader) {
  for (const std::string_view field : {"squeeze_layers", "use_calibrator"}) {
    RefuseIf(reader, reader.Bool(field, false), "a GLiClass with " + std::string(field));
  }
}

Labels ReadArchitecture(ConfigReader& reader) {
  const std::string architecture = reader.String("architecture_type", "uni-encoder");
  if (architecture == "bi-encoder") return Labels::kVectors;
  if (architecture == "bi-encoder-fused") return Labels::kPlaces;
  RefuseIf(reader, architecture != "uni-encoder", "architecture_type \"" + architecture + "\"");
  return Labels::kRows;
}

LabelHead::Scorer ReadScorer(ConfigReader& reader) {
  constexpr std::pair<std::string_view, LabelHead::Scorer> kScorers[] = {
      {"simple", LabelHead::Scorer::kDot},
      {"weighted-dot", LabelHead::Scorer::kWeightedDot},
      {"mlp", LabelHead::Scorer::kMlp},
      {"hopfield", LabelHead::Scorer::kHopfield},
      {"cross-attn", LabelHead::Scorer::kCrossAttention},
  };
  const std::string name = reader.String("scorer_type", "simple");
  for (const auto& [known, scorer] : kScorers) {
    if (name == known) return scorer;
  }
  RefuseIf(reader, true, "scorer_type \"" + name + "\"");
  return LabelHead::Scorer::kDot;
}

void ReadPooling(ConfigReader& reader, LabelHead& head) {
  using Kind = ops::PoolRows::Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"avg", Kind::kMean},           {"sum", Kind::kSum},         {"max", Kind::kMax},
      {"rms", Kind::kRootMeanSquare}, {"abs_avg", Kind::kAbsMean}, {"abs_max", Kind::kAbsMax},
  };
  const std::string name = reader.String("pooling_strategy", "first");
  const bool crosses = head.scorer == LabelHead::Scorer::kCrossAttention;
  RefuseIf(reader, crosses != (name == "pass"),
           "pooling_strategy \"" + name + "\" with scorer_type \"" + reader.String("scorer_type", "simple") + "\"");
  if (name == "pass" || name == "last" || name == "first") {
    head.pooling = name == "pass"   ? LabelHead::Pooling::kNone
                   : name == "last" ? LabelHead::Pooling::kLast
                                    : LabelHead::Pooling::kFirst;
    return;
  }
  head.pooling = LabelHead::Pooling::kPooled;
  for (const auto& [known, kind] : kKinds) {
    if (name != known) continue;
    head.pool = kind;
    return;
  }
  RefuseIf(reader, true, "pooling_strategy \"" + name + "\"");
}

// gliclass reserves max_labels_alloc places for labels, and the softmax of the scorer "hopfield" includes the empty places.
void RefuseAllocated(ConfigReader& reader, LabelHead::Scorer scorer) {
  const JsonValue allocated = reader.Field("max_labels_alloc");
  RefuseIf(reader, scorer == LabelHead::Scorer::kHopfield && allocated.exists() && allocated.GetString() != "dynamic",
           "scorer_type \"hopfield\" with a max_labels_alloc that is not \"dynamic\"");
}

LabelHead ReadHead(ConfigReader& reader) {
  LabelHead head;
  head.labels = ReadArchitecture(reader);
  head.scorer = ReadScorer(reader);
  RefuseAllocated(reader, head.scorer);
  ReadPooling(reader, head);
  head.activation = reader.ActivationOf("projector_hidden_act", Activation::kGelu);
  head.normalize = reader.Bool("normalize_features", false);
  // gliclass ignores the options below in bi-encoders.
  if (head.labels == Labels::kRows) {
    head.lstm = reader.Bool("use_lstm", false);
    const std::string of_labels = reader.String("class_token_pooling", "first");
    head.average_labels = of_labels == "average";
    RefuseIf(reader, of_labels != "first" && !head.average_labels, "class_token_pooling \"" + of_labels + "\"");
  } else {
    RefuseIf(reader, head.scorer == LabelHead::Scorer::kCrossAttention, "a bi-encoder with scorer_type \"cross-attn\"");
  }
  if (head.scorer == LabelHead::Scorer::kCrossAttention) {
    head.heads = reader.Int("scorer_num_heads", 16, 1, kMaxHidden);
    head.mlp_width[0] = reader.Int("scorer_mlp_hidden_size", 1024, 2, kMaxIntermediate);
    head.mlp_width[1] = head.mlp_width[0] / 2;
  }
  return head;
}

LabelledInput ReadInput(ConfigReader& reader, const LabelHead& head, bool extract) {
  using Words = LabelledInput::Words;
  LabelledInput input;
  input.marker = "<<LABEL>>";
  input.separator = "<<SEP>>";
  input.labels = head.labels;
  const bool embeds =
      !reader.IsNull("embed_class_token") && reader.Bool("embed_class_token", true);  // Python treats null as false
  input.embed_marker = embeds || head.labels != Labels::kRows;
  input.labels_first = reader.Bool("prompt_first", false);
  input.from_separator = extract;
  input.label_tokens = head.average_labels;
  if (head.lstm || head.pooling == LabelHead::Pooling::kNone) {
    input.words = Words::kAll;
  } else if (head.pooling != LabelHead::Pooling::kFirst) {
    input.words = Words::kPadded;
  }
  return input;
}

// encoder_layer_id selects the embeddings (0) or a layer's output; negative values count from the end.
void ReadHiddenState(ConfigReader& reader, int32_t layers, LabelHead& head) {
  const int32_t id = head.labels == Labels::kRows ? reader.Int("encoder_layer_id", -1, -layers - 1, layers) : -1;
  if (id != -1) head.hidden = id < 0 ? layers + 1 + id : id;
}

}  // namespace

Result<ConfiguredFamily> ReadGliClass(ConfigReader& reader) {
  RefuseOthers(reader);
  LabelHead head = ReadHead(reader);
  const bool extract = head.labels == Labels::kRows && reader.Bool("extract_text_features", false);
  head.words = head.lstm || extract;
  LabelledInput input = ReadInput(reader, head, extract);
  const bool segments = head.labels == Labels::kRows && reader.Bool("use_segment_embeddings", false);
  PERUSE_RETURN_IF_ERROR(reader.status());
  const JsonValue encoder_config = reader.Field("encoder_config");
  if (!encoder_config.IsObject()) return MalformedFile("config.json: a GLiClass without encoder_config");
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily encoder, ReadFamily(encoder_config, "deberta-v2"));
  ModelConfig config = encoder.config;
  config.architecture_class = "GLiClassModel";
  ReadHiddenState(reader, config.num_hidden_layers, head);
  if (config.hidden_size % head.heads != 0) reader.Refuse("scorer_num_heads", "must divide the encoder's hidden_size");
  if (head.lstm && config.hidden_size % 2 != 0) reader.Refuse("hidden_size", "must be even");
  if ((segments || head.labels == Labels::kPlaces) && config.embedding_size != config.hidden_size) {
    RefuseIf(reader, true, "a GLiClass that changes embeddings of another size than the encoder's");
  }
  // The embedding tables of a bi-encoder have the sizes in the configurations of its two encoders.
  if (head.labels == Labels::kRows) config.vocab_size = reader.Int("vocab_size", config.vocab_size, 1, kMaxVocabulary);
  head.inner = reader.Int("hidden_size", config.hidden_size, 1, kMaxHidden);
  input.marker_id = reader.Int("class_token_index", -1, -1, kMaxVocabulary);
  if (input.marker_id < 0) input.marker_id = config.vocab_size;
  input.separator_id = reader.Int("text_token_index", -1, -1, kMaxVocabulary);
  if (input.separator_id < 0) input.separator_id = config.vocab_size + 1;
  config.label_input = std::move(input);
  PERUSE_RETURN_IF_ERROR(reader.status());
  std::optional<ConfiguredFamily> labels;
  if (head.labels != Labels::kRows) {
    const JsonValue label_config = reader.Field("label_model_config");
    if (!label_config.IsObject()) return MalformedFile("config.json: a GLiClass bi-encoder without label_model_config");
    PERUSE_ASSIGN_OR_RETURN(labels, ReadFamily(label_config, "deberta-v2"));
    config.label_encoder = LimitsOf(labels->config, config.hidden_size);
  }
  return ConfiguredFamily{std::make_unique<GliClass>(std::move(encoder), std::move(labels), std::move(head), segments),
                          std::move(config)};
}

}  // namespace peruse
