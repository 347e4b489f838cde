#include "core/api/result_writer.h"

namespace peruse {

void ResultWriter::Fields(std::initializer_list<Field> fields) {
  for (const Field& field : fields) {
    Key(field.name);
    if (field.kind == Field::kText) String(field.text);
    if (field.kind == Field::kBool) Bool(field.number != 0);
    if (field.kind == Field::kInt) Int(static_cast<int64_t>(field.number));
    if (field.kind == Field::kDouble) Double(field.number);
  }
}

void ResultWriter::Object(std::initializer_list<Field> fields) {
  BeginObject();
  Fields(fields);
  EndObject();
}

void ResultWriter::Array(std::span<const float> values, const std::vector<int64_t>& dims) {
  BeginObject();
  Fields({Field("array", arrays_.size())});
  Key("dims");
  BeginArray();
  for (const int64_t dim : dims) Int(dim);
  EndArray();
  EndObject();
  arrays_.push_back(values);
}

void ResultWriter::Array(std::vector<float> values, const std::vector<int64_t>& dims) {
  kept_.push_back(std::move(values));
  Array(std::span<const float>(kept_.back()), dims);  // moving the vector does not move its floats
}

}  // namespace peruse
