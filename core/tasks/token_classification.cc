#include "core/tasks/token_classification.h"

#include <algorithm>
#include <utility>

#include "core/tasks/options.h"
#include "core/tasks/scores.h"
#include "core/tasks/spans.h"

namespace peruse {
namespace {

constexpr std::string_view kLongTextAdvice = "pass stride and an aggregation_strategy to read it in windows";

// "B-PER" -> {begins, "PER"}; "I-PER" and everything else continue.
struct Tag {
  bool begins;
  std::string_view name;
};

Tag ParseTag(std::string_view label) {
  if (label.starts_with("B-")) return {true, label.substr(2)};
  if (label.starts_with("I-")) return {false, label.substr(2)};
  return {false, label};
}

// What stands after the first hyphen, or all of it.
std::string_view GroupName(std::string_view label) {
  const size_t hyphen = label.find('-');
  return hyphen == std::string_view::npos ? label : label.substr(hyphen + 1);
}

size_t ArgMax(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

std::string_view Slice(std::string_view text, Offset bytes) {
  return text.substr(static_cast<size_t>(bytes.start), static_cast<size_t>(bytes.end - bytes.start));
}

}  // namespace

Status TokenClassification::Read(JsonValue inputs, JsonValue options) {
  texts_.clear();
  text_of_window_.clear();
  PERUSE_RETURN_IF_ERROR(ReadOptions(options));
  for (JsonValue input : inputs) {
    PERUSE_ASSIGN_OR_RETURN(const std::string_view text, ReadText(input, "text"));
    PERUSE_ASSIGN_OR_RETURN(std::vector<Encoding> windows, tokenizer_.Encode(text, encode_options_));
    PERUSE_RETURN_IF_ERROR(CheckText(windows[0], texts_.size(), kLongTextAdvice));
    texts_.push_back({std::string(text), {}, static_cast<int32_t>(windows.size())});
    for (Encoding& window : windows) {
      Enqueue(std::move(window));
      text_of_window_.push_back(texts_.size() - 1);
    }
  }
  return OkStatus();
}

Status TokenClassification::ReadOptions(JsonValue options) {
  std::string strategy = "none";
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "aggregation_strategy", &strategy));
  constexpr std::string_view kNames[] = {"none", "simple", "first", "max", "average"};
  const auto* name = std::find(std::begin(kNames), std::end(kNames), strategy);
  if (name == std::end(kNames)) {
    return InvalidArgument(
        "option aggregation_strategy must be \"none\", \"simple\", \"first\", \"max\" or \"average\", not \"" +
        strategy + "\"");
  }
  strategy_ = static_cast<Strategy>(name - std::begin(kNames));
  ignore_labels_ = {"O"};
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "ignore_labels", &ignore_labels_));

  encode_options_ = {};
  if (!options.FindMember("stride").exists()) return OkStatus();
  if (strategy_ == Strategy::kNone) {
    return InvalidArgument("option stride needs an aggregation_strategy other than \"none\"");
  }
  PERUSE_RETURN_IF_ERROR(ReadOption(options, "stride", 0, &encode_options_.stride));
  if (MaxTokens() == ModelConfig::kUnlimited) return OkStatus();
  encode_options_.truncation = Truncation::kOnlyFirst;
  encode_options_.max_length = MaxTokens();
  return OkStatus();
}

Status TokenClassification::Collect(size_t index, std::span<const float> logits) {
  Text& text = texts_[text_of_window_[index]];
  const std::vector<Token> tokens = Tokens(encoding(index), text.text, logits);
  std::vector<Entity> entities;
  if (strategy_ == Strategy::kNone || strategy_ == Strategy::kSimple) {
    for (const Token& token : tokens) entities.push_back(Labelled(token, token.scores));
  } else {
    entities = Words(tokens);
  }
  if (strategy_ != Strategy::kNone) entities = Groups(entities);
  for (Entity& entity : entities) {
    if (!Ignored(entity.label)) text.entities.push_back(std::move(entity));
  }
  return OkStatus();
}

