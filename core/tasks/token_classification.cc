#include "core/tasks/token_classification.h"

#include <algorithm>
#include <utility>

#include "core/base/utf8.h"
#include "core/tasks/scores.h"
#include "core/text/unicode/unicode.h"

namespace peruse {
namespace {

constexpr int32_t kUsualStride = 64;  // in tokens

constexpr std::string_view kLongTextAdvice = "pass stride and an aggregation_strategy to read it in windows";

// "B-PER" -> {begins, "PER"}. "I-PER" and all others continue an entity.
struct Tag {
  bool begins = false;
  bool ends = false;
  std::string_view name;
};

// `marks_ends`: whether the labels are BIOES or BILOU, in which E- and L- end an entity, and S- and U- are whole ones.
Tag ParseTag(std::string_view label, bool marks_ends) {
  const char prefix = label.size() > 1 && label[1] == '-' ? label[0] : '\0';
  const bool is_whole = marks_ends && (prefix == 'S' || prefix == 'U');
  const bool is_last = marks_ends && (prefix == 'E' || prefix == 'L');
  if (prefix == 'B' || prefix == 'I' || is_whole || is_last) {
    return {prefix == 'B' || is_whole, is_last || is_whole, label.substr(2)};
  }
  return {false, false, label};
}

// Whether all labels but O have prefixes of BIOES, or all have those of BILOU, and not all of them are those of BIO.
bool MarksEnds(std::span<const std::string> labels) {
  for (const std::string_view prefixes : {"BIES", "BILU"}) {
    bool all = true, marks = false;
    for (const std::string_view label : labels) {
      if (label == "O") continue;
      all = all && label.size() > 2 && label[1] == '-' && prefixes.find(label[0]) != std::string_view::npos;
      marks = marks || (label[0] != 'B' && label[0] != 'I');
    }
    if (all && marks) return true;
  }
  return false;
}

std::string_view GroupName(std::string_view label) {
  const size_t hyphen = label.find('-');
  return hyphen == std::string_view::npos ? label : label.substr(hyphen + 1);
}

size_t ArgMax(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// Removes white space from the ends of entities, whose words become parts of the text, and entities of nothing else.
void Trim(std::string_view text, std::vector<Entity>* entities) {
  for (Entity& entity : *entities) {
    auto start = static_cast<size_t>(entity.bytes.start), end = static_cast<size_t>(entity.bytes.end);
    for (size_t next = start; next < end && text::IsSpace(DecodeUtf8(text, &next));) start = next;
    for (size_t next = end; next > start && text::IsSpace(DecodeUtf8Backwards(text, &next));) end = next;
    entity.bytes = {static_cast<int32_t>(start), static_cast<int32_t>(end)};
    entity.word = std::string(Slice(text, entity.bytes));
  }
  std::erase_if(*entities, [](const Entity& entity) { return entity.word.empty(); });
}

int32_t Begin(const text::Encoding& window) {
  for (size_t t = 0; t < window.size(); ++t) {
    if (!window.special_tokens_mask[t]) return window.offsets[t].start;
  }
  return 0;
}

}  // namespace

Status TokenClassification::Start() {
  if (!(request.recall >= 0 && request.recall <= 1))
    return InvalidArgument("option recall must be a number from 0 to 1");
  const ModelConfig& config = model_.config();
  marks_ends_ = MarksEnds(config.id2label);
  is_path_ = config.path_biases && marks_ends_ && request.aggregation_strategy != Aggregation::kNone;
  for (size_t label = 0; label < config.id2label.size(); ++label) {
    const Result<std::string_view> name = LabelName(config, label);
    ignored_.push_back(name.ok() && Ignored(*name));
  }
  text::EncodeOptions options;
  if (request.stride || request.windows) {
    if (request.aggregation_strategy == Aggregation::kNone) {
      return InvalidArgument("option stride needs an aggregation_strategy other than \"none\"");
    }
    PERUSE_ASSIGN_OR_RETURN(const int32_t length,
                            Length(request.max_length, request.windows ? UsualTokens() : MaxTokens()));
    options = CutTo(length, text::Truncation::kOnlyFirst);
    options.stride = request.stride.value_or(std::min(length / 4, kUsualStride));
  } else if (request.max_length) {
    return InvalidArgument("option max_length is the length of windows, which need the option stride");
  }
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, EncodeText(tokenizer_, request.inputs[i], options));
    if (windows[0].size() == 0) {
      Give(i, {});
      continue;
    }
    PERUSE_RETURN_IF_ERROR(CheckLength(windows[0], i, kLongTextAdvice));
    // A tokenizer that truncates on the left returns the last window of the text first.
    if (windows.size() > 1 && Begin(windows[0]) > Begin(windows[1])) std::reverse(windows.begin(), windows.end());
    EnqueueAll(i, std::move(windows));
  }
  return OkStatus();
}

