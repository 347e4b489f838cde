#include "core/families/quantization.h"

#include "core/base/json_writer.h"
#include "core/base/utf8.h"
#include "core/formats/weight_format.h"

namespace peruse {
namespace {

struct Row {
  Precision precision;
  std::string_view method;
  std::string_view config;  // the value of quantization_config, as JSON
};

constexpr Row kMethods[] = {
    {Precision::kQ8, "peruse-q8",
     R"({"quant_method":"peruse-q8","bits":8,"scheme":"symmetric int8, <name>_scale: one float32 for each row"})"},
    {Precision::kQ4, "peruse-q4",
     R"({"quant_method":"peruse-q4","bits":4,"scheme":"4-bit token embeddings and wide linear layers in groups of 32, <name>_scale: one float16 for each group; others as peruse-q8"})"},
};

}  // namespace

Result<Precision> ReadQuantization(JsonValue quantization) {
  const std::string_view method = quantization.FindMember("quant_method").GetString().value_or("");
  for (const Row& row : kMethods) {
    if (row.method == method) return row.precision;
  }
  return Unsupported("config.json: quantization_config: quant_method \"" + Excerpt(method) + "\" is not supported");
}

Result<std::string> WithQuantization(std::string_view config_json, Precision precision) {
  for (const Row& row : kMethods) {
    if (row.precision == precision) {
      return WithMembers(config_json, {{"quantization_config", std::string(row.config)}});
    }
  }
  return Unsupported("checkpoints are not stored as " + std::string(FormatOf(precision).dtype()));
}

}  // namespace peruse
