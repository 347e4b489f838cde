// GLiNER2 (Zaratiana et al., 2025): fills in a schema of entities, structures, relations and classifications. Package gliner2:
// SpanExtractorModel, model_type "extractor".
//
// The configuration of the encoder is a file of its own, encoder_config/config.json. The caller must insert it as `encoder_config`.
#include "core/families/wrapped.h"

namespace peruse {
namespace {

using Counting = ExtractionHead::Counting;

constexpr int32_t kMostWords = 1 << 16;

class Gliner2 : public WrappedEncoder {
 public:
  Gliner2(ConfiguredFamily encoder, ExtractionHead head)
      : WrappedEncoder(std::move(encoder), "encoder."), head_(head) {}

  std::optional<ExtractionHead> Extraction() const override { return head_; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    b.Refuse("cross_fuser.");
    return WrappedEncoder::Encode(b, config);
  }

 private:
  const ExtractionHead head_;
};

// Rejects other architectures, and the options of other packages that write the same model_type.
void RefuseOthers(ConfigReader& reader) {
  const std::string architecture = reader.String("architecture", "span");
  RefuseIf(reader, architecture != "span",
           "architecture \"" + architecture + "\" of a GLiNER2 (the architecture \"span\" is)");
  for (const std::string_view field : {"encoder_mode", "schema_model_name"}) {
    RefuseIf(reader, reader.Field(field).exists(), "a GLiNER2 with " + std::string(field));
  }
}

Counting ReadCounting(ConfigReader& reader) {
  const std::string name = reader.String("counting_layer", "count_lstm");
  if (name == "count_lstm_v2") return Counting::kLstmV2;
  RefuseIf(reader, name != "count_lstm", "counting_layer \"" + name + "\"");
  return Counting::kLstm;
}

// span_head is newer, and wins over max_width.
int32_t ReadMaxWidth(ConfigReader& reader) {
  const JsonValue head = reader.Field("span_head");
  ConfigReader of_head(head);
  const std::string mode = of_head.String("span_mode", "markerV0");
  RefuseIf(reader, mode != "markerV0", "span_mode \"" + mode + "\"");
  const bool in_head = of_head.Field("max_width").exists();
  const int32_t width = (in_head ? of_head : reader).Int("max_width", 8, 1, kMostWords);
  if (!of_head.status().ok()) reader.Fail(of_head.status());
  return width;
}

}  // namespace

Result<ConfiguredFamily> ReadGliner2(ConfigReader& reader) {
  RefuseOthers(reader);
  ExtractionHead head = {.counting = ReadCounting(reader)};
  head.spans.spans = "span_rep.span_rep_layer.";
  head.spans.max_width = ReadMaxWidth(reader);
  const std::string pooling = reader.String("token_pooling", "first");  // gliner2 reads unknown names as "first"
  if (pooling == "mean") head.spans.pooling = EntityHead::WordPooling::kMean;
  if (pooling == "max") head.spans.pooling = EntityHead::WordPooling::kMax;
  PERUSE_RETURN_IF_ERROR(reader.status());
  const JsonValue encoder_config = reader.Field("encoder_config");
  if (!encoder_config.IsObject()) {
    return Status(StatusCode::kNotFound,
                  "config.json is that of a GLiNER2, and encoder_config/config.json was not given");
  }
  PERUSE_ASSIGN_OR_RETURN(ConfiguredFamily encoder, ReadFamily(encoder_config));
  if (encoder.config.reads_labels()) return Unsupported("config.json: a GLiNER2 whose encoder is no encoder of texts");
  ModelConfig config = encoder.config;
  head.spans.width = config.hidden_size;
  config.architecture_class = "GLiNER2";
  config.label_input = SchemaInput{head.spans.max_width};
  return ConfiguredFamily{std::make_unique<Gliner2>(std::move(encoder), head), std::move(config)};
}

}  // namespace peruse
