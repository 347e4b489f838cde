// GLiNER (Zaratiana et al., 2023): entities of any label. Reference classes: UniEncoderSpanGLiNER, UniEncoderTokenGLiNER.
//
// The configuration is gliner_config.json; a file that names its encoder only (`model_name`) needs that one's config.json as
// `encoder_config` in it, which whoever opens the files puts there.
#include "core/families/wrapped.h"

namespace peruse {
namespace {

constexpr int32_t kMostWords = 1 << 16;

class Gliner : public WrappedEncoder {
 public:
  Gliner(ConfiguredFamily encoder, const EntityHead& head)
      : WrappedEncoder(std::move(encoder), "token_rep_layer.bert_layer.model."), head_(head) {}
  std::optional<EntityHead> Entities() const override { return head_; }

 private:
  const EntityHead head_;
};

// Variants of the reference that are other models.
void RefuseOthers(ConfigReader& reader) {
  for (const std::string_view field : {"labels_encoder", "labels_decoder", "relations_layer", "decoder_config",
                                       "span_encoder_config", "id_to_classes"}) {
    RefuseIf(reader, reader.Field(field).exists(), "a GLiNER with " + std::string(field));
  }
  for (const std::string_view field : {"fuse_layers", "represent_spans", "precomputed_prompts_mode"}) {
    RefuseIf(reader, reader.Bool(field, false), "a GLiNER with " + std::string(field));
  }
  const std::string splitter = reader.String("words_splitter_type", "whitespace");
  RefuseIf(reader, splitter != "whitespace", "words_splitter_type \"" + splitter + "\"");
}

EntityHead::Mode ReadMode(ConfigReader& reader) {
  const std::string mode = reader.String("span_mode", "markerV0");
  if (mode == "markerV0") return EntityHead::Mode::kMarkerV0;
  if (mode == "token_level" || mode == "token-level") return EntityHead::Mode::kTokens;
  RefuseIf(reader, mode != "marker", "span_mode \"" + mode + "\"");
  return EntityHead::Mode::kMarker;
}

LabelPrompt ReadPrompt(ConfigReader& reader, bool by_token) {
  LabelPrompt prompt;
  prompt.marker = reader.String("ent_token", "<<ENT>>");
  prompt.separator = reader.String("sep_token", "<<SEP>>");
  prompt.marker_id = reader.Int("class_token_index", -1, -1, kMaxVocabulary);
  prompt.embed_marker = reader.Bool("embed_ent_token", true);
  prompt.max_words = reader.Int("max_len", 384, 1, kMostWords);
  prompt.max_width = reader.Int("max_width", 12, 1, prompt.max_words);
  if (by_token) prompt.max_width = 0;
  const std::string pooling = reader.String("subtoken_pooling", "first");
  prompt.last_token = pooling == "last";
  RefuseIf(reader, pooling != "first" && pooling != "last", "subtoken_pooling \"" + pooling + "\"");
  return prompt;
}

}  // namespace

Result<ConfiguredFamily> ReadGliner(ConfigReader& reader) {
  RefuseOthers(reader);
  EntityHead head = {.mode = ReadMode(reader)};
  head.width = reader.Int("hidden_size", 512, 2, kMaxHidden);
  const bool has_rnn = reader.Bool("has_rnn", true);
  head.layers = has_rnn ? reader.Int("num_rnn_layers", 1, -1, kMaxLayers) : 0;
  if (head.layers > 0 && head.width % 2 != 0) reader.Refuse("hidden_size", "must be even");
  const LabelPrompt prompt = ReadPrompt(reader, head.mode == EntityHead::Mode::kTokens);
  const int32_t vocabulary = reader.Int("vocab_size", -1, -1, kMaxVocabulary);
  PERUSE_RETURN_IF_ERROR(reader.status());
  const JsonValue encoder_config = reader.Field("encoder_config");
  if (!encoder_config.IsObject()) {
    return Status(StatusCode::kNotFound,
                  "gliner_config.json has no encoder_config, and the configuration of its encoder (" +
                      reader.String("model_name", "") + ") was not given");
  }
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily encoder, ReadFamily(encoder_config, "deberta-v2"));
  ModelConfig config = encoder.config;
  config.architecture_class = "GLiNER";
  config.prompt = prompt;
  config.vocab_size = vocabulary;
  return ConfiguredFamily{std::make_unique<Gliner>(std::move(encoder), head), std::move(config)};
}

}  // namespace peruse
