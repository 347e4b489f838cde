#include "core/base/json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

// A failed RapidJSON assertion is a fault of ours: every accessor below checks the type first.
#define RAPIDJSON_ASSERT(condition) PERUSE_CHECK(condition)
#define RAPIDJSON_NOEXCEPT_ASSERT(condition) PERUSE_CHECK(condition)
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"
#include "rapidjson/stream.h"

namespace peruse {
namespace {

// The pool allocator frees whole chunks, so destroying a deep tree does not recurse.
using Document = rapidjson::Document;
using Node = rapidjson::Value;

// Strings stay where they are, in a copy of the text. Numbers come as text, see ReadDouble. That the text is UTF-8 is
// checked before, which is faster.
constexpr unsigned kParseFlags =
    rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

// Up to 19 digits with perhaps a point, as scores of vocabularies are written; everything else goes to strtod. (RapidJSON
// reads outside its tables for some tiny numbers, and some C libraries' strtod is slow: it computes in software, in 128 bits.)
bool ReadPlainDouble(std::string_view text, double* value) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  uint64_t digits = 0, scale = 1;  // the number is digits / scale
  int count = 0;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++count > 19) return false;
    digits = digits * 10 + static_cast<uint64_t>(c - '0');
    if (after_point) scale *= 10;
  }
  if (digits == 0) return false;  // strtod knows about the sign of zero
  double magnitude;
  if (digits <= uint64_t{1} << 53 && scale <= uint64_t{1} << 53) {
    magnitude = static_cast<double>(digits) / static_cast<double>(scale);  // of exact numbers, so rounded once
  } else if (digits > uint64_t{1} << 53) {
    // At least 54 bits of the quotient: 53 to keep and one to round by; what is below only breaks ties.
    const auto numerator = static_cast<unsigned __int128>(digits) << 64;
    const unsigned __int128 quotient = numerator / scale;
    const auto high = static_cast<uint64_t>(quotient >> 64);
    const int bits = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<uint64_t>(quotient));
    const int dropped = bits - 54;
    const auto kept = static_cast<uint64_t>(quotient >> dropped);
    const bool has_rest =
        quotient * scale != numerator || (static_cast<unsigned __int128>(kept) << dropped) != quotient;
    uint64_t significand = kept >> 1;
    if ((kept & 1) && (has_rest || (significand & 1))) ++significand;
    magnitude = std::ldexp(static_cast<double>(significand), dropped + 1 - 64);
  } else {
    return false;
  }
  *value = is_negative ? -magnitude : magnitude;
  return true;
}

// `text` is a JSON number. Correctly rounded; underflow is zero, overflow infinity.
double ReadDouble(std::string_view text) {
  double value = 0;
  return ReadPlainDouble(text, &value) ? value : std::strtod(std::string(text).c_str(), nullptr);
}

// A bound on the memory that the tree of `text` takes while it is built: every value comes after one of these four, and has
// a place on the parser's stack, which grows by copying, and one in the tree.
size_t TreeBytesBound(std::string_view text) {
  size_t values = 1;
  for (const char c : text) values += c == ',' || c == ':' || c == '[' || c == '{' ? 1 : 0;
  return SaturatingMultiply(values, 5 * sizeof(Node)) + text.size();
}

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
    const double value = ReadDouble(std::string_view(text, length));
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
  char* text;  // ends with NUL
  rapidjson::ParseResult result;
  bool too_deep = false;
  bool number_too_big = false;

  bool operator()(Document& document) {
    rapidjson::InsituStringStream input(text);
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
  std::string text;  // the document's strings lie in here
  Document document;
};

JsonDocument::JsonDocument(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> JsonDocument::Parse(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const auto bad = [&](size_t at, const char* what) {
    return MalformedFile(std::string(name) + " is not valid JSON at byte " + std::to_string(at) + ": " + what);
  };
  if (const size_t valid = ValidUtf8Prefix(text); valid != text.size()) return bad(valid, "not UTF-8");
  const size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  // RapidJSON takes NUL for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) return bad(nul, "a NUL");
  PERUSE_RETURN_IF_ERROR(EnsureMemory(TreeBytesBound(text), name));
  auto tree = std::make_unique<Tree>();
  tree->text = std::string(text.substr(start));
  Generator generator{tree->text.data(), {}};
  tree->document.Populate(generator);
  if (generator.result.IsError()) {
    if (generator.too_deep) {
      return MalformedFile(std::string(name) + ": nested deeper than " + std::to_string(kMaxDepth));
    }
    const auto code = generator.number_too_big ? rapidjson::kParseErrorNumberTooBig : generator.result.Code();
    return bad(start + generator.result.Offset(), rapidjson::GetParseError_En(code));
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
