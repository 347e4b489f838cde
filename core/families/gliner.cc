// GLiNER (Zaratiana et al., 2023): recognises entities of any label. Package gliner: UniEncoderSpanGLiNER, UniEncoderTokenGLiNER,
// BiEncoderSpanGLiNER, BiEncoderTokenGLiNER.
//
// The configuration is gliner_config.json. If it only names its encoders (`model_name`, `labels_encoder`), the caller must insert their
// config.json as `encoder_config` and `labels_encoder_config`.
#include <optional>

#include "core/families/wrapped.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

using Mode = EntityHead::Mode;

constexpr int32_t kMostWords = 1 << 16;
constexpr const char* kLabelEncoder = "token_rep_layer.labels_encoder.model.";

class Gliner : public WrappedEncoder {
 public:
  Gliner(ConfiguredFamily encoder, std::optional<ConfiguredFamily> labels, EntityHead head)
      : WrappedEncoder(std::move(encoder), "token_rep_layer.bert_layer.model."),
        labels_(std::move(labels)),
        head_(std::move(head)) {}

  std::optional<EntityHead> Entities() const override { return head_; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    if (labels_) EncodeLabels(b);
    // Rejects further LSTM or fusion layers in the file, which would otherwise be ignored silently.
    if (!labels_) b.Refuse("rnn.lstm.weight_ih_l" + std::to_string(head_.layers));
    if (!head_.fusion.empty()) b.Refuse("cross_fuser.layers." + std::to_string(head_.fusion_layers) + ".");
    return WrappedEncoder::Encode(b, config);
  }

 private:
  // BiEncoder.encode_labels: the mean of a label's tokens, including special tokens.
  void EncodeLabels(Build& b) const {
    b.BeginPart(kLabelEncoder);
    Value hidden = labels_->family->Encode(b, labels_->config);
    b.EndPart();
    if (b.cols(hidden) != head_.width) {
      hidden = b.Linear(hidden, b.StackedF32(b.cols(hidden)).Add("token_rep_layer.labels_projection", head_.width));
    }
    b.Output(kLabelVectors,
             b.PoolRows(hidden, indices::FirstTokens{}, indices::Lengths{}, {.kind = ops::PoolRows::Kind::kMean}));
  }

  const std::optional<ConfiguredFamily> labels_;
  const EntityHead head_;
};

// Rejects variants that are different models, or that no published checkpoint uses.
void RefuseOthers(ConfigReader& reader, bool by_token) {
  for (const std::string_view field : {"labels_decoder", "relations_layer", "decoder_config", "id_to_classes"}) {
    RefuseIf(reader, reader.Field(field).exists(), "a GLiNER with " + std::string(field));
  }
  RefuseIf(reader, reader.Bool("precomputed_prompts_mode", false), "a GLiNER with precomputed_prompts_mode");
  RefuseIf(reader, reader.Bool("fuse_layers", false),
           "a GLiNER with fuse_layers (it weighs all layers of its encoder)");
  // gliner reads represent_spans only for token-level models, whose second encoder depends on it.
  RefuseIf(reader, by_token && reader.Bool("represent_spans", false),
           "a GLiNER with represent_spans (it scores each span a second time)");
  RefuseIf(reader, !by_token && reader.Field("span_encoder_config").exists(),
           "a GLiNER with span_encoder_config (a second encoder reads the words)");
  const std::string splitter = reader.String("words_splitter_type", "whitespace");
  RefuseIf(reader, splitter != "whitespace", "words_splitter_type \"" + splitter + "\"");
}

Mode ReadMode(ConfigReader& reader) {
  constexpr std::pair<std::string_view, Mode> kModes[] = {
      {"markerV0", Mode::kMarkerV0},
      {"marker", Mode::kMarker},
      {"markerV1", Mode::kMarkerV1},
      {"markerV2", Mode::kMarkerV2},
      {"query", Mode::kQuery},
      {"mlp", Mode::kMlp},
      {"cat", Mode::kCat},
      {"conv_conv", Mode::kConvConv},
      {"conv_max", Mode::kConvMax},
      {"conv_mean", Mode::kConvMean},
      {"conv_sum", Mode::kConvSum},
      {"conv_share", Mode::kConvShare},
      {"token_level", Mode::kTokens},
      {"token-level", Mode::kTokens},
  };
  const std::string name = reader.String("span_mode", "markerV0");
  for (const auto& [known, mode] : kModes) {
    if (name == known) return mode;
  }
  RefuseIf(reader, true, "span_mode \"" + name + "\"");
  return Mode::kMarkerV0;
}

EntityInput ReadInput(ConfigReader& reader, bool by_token) {
  EntityInput input;
  input.marker = reader.String("ent_token", "<<ENT>>");
  input.separator = reader.String("sep_token", "<<SEP>>");
  input.marker_id = reader.Int("class_token_index", -1, -1, kMaxVocabulary);
  input.embed_marker = reader.Bool("embed_ent_token", true);
  input.max_words = reader.Int("max_len", 384, 1, kMostWords);
  input.max_width = reader.Int("max_width", 12, 1, kMostWords);
  if (by_token) input.max_width = 0;
  return input;
}