std::vector<TokenClassification::Token> TokenClassification::Tokens(const Encoding& window, std::string_view text,
                                                                    std::span<const float> logits) const {
  const auto labels = static_cast<size_t>(model_.logit_cols());
  std::vector<Token> tokens;
  for (size_t t = 0; t < window.size(); ++t) {
    if (window.special_tokens_mask[t]) continue;
    const std::span<const float> row = logits.subspan(t * labels, labels);
    Token token{"", {row.begin(), row.end()}, window.offsets[t], static_cast<int32_t>(t), false};
    Softmax(token.scores);
    if (window.ids[t] == tokenizer_.unk_id()) {
      token.word = std::string(Slice(text, token.bytes));
    } else {
      const Result<std::string> name = tokenizer_.IdToToken(window.ids[t]);
      if (name.ok()) token.word = *name;
      token.is_subword = IsSubword(text, token.bytes, token.word);
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool TokenClassification::IsSubword(std::string_view text, Offset bytes, std::string_view token) const {
  if (!tokenizer_.continuing_subword_prefix().empty()) {
    return CountCodePoints(token) != CountCodePoints(Slice(text, bytes));
  }
  // The reference's rule where the vocabulary does not mark continuations: no space just before or at the start.
  if (bytes.start == 0) return false;
  const auto start = static_cast<size_t>(bytes.start);
  return text[start - 1] != ' ' && (start >= text.size() || text[start] != ' ');
}

TokenClassification::Entity TokenClassification::Labelled(const Token& token, std::span<const float> scores) const {
  const size_t label = ArgMax(scores);
  return {model_.config().id2label[label], scores[label], token.word, token.bytes, token.index};
}

std::vector<TokenClassification::Entity> TokenClassification::Words(std::span<const Token> tokens) const {
  std::vector<Entity> words;
  for (size_t first = 0; first < tokens.size();) {
    size_t end = first + 1;
    while (end < tokens.size() && tokens[end].is_subword) ++end;
    words.push_back(Word(tokens.subspan(first, end - first)));
    first = end;
  }
  return words;
}

TokenClassification::Entity TokenClassification::Word(std::span<const Token> tokens) const {
  std::vector<float> scores = tokens[0].scores;
  if (strategy_ == Strategy::kMax) {
    for (const Token& token : tokens) {
      if (token.scores[ArgMax(token.scores)] > scores[ArgMax(scores)]) scores = token.scores;
    }
  } else if (strategy_ == Strategy::kAverage) {
    for (size_t label = 0; label < scores.size(); ++label) {
      double sum = 0;
      for (const Token& token : tokens) sum += token.scores[label];
      scores[label] = static_cast<float>(sum / static_cast<double>(tokens.size()));
    }
  }
  std::vector<std::string> names;
  for (const Token& token : tokens) names.push_back(token.word);
  Entity word = Labelled(tokens[0], scores);
  word.word = tokenizer_.ConvertTokensToString(names);
  word.bytes.end = tokens.back().bytes.end;
  return word;
}

std::vector<TokenClassification::Entity> TokenClassification::Groups(std::span<const Entity> entities) const {
  std::vector<Entity> groups;
  for (size_t first = 0; first < entities.size();) {
    size_t end = first + 1;
    for (; end < entities.size(); ++end) {
      const Tag tag = ParseTag(entities[end].label);
      if (tag.begins || tag.name != ParseTag(entities[end - 1].label).name) break;
    }
    groups.push_back(Group(entities.subspan(first, end - first)));
    first = end;
  }
  return groups;
}

TokenClassification::Entity TokenClassification::Group(std::span<const Entity> entities) const {
  double score = 0;
  std::vector<std::string> names;
  for (const Entity& entity : entities) {
    score += entity.score;
    names.push_back(entity.word);
  }
  return {std::string(GroupName(entities[0].label)),
          static_cast<float>(score / static_cast<double>(entities.size())),
          tokenizer_.ConvertTokensToString(names),
          {entities[0].bytes.start, entities.back().bytes.end},
          entities[0].index};
}

bool TokenClassification::Ignored(std::string_view label) const {
  return std::find(ignore_labels_.begin(), ignore_labels_.end(), label) != ignore_labels_.end();
}

namespace {

// Of items from overlapping windows the longer one stays; of equally long ones the surer (the reference's
// aggregate_overlapping_entities). `entities` need not be sorted.
template <typename Entity>
std::vector<Entity> WithoutOverlaps(std::vector<Entity> entities) {
  std::vector<size_t> order(entities.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int32_t start_a = entities[a].bytes.start;
    const int32_t start_b = entities[b].bytes.start;
    return start_a != start_b ? start_a < start_b : a < b;
  });
  std::vector<Entity> kept;
  for (size_t i : order) {
    Entity& next = entities[i];
    if (kept.empty() || next.bytes.start >= kept.back().bytes.end) {
      kept.push_back(std::move(next));
      continue;
    }
    const int32_t length = next.bytes.end - next.bytes.start;
    const int32_t kept_length = kept.back().bytes.end - kept.back().bytes.start;
    if (length > kept_length || (length == kept_length && next.score > kept.back().score))
      kept.back() = std::move(next);
  }
  return kept;
}

}  // namespace

void TokenClassification::Write(JsonWriter& writer) const {
  writer.BeginArray();
  for (const Text& text : texts_) {
    Utf8IndexConverter index(text.text);
    writer.BeginArray();
    for (const Entity& entity : text.windows > 1 ? WithoutOverlaps(text.entities) : text.entities) {
      writer.BeginObject();
      writer.Key(strategy_ == Strategy::kNone ? "entity" : "entity_group");
      writer.String(entity.label);
      writer.Key("score");
      writer.Double(entity.score);
      if (strategy_ == Strategy::kNone) {
        writer.Key("index");
        writer.Int(entity.index);
      }
      writer.Key("word");
      writer.String(entity.word);
      WriteSpan(writer, index, entity.bytes);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndArray();
}

}  // namespace peruse
