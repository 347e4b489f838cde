#include "core/base/json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#define RAPIDJSON_ASSERT(condition) PERUSE_CHECK(condition)
#define RAPIDJSON_NOEXCEPT_ASSERT(condition) PERUSE_CHECK(condition)
#include "core/base/decimal.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"
#include "rapidjson/stream.h"

namespace peruse {
namespace {

// A JSON value. The children of an array or object are contiguous; an object's alternate between name and value.
struct Node {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool truth = false;
  uint32_t size = 0;  // bytes of a string or number, elements of an array, members of an object
  union {
    int64_t integer = 0;
    const char* text;
    size_t first;  // while the tree is built: index of the first child
    const Node* nodes;
  };
};

// Keeps strings and non-integer numbers as text (see ReadDouble). UTF-8 is validated beforehand, which is faster.
// NaN, Infinity and -Infinity are numbers, as in Python, which writes them.
constexpr unsigned kParseFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag;

// Reads up to 19 digits with an optional point, as vocabularies write scores. DecimalToDouble reads all other numbers.
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
  if (digits == 0) return false;  // DecimalToDouble handles the sign of zero
  double magnitude;
  if (digits <= uint64_t{1} << 53 && scale <= uint64_t{1} << 53) {
    magnitude = static_cast<double>(digits) / static_cast<double>(scale);  // one rounding: both operands are exact
  } else if (digits > uint64_t{1} << 53) {
    // The quotient has at least 54 bits: 53 that a double keeps and one that decides the rounding. Lower bits only matter for ties.
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

bool IsNanOrInfinity(std::string_view text) { return text.back() > '9'; }

double ReadDouble(std::string_view text) {
  if (IsNanOrInfinity(text)) {
    if (text.back() == 'N') return std::numeric_limits<double>::quiet_NaN();
    return text.front() == '-' ? -HUGE_VAL : HUGE_VAL;
  }
  double value = 0;
  return ReadPlainDouble(text, &value) ? value : DecimalToDouble(text);
}

const Node& AsNode(const void* node) { return *static_cast<const Node*>(node); }

std::string_view AsView(const Node& node) { return std::string_view(node.text, node.size); }

bool IsContainer(const Node& node) { return node.kind == Node::Kind::kArray || node.kind == Node::Kind::kObject; }

// Allocates the parser's stack, a few bytes per nesting level, with plain operator new.
struct PlainAllocator {
  void* Malloc(size_t size) { return size == 0 ? nullptr : ::operator new(size); }
  void* Realloc(void* old, size_t old_size, size_t size) {
    void* const block = Malloc(size);
    if (old != nullptr && block != nullptr) std::memcpy(block, old, std::min(old_size, size));
    Free(old);
    return block;
  }
  static void Free(void* block) { ::operator delete(block); }
};

class TreeBuilder {
 public:
  explicit TreeBuilder(std::vector<Node>* nodes) : nodes_(*nodes) {}

  bool too_deep() const { return depth_ > JsonDocument::kMaxDepth; }
  bool number_too_big() const { return number_too_big_; }
  bool out_of_memory() const { return out_of_memory_; }
  bool half_a_pair() const { return half_a_pair_; }

  bool Null() { return Open({}); }
  bool Bool(bool value) {
    Node node{Node::Kind::kBool};
    node.truth = value;
    return Open(node);
  }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    Node node{Node::Kind::kInteger};
    const auto [end, error] = std::from_chars(text, text + length, node.integer);
    if (error == std::errc() && end == text + length) return Open(node);
    node.kind = Node::Kind::kDouble;
    node.text = text;
    node.size = length;
    number_too_big_ = !IsNanOrInfinity(AsView(node)) && !std::isfinite(ReadDouble(AsView(node)));
    return !number_too_big_ && Open(node);
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    // RapidJSON decodes a lone surrogate such as \ude00 to three invalid bytes, which start with 0xED and a byte >= 0xA0.
    const std::string_view bytes(text, length);
    for (size_t at = bytes.find('\xED'); at != std::string_view::npos; at = bytes.find('\xED', at + 1)) {
      half_a_pair_ = static_cast<unsigned char>(bytes[at + 1]) >= 0xA0;
      if (half_a_pair_) return false;
    }
    Node node{Node::Kind::kString};
    node.size = length;
    node.text = text;
    return Open(node);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool copy) { return String(text, length, copy); }
  bool StartObject() { return Open({Node::Kind::kObject}) && ++depth_ <= JsonDocument::kMaxDepth; }
  bool StartArray() { return Open({Node::Kind::kArray}) && ++depth_ <= JsonDocument::kMaxDepth; }
  bool EndObject(rapidjson::SizeType count) { return Close(count, 2 * size_t{count}); }
  bool EndArray(rapidjson::SizeType count) { return Close(count, count); }

  // The parser never calls the functions for binary numbers, because it passes numbers as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  // Appends the root and replaces child indices by pointers. Returns false if memory runs out.
  [[nodiscard]] bool Finish() {
    if (open_.empty() || !TryPushBack(&nodes_, open_[0])) return false;
    for (Node& node : nodes_) {
      if (IsContainer(node)) node.nodes = nodes_.data() + node.first;
    }
    return true;
  }

 private:
  bool Open(Node node) {
    out_of_memory_ = !TryPushBack(&open_, node);
    return !out_of_memory_;
  }

  bool Close(uint32_t count, size_t nodes) {
    --depth_;
    Node& parent = open_[open_.size() - nodes - 1];
    parent.size = count;
    parent.first = nodes_.size();
    out_of_memory_ = !TryGrow(&nodes_, nodes);
    if (out_of_memory_) return false;
    nodes_.insert(nodes_.end(), open_.end() - static_cast<std::ptrdiff_t>(nodes), open_.end());
    open_.resize(open_.size() - nodes);
    return true;
  }

  std::vector<Node>& nodes_;
  std::vector<Node> open_;  // values that are not yet children
  int depth_ = 0;
  bool number_too_big_ = false;
  bool half_a_pair_ = false;
  bool out_of_memory_ = false;
};

void Write(const Node& node, JsonWriter* writer) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return writer->Null();
    case Node::Kind::kBool:
      return writer->Bool(node.truth);
    case Node::Kind::kInteger:
      return writer->Int(node.integer);
    case Node::Kind::kDouble:
      return writer->Raw(AsView(node));
    case Node::Kind::kString:
      return writer->String(AsView(node));
    case Node::Kind::kArray:
      writer->BeginArray();
      for (uint32_t i = 0; i < node.size; ++i) Write(node.nodes[i], writer);
      return writer->EndArray();
    case Node::Kind::kObject:
      writer->BeginObject();
      for (uint32_t i = 0; i < node.size; ++i) {
        writer->Key(AsView(node.nodes[2 * i]));
        Write(node.nodes[2 * i + 1], writer);
      }
      return writer->EndObject();
  }
}

}  // namespace