Status TokenClassification::Collect(const Reading& reading, size_t text) {
  const std::string_view all = request.inputs[reading.input].text;
  const Aggregation strategy = request.aggregation_strategy;
  const std::vector<Token> tokens = Tokens(reading.tokens, all, outputs_.Get(kLogits, text));
  std::vector<Entity> entities;
  if (is_path_ || strategy == Aggregation::kNone || strategy == Aggregation::kSimple) {
    const std::vector<size_t> path = is_path_ ? Path(tokens, outputs_.Get(kLogits, text)) : std::vector<size_t>();
    for (size_t i = 0; i < tokens.size(); ++i) {
      const size_t label = is_path_ ? path[i] : Chosen(tokens[i].scores);
      PERUSE_ASSIGN_OR_RETURN(Entity entity, Labelled(tokens[i], tokens[i].scores, label));
      entities.push_back(std::move(entity));
    }
  } else {
    PERUSE_ASSIGN_OR_RETURN(entities, Words(tokens));
  }
  if (strategy != Aggregation::kNone) entities = Groups(entities);
  std::erase_if(entities, [this](const Entity& entity) { return Ignored(entity.label); });
  if (is_path_) Trim(all, &entities);

  if (reading.number > 0 || !reading.last) {
    const auto earlier = [](const Entity& a, const Entity& b) { return a.bytes.start < b.bytes.start; };
    for (Entity& entity : entities) {
      const auto place = std::upper_bound(found_.begin(), found_.end(), entity, earlier);
      found_.insert(place, std::move(entity));
    }
    // Entities that begin before this window are final, because no later window begins earlier.
    entities = Settled(reading.last || tokens.empty() ? INT32_MAX : tokens[0].bytes.start);
  }
  if (reading.number == 0) index_.emplace(all);
  for (Entity& entity : entities) entity.span = ToTextSpan(*index_, entity.bytes);
  Give(reading.input, std::move(entities));
  return OkStatus();
}