void ReadWordPooling(ConfigReader& reader, EntityHead& head, EntityInput& input) {
  using Word = EntityInput::Word;
  const std::string pooling = reader.String("subtoken_pooling", "first");
  const bool all = pooling == "mean" || pooling == "max";
  input.word = all ? Word::kAllTokens : pooling == "last" ? Word::kLastToken : Word::kFirstToken;
  if (pooling == "mean") head.pooling = EntityHead::WordPooling::kMean;
  if (pooling == "max") head.pooling = EntityHead::WordPooling::kMax;
  RefuseIf(reader, pooling != "first" && input.word == Word::kFirstToken, "subtoken_pooling \"" + pooling + "\"");
}

// Parses post_fusion_schema, for example "l2l-l2t-t2t".
void ReadFusion(ConfigReader& reader, EntityHead& head) {
  std::string schema = reader.String("post_fusion_schema", "");
  if (schema.empty()) return;
  head.fusion_layers = reader.Int("num_post_fusion_layers", 1, 1, kMaxLayers);
  for (size_t begin = 0; begin <= schema.size();) {
    const size_t end = std::min(schema.find('-', begin), schema.size());
    const std::string block = schema.substr(begin, end - begin);
    RefuseIf(reader, block != "l2l" && block != "t2t" && block != "l2t" && block != "t2l",
             "post_fusion_schema \"" + schema + "\"");
    head.fusion.push_back(block);
    if (static_cast<int32_t>(head.fusion.size()) * head.fusion_layers > kMaxLayers) {
      reader.Fail(MalformedFile("gliner_config.json: post_fusion_schema and num_post_fusion_layers give more than " +
                                std::to_string(kMaxLayers) + " layers"));
      return;
    }
    begin = end + 1;
  }
}

Result<ConfiguredFamily> ReadEncoder(ConfigReader& reader, std::string_view field, std::string_view name) {
  const JsonValue config = reader.Field(field);
  if (config.IsObject()) return ReadFamily(config, "deberta-v2");
  return Status(StatusCode::kNotFound, "gliner_config.json has no " + std::string(field) +
                                           ", and the configuration of its encoder (" + reader.String(name, "") +
                                           ") was not given");
}

}  // namespace

Result<ConfiguredFamily> ReadGliner(ConfigReader& reader) {
  EntityHead head = {.mode = ReadMode(reader)};
  RefuseOthers(reader, head.mode == Mode::kTokens);
  head.width = reader.Int("hidden_size", 512, 2, kMaxHidden);
  head.label_vectors = reader.Field("labels_encoder").exists();
  // gliner never runs the LSTM layers in a bi-encoder's file.
  const bool has_rnn = reader.Bool("has_rnn", true) && !head.label_vectors;
  head.layers = has_rnn ? std::max(reader.Int("num_rnn_layers", 1, -1, kMaxLayers), 0) : 0;
  if (head.layers > 0 && head.width % 2 != 0) reader.Refuse("hidden_size", "must be even");
  EntityInput input = ReadInput(reader, head.mode == Mode::kTokens);
  head.max_width = input.max_width;
  ReadWordPooling(reader, head, input);
  if (head.label_vectors) {
    input.in_text = false;
    ReadFusion(reader, head);
  }
  int32_t vocabulary = reader.Int("vocab_size", -1, -1, kMaxVocabulary);
  // If either size is missing, gliner adds its tokens to the tokenizer, which then determines both.
  if (vocabulary < 0 || input.marker_id < 0) vocabulary = input.marker_id = -1;
  PERUSE_RETURN_IF_ERROR(reader.status());
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily encoder, ReadEncoder(reader, "encoder_config", "model_name"));
  ModelConfig config = encoder.config;
  config.architecture_class = "GLiNER";
  config.label_input = std::move(input);
  const auto token = [&reader](const char* name, std::string_view usual) {
    return std::string(reader.Field(name).GetString().value_or(usual));
  };
  std::vector<std::string> added = {"[FLERT]", token("ent_token", "<<ENT>>"), token("sep_token", "<<SEP>>")};
  std::optional<ConfiguredFamily> labels;
  if (head.label_vectors) {
    PERUSE_ASSIGN_OR_RETURN(labels, ReadEncoder(reader, "labels_encoder_config", "labels_encoder"));
    config.label_encoder = LimitsOf(labels->config, head.width);
    config.label_encoder->unused_tokens = static_cast<int32_t>(added.size());
    head.fusion_heads = config.num_attention_heads;
    if (!head.fusion.empty() && head.width % head.fusion_heads != 0) {
      reader.Refuse("hidden_size", "must be a multiple of the encoder's num_attention_heads");
    }
    PERUSE_RETURN_IF_ERROR(reader.status());
  } else {
    config.vocab_size = vocabulary;
    config.added_tokens = std::move(added);
  }
  return ConfiguredFamily{std::make_unique<Gliner>(std::move(encoder), std::move(labels), std::move(head)),
                          std::move(config)};
}

}  // namespace peruse