struct JsonDocument::Tree {
  std::string text;         // the nodes' strings point into this
  std::vector<Node> nodes;  // the root is last
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
  // RapidJSON would stop at NUL and accept the text before it.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) return bad(nul, "a NUL");
  const auto no_memory = [&] { return OutOfMemory("no memory to read " + std::string(name)); };
  PERUSE_RETURN_IF_ERROR(HoldReserve());
  auto tree = std::make_unique<Tree>();
  if (!TryAssign(&tree->text, text.substr(start))) return no_memory();
  rapidjson::InsituStringStream input(tree->text.data());
  TreeBuilder builder(&tree->nodes);
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, PlainAllocator> reader;
  const rapidjson::ParseResult result = reader.Parse<kParseFlags>(input, builder);
  if (builder.out_of_memory()) return no_memory();
  if (builder.too_deep()) return MalformedFile(std::string(name) + ": nested deeper than " + std::to_string(kMaxDepth));
  if (builder.half_a_pair()) return bad(start + result.Offset(), "an unpaired surrogate");
  if (result.IsError() && start + result.Offset() >= text.size()) {
    return MalformedFile(std::string(name) + " ends within its JSON, after " + std::to_string(text.size()) +
                         " bytes: fetch it again");
  }
  if (result.IsError()) {
    const auto code = builder.number_too_big() ? rapidjson::kParseErrorNumberTooBig : result.Code();
    return bad(start + result.Offset(), rapidjson::GetParseError_En(code));
  }
  if (!builder.Finish()) return no_memory();
  return JsonDocument(std::move(tree));
}

JsonValue JsonDocument::root() const { return JsonValue(&tree_->nodes.back()); }

JsonType JsonValue::type() const {
  if (node_ == nullptr) return JsonType::kAbsent;
  switch (AsNode(node_).kind) {
    case Node::Kind::kNull:
      return JsonType::kNull;
    case Node::Kind::kBool:
      return JsonType::kBool;
    case Node::Kind::kInteger:
    case Node::Kind::kDouble:
      return JsonType::kNumber;
    case Node::Kind::kString:
      return JsonType::kString;
    case Node::Kind::kArray:
      return JsonType::kArray;
    case Node::Kind::kObject:
      return JsonType::kObject;
  }
  return JsonType::kAbsent;
}

std::optional<bool> JsonValue::GetBool() const {
  if (type() != JsonType::kBool) return std::nullopt;
  return AsNode(node_).truth;
}

std::optional<int64_t> JsonValue::GetInt64() const {
  if (node_ == nullptr || AsNode(node_).kind != Node::Kind::kInteger) return std::nullopt;
  return AsNode(node_).integer;
}

std::optional<double> JsonValue::GetDouble() const {
  if (type() != JsonType::kNumber) return std::nullopt;
  const Node& node = AsNode(node_);
  return node.kind == Node::Kind::kInteger ? static_cast<double>(node.integer) : ReadDouble(AsView(node));
}

std::optional<std::string_view> JsonValue::GetString() const {
  if (type() != JsonType::kString) return std::nullopt;
  return AsView(AsNode(node_));
}

size_t JsonValue::size() const { return IsArray() || IsObject() ? AsNode(node_).size : 0; }

JsonValue JsonValue::operator[](size_t index) const {
  if (!IsArray() || index >= size()) return JsonValue();
  return JsonValue(&AsNode(node_).nodes[index]);
}

std::string_view JsonValue::MemberName(size_t index) const {
  if (!IsObject() || index >= size()) return {};
  return AsView(AsNode(node_).nodes[2 * index]);
}

JsonValue JsonValue::MemberValue(size_t index) const {
  if (!IsObject() || index >= size()) return JsonValue();
  return JsonValue(&AsNode(node_).nodes[2 * index + 1]);
}

JsonValue JsonValue::FindMember(std::string_view name) const {
  for (size_t i = IsObject() ? size() : 0; i > 0; --i) {
    if (MemberName(i - 1) == name) return MemberValue(i - 1);
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
