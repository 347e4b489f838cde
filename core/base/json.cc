#include "core/base/json.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

// A failed RapidJSON assertion is a fault of ours: every accessor below checks the type first.
#define RAPIDJSON_ASSERT(condition) PERUSE_CHECK(condition)
#define RAPIDJSON_NOEXCEPT_ASSERT(condition) PERUSE_CHECK(condition)
#include "core/base/json_writer.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

namespace peruse {
namespace {

// The pool allocator frees whole chunks, so destroying a deep tree does not recurse.
using Document = rapidjson::Document;
using Node = rapidjson::Value;

// Numbers come as text: RapidJSON's own conversion to double reads outside its tables for some tiny numbers.
constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;

const Node& AsNode(const void* node) { return *static_cast<const Node*>(node); }

std::string_view AsView(const Node& node) { return std::string_view(node.GetString(), node.GetStringLength()); }

// Passes parse events on to the document while counting the nesting.
class DepthLimiter {
 public:
  explicit DepthLimiter(Document* document) : document_(document) {}

  bool too_deep() const { return too_deep_; }
  bool number_too_big() const { return number_too_big_; }

  bool Null() { return document_->Null(); }
  bool Bool(bool value) { return document_->Bool(value); }
  bool Int(int value) { return document_->Int(value); }
  bool Uint(unsigned value) { return document_->Uint(value); }
  bool Int64(int64_t value) { return document_->Int64(value); }
  bool Uint64(uint64_t value) { return document_->Uint64(value); }
  bool Double(double value) { return document_->Double(value); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    int64_t integer = 0;
    const auto [end, error] = std::from_chars(text, text + length, integer);
    if (error == std::errc() && end == text + length) return document_->Int64(integer);
    // The grammar is checked already; strtod rounds correctly. Underflow is zero, overflow an error.
    const double value = std::strtod(std::string(text, length).c_str(), nullptr);
    number_too_big_ = !std::isfinite(value);
    return !number_too_big_ && document_->Double(value);
  }
  bool String(const char* text, rapidjson::SizeType length, bool copy) { return document_->String(text, length, copy); }
  bool Key(const char* text, rapidjson::SizeType length, bool copy) { return document_->Key(text, length, copy); }
  bool StartObject() { return Enter() && document_->StartObject(); }
  bool StartArray() { return Enter() && document_->StartArray(); }
  bool EndObject(rapidjson::SizeType count) {
    --depth_;
    return document_->EndObject(count);
  }
  bool EndArray(rapidjson::SizeType count) {
    --depth_;
    return document_->EndArray(count);
  }

 private:
  bool Enter() {
    too_deep_ = ++depth_ > JsonDocument::kMaxDepth;
    return !too_deep_;
  }

  Document* document_;
  int depth_ = 0;
  bool too_deep_ = false;
  bool number_too_big_ = false;
};

// Feeds Document::Populate and keeps what it needs to tell of a failure.
struct Generator {
  std::string_view text;
  rapidjson::ParseResult result;
  bool too_deep = false;
  bool number_too_big = false;