std::vector<TokenClassification::Token> TokenClassification::Tokens(const text::Encoding& window, std::string_view text,
                                                                    const Matrix& logits) const {
  std::vector<Token> tokens;
  for (size_t t = 0; t < window.size(); ++t) {
    if (window.special_tokens_mask[t]) continue;
    const std::span<const float> row = logits.row(t);
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

bool TokenClassification::IsSubword(std::string_view text, text::Offset bytes, std::string_view token) const {
  if (!tokenizer_.continuing_subword_prefix().empty()) {
    return CountCodePoints(token) != CountCodePoints(Slice(text, bytes));
  }
  // Decides whether a token continues a word, by transformers' rule for vocabularies without continuation marks: there is no space before
  // the token or at its start.
  if (bytes.start == 0) return false;
  const auto start = static_cast<size_t>(bytes.start);
  return text[start - 1] != ' ' && (start >= text.size() || text[start] != ' ');
}

std::vector<size_t> TokenClassification::Path(std::span<const Token> tokens, const Matrix& logits) const {
  std::vector<std::vector<float>> scores;
  for (const Token& token : tokens) {
    const std::span<const float> row = logits.row(static_cast<size_t>(token.index));
    std::vector<float>& own = scores.emplace_back(row.begin(), row.end());
    for (size_t label = 0; label < own.size(); ++label) {
      if (token.scores[label] < request.recall && Ignored(label)) own[label] = kIllegalStep;
    }
  }
  if (tokens.empty()) return {};
  return BestPath(scores, model_.config().id2label, *model_.config().path_biases);
}

Result<Entity> TokenClassification::Labelled(const Token& token, std::span<const float> scores, size_t label) const {
  PERUSE_ASSIGN_OR_RETURN(const std::string_view name, LabelName(model_.config(), label));
  return Entity{std::string(name), scores[label], token.word, token.bytes, token.index, {0, 0}, Certainty(token)};
}

Result<std::vector<Entity>> TokenClassification::Words(std::span<const Token> tokens) const {
  std::vector<Entity> words;
  for (size_t first = 0; first < tokens.size();) {
    size_t end = first + 1;
    while (end < tokens.size() && tokens[end].is_subword) ++end;
    PERUSE_ASSIGN_OR_RETURN(Entity word, Word(tokens.subspan(first, end - first)));
    words.push_back(std::move(word));
    first = end;
  }
  return words;
}

Result<Entity> TokenClassification::Word(std::span<const Token> tokens) const {
  std::vector<float> scores = tokens[0].scores;
  if (request.aggregation_strategy == Aggregation::kMax) {
    for (const Token& token : tokens) {
      if (token.scores[ArgMax(token.scores)] > scores[ArgMax(scores)]) scores = token.scores;
    }
  } else if (request.aggregation_strategy == Aggregation::kAverage) {
    for (size_t label = 0; label < scores.size(); ++label) {
      double sum = 0;
      for (const Token& token : tokens) sum += token.scores[label];
      scores[label] = static_cast<float>(sum / static_cast<double>(tokens.size()));
    }
  }
  std::vector<std::string> names;
  for (const Token& token : tokens) names.push_back(token.word);
  PERUSE_ASSIGN_OR_RETURN(Entity word, Labelled(tokens[0], scores, Chosen(scores)));
  word.word = tokenizer_.ConvertTokensToString(names);
  word.bytes.end = tokens.back().bytes.end;
  for (const Token& token : tokens.subspan(1)) word.certainty = std::max(word.certainty, Certainty(token));
  return word;
}

std::vector<Entity> TokenClassification::Groups(std::span<const Entity> entities) const {
  std::vector<Entity> groups;
  for (size_t first = 0; first < entities.size();) {
    size_t end = first + 1;
    Tag before = ParseTag(entities[first].label, marks_ends_);
    if (!before.begins) before.ends = false;  // an entity that begins with its end goes on, as in transformers.js
    for (; end < entities.size() && !before.ends; ++end) {
      const Tag tag = ParseTag(entities[end].label, marks_ends_);
      if (tag.begins || tag.name != before.name) break;
      before = tag;
    }
    groups.push_back(Group(entities.subspan(first, end - first)));
    first = end;
  }
  return groups;
}

Entity TokenClassification::Group(std::span<const Entity> entities) const {
  double score = 0;
  std::optional<float> certainty;
  std::vector<std::string> names;
  for (const Entity& entity : entities) {
    score += entity.score;
    certainty = std::max(certainty, entity.certainty);
    names.push_back(entity.word);
  }
  return {std::string(GroupName(entities[0].label)),
          static_cast<float>(score / static_cast<double>(entities.size())),
          tokenizer_.ConvertTokensToString(names),
          {entities[0].bytes.start, entities.back().bytes.end},
          std::nullopt,
          {0, 0},
          certainty};
}

size_t TokenClassification::Chosen(std::span<const float> scores) const {
  const size_t best = ArgMax(scores);
  if (scores[best] >= request.recall || !Ignored(best)) return best;
  size_t chosen = best;
  for (size_t label = 0; label < scores.size(); ++label) {
    if (!Ignored(label) && (chosen == best || scores[label] > scores[chosen])) chosen = label;
  }
  return chosen;
}

std::optional<float> TokenClassification::Certainty(const Token& token) const {
  if (!request.certainty) return std::nullopt;
  float certainty = 1;
  for (size_t label = 0; label < token.scores.size(); ++label) {
    if (Ignored(label)) certainty -= token.scores[label];
  }
  return certainty;
}

bool TokenClassification::Ignored(size_t label) const { return ignored_[label]; }

bool TokenClassification::Ignored(std::string_view label) const {
  const std::vector<std::string>& ignored = request.ignore_labels;
  return std::find(ignored.begin(), ignored.end(), label) != ignored.end();
}

// If items of two windows overlap, keeps the longer, then the more probable one (transformers' aggregate_overlapping_entities).
std::vector<Entity> TokenClassification::Settled(int32_t end) {
  std::vector<Entity> kept;
  size_t next = 0;
  for (; next < found_.size() && found_[next].bytes.start < end; ++next) {
    Entity& entity = found_[next];
    if (kept.empty() || entity.bytes.start >= kept.back().bytes.end) {
      kept.push_back(std::move(entity));
      continue;
    }
    const int32_t length = entity.bytes.end - entity.bytes.start;
    const int32_t kept_length = kept.back().bytes.end - kept.back().bytes.start;
    if (length > kept_length || (length == kept_length && entity.score > kept.back().score)) {
      kept.back() = std::move(entity);
    }
  }
  found_.erase(found_.begin(), found_.begin() + static_cast<ptrdiff_t>(next));
  // Does not return the last item yet, because one of a later window may overlap it.
  if (!kept.empty() && end != INT32_MAX) {
    found_.insert(found_.begin(), std::move(kept.back()));
    kept.pop_back();
  }
  return kept;
}

}  // namespace peruse
