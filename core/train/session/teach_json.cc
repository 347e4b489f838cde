#include "core/train/session/teach_json.h"

#include <cmath>

namespace peruse::train {

void WriteNumber(JsonWriter& writer, const char* name, double value) {
  if (std::isnan(value)) return;
  writer.Key(name);
  writer.Double(value);
}
void WriteCount(JsonWriter& writer, const char* name, int64_t value) {
  writer.Key(name);
  writer.Int(value);
}

void Write(JsonWriter& writer, const Metrics& metrics) {
  writer.BeginObject();
  WriteNumber(writer, "loss", metrics.loss);
  WriteCount(writer, "examples", metrics.examples);
  WriteNumber(writer, "accuracy", metrics.accuracy);
  WriteNumber(writer, "f1", metrics.f1);
  WriteNumber(writer, "mean_squared_error", metrics.error);
  if (!metrics.confusion.empty()) {
    const auto labels = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(metrics.confusion.size()))));
    writer.Key("confusion");
    writer.BeginArray();
    for (size_t row = 0; row < labels; ++row) {
      writer.BeginArray();
      for (size_t col = 0; col < labels; ++col) writer.Int(metrics.confusion[row * labels + col]);
      writer.EndArray();
    }
    writer.EndArray();
  }
  writer.EndObject();
}

}  // namespace peruse::train