  bool operator()(Document& document) {
    rapidjson::MemoryStream stream(text.data(), text.size());
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> input(stream);
    DepthLimiter limiter(&document);
    rapidjson::Reader reader;
    result = reader.Parse<kParseFlags>(input, limiter);
    too_deep = limiter.too_deep();
    number_too_big = limiter.number_too_big();
    return !result.IsError();
  }
};

// Recursion is bounded by kMaxDepth.
void Write(const Node& node, JsonWriter* writer) {
  if (node.IsObject()) {
    writer->BeginObject();
    for (const auto& member : node.GetObject()) {
      writer->Key(AsView(member.name));
      Write(member.value, writer);
    }
    writer->EndObject();
  } else if (node.IsArray()) {
    writer->BeginArray();
    for (const Node& item : node.GetArray()) Write(item, writer);
    writer->EndArray();
  } else if (node.IsString()) {
    writer->String(AsView(node));
  } else if (node.IsBool()) {
    writer->Bool(node.GetBool());
  } else if (node.IsInt64()) {
    writer->Int(node.GetInt64());
  } else if (node.IsNumber()) {
    writer->Double(node.GetDouble());
  } else {
    writer->Null();
  }
}

}  // namespace

struct JsonDocument::Tree {
  Document document;
};

JsonDocument::JsonDocument(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> JsonDocument::Parse(std::string_view text, std::string_view name) {
  auto tree = std::make_unique<Tree>();
  // RapidJSON's streams take NUL for the end of the text; outside of a JSON string NUL is not allowed anyway.
  Generator generator{text, {}};
  tree->document.Populate(generator);
  if (generator.result.IsError()) {
    std::string message(name);
    if (generator.too_deep) return MalformedFile(message + ": nested deeper than " + std::to_string(kMaxDepth));
    const auto code = generator.number_too_big ? rapidjson::kParseErrorNumberTooBig : generator.result.Code();
    message += " is not valid JSON at byte " + std::to_string(generator.result.Offset()) + ": ";
    return MalformedFile(message + rapidjson::GetParseError_En(code));
  }
  return JsonDocument(std::move(tree));
}

JsonValue JsonDocument::root() const { return JsonValue(static_cast<const Node*>(&tree_->document)); }

JsonType JsonValue::type() const {
  if (node_ == nullptr) return JsonType::kAbsent;
  switch (AsNode(node_).GetType()) {
    case rapidjson::kNullType:
      return JsonType::kNull;
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return JsonType::kBool;
    case rapidjson::kObjectType:
      return JsonType::kObject;
    case rapidjson::kArrayType:
      return JsonType::kArray;
    case rapidjson::kStringType:
      return JsonType::kString;
    case rapidjson::kNumberType:
      return JsonType::kNumber;
  }
  return JsonType::kAbsent;
}

std::optional<bool> JsonValue::GetBool() const {
  if (node_ == nullptr || !AsNode(node_).IsBool()) return std::nullopt;
  return AsNode(node_).GetBool();
}

std::optional<int64_t> JsonValue::GetInt64() const {
  if (node_ == nullptr || !AsNode(node_).IsInt64()) return std::nullopt;
  return AsNode(node_).GetInt64();
}

std::optional<double> JsonValue::GetDouble() const {
  if (node_ == nullptr || !AsNode(node_).IsNumber()) return std::nullopt;
  return AsNode(node_).GetDouble();
}

std::optional<std::string_view> JsonValue::GetString() const {
  if (node_ == nullptr || !AsNode(node_).IsString()) return std::nullopt;
  return AsView(AsNode(node_));
}

size_t JsonValue::size() const {
  if (node_ == nullptr) return 0;
  const Node& node = AsNode(node_);
  if (node.IsArray()) return node.Size();
  return node.IsObject() ? node.MemberCount() : 0;
}

JsonValue JsonValue::operator[](size_t index) const {
  if (!IsArray() || index >= size()) return JsonValue();
  return JsonValue(&AsNode(node_)[static_cast<rapidjson::SizeType>(index)]);
}

std::string_view JsonValue::MemberName(size_t index) const {
  if (!IsObject() || index >= size()) return {};
  return AsView((AsNode(node_).MemberBegin() + static_cast<std::ptrdiff_t>(index))->name);
}

JsonValue JsonValue::MemberValue(size_t index) const {
  if (!IsObject() || index >= size()) return JsonValue();
  return JsonValue(
      static_cast<const Node*>(&(AsNode(node_).MemberBegin() + static_cast<std::ptrdiff_t>(index))->value));
}

JsonValue JsonValue::FindMember(std::string_view name) const {
  if (!IsObject()) return JsonValue();
  const Node& node = AsNode(node_);
  for (auto member = node.MemberEnd(); member != node.MemberBegin();) {
    --member;
    if (AsView(member->name) == name) return JsonValue(static_cast<const Node*>(&member->value));
  }
  return JsonValue();
}

std::string JsonValue::ToString() const {
  if (node_ == nullptr) return "(absent)";
  std::string text;
  JsonWriter writer(&text);
  Write(AsNode(node_), &writer);
  return text;
}

}  // namespace peruse
