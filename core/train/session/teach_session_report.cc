#include <algorithm>
#include <cmath>

#include "core/train/session/teach_request.h"
#include "core/train/session/teach_session.h"

namespace peruse::train {
namespace {

// The report warns if the last loss exceeds this share of ln(labels), the loss of guessing.
constexpr double kLittleLearnt = 0.8;

const char* MethodName(Method method) {
  constexpr const char* kNames[] = {"head", "layers", "lora", "full", "contrast"};
  return kNames[static_cast<size_t>(method)];
}

}  // namespace

// Writes "accuracy", the chosen method's accuracy by label with its errors, and "compared", all methods that were scored.
void TeachSession::WriteScores(JsonWriter& writer) const {
  const std::vector<Trials::Score>& scores = trials_->scores();
  if (scores.empty()) return;
  const auto head = [&](const Trials::Score& score) {
    writer.Key("method");
    writer.String(MethodName(score.method));
    WriteNumber(writer, "accuracy", score.accuracy);
    WriteCount(writer, "folds", score.folds);
  };
  writer.Key("compared");
  writer.BeginArray();
  for (const Trials::Score& score : scores) {
    writer.BeginObject();
    head(score);
    writer.EndObject();
  }
  writer.EndArray();
  const auto kept = std::find_if(scores.begin(), scores.end(),
                                 [&](const Trials::Score& score) { return score.method == trials_->options().method; });
  const Trials::Score& score = kept == scores.end() ? scores[0] : *kept;
  const std::vector<std::string>& labels = trainee_->config().id2label;
  std::vector<int64_t> all(labels.size()), right(labels.size());
  writer.Key("accuracy");
  writer.BeginObject();
  head(score);
  writer.Key("wrong");
  writer.BeginArray();
  for (size_t i = 0; i < score.guesses.size(); ++i) {
    const auto label = static_cast<size_t>(trials_->LabelOf(i));
    const Guess& guess = score.guesses[i];
    ++all[label];
    if (guess.label == static_cast<int32_t>(label)) {
      ++right[label];
      continue;
    }
    writer.BeginObject();
    WriteCount(writer, "example", trials_->training()[i].number);
    writer.Key("label");
    writer.String(labels[label]);
    writer.Key("predicted");
    writer.String(labels[static_cast<size_t>(guess.label)]);
    WriteNumber(writer, "score", double{guess.score});
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("labels");
  writer.BeginArray();
  for (size_t k = 0; k < labels.size(); ++k) {
    writer.BeginObject();
    writer.Key("label");
    writer.String(labels[k]);
    WriteCount(writer, "examples", all[k]);
    WriteCount(writer, "right", right[k]);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
}

std::vector<std::string> TeachSession::Notices() const {
  std::vector<std::string> notices = notices_;
  const Goal goal = reader_->goal();
  const std::vector<double>& losses = trials_->report().losses;
  const double chance = std::log(static_cast<double>(trainee_->config().num_labels()));
  if ((goal == Goal::kSingleLabel || goal == Goal::kTokens) && !losses.empty() &&
      losses.back() > kLittleLearnt * chance) {
    const bool steps = trials_->report().l2 == 0;
    notices.push_back(std::string("Little was learnt: the last loss is near that of guessing. ") +
                      (steps ? "More epochs, a larger learning_rate, more" : "More") +
                      " examples or another model may help.");
  }
  return notices;
}

Result<std::string> TeachSession::Report() const {
  if (stage_ != Stage::kTeaching) return InvalidArgument("report was called out of order");
  const Teacher::Report& report = trials_->report();
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("method");
  writer.String(MethodName(trials_->options().method));
  WriteNumber(writer, "learning_rate", trials_->options().adamw.learning_rate);
  WriteCount(writer, "steps", report.steps);
  WriteCount(writer, "tokens", report.tokens);
  WriteCount(writer, "trained_parameters", trials_->plan().trained);
  WriteCount(writer, "memory_bytes", trials_->plan().bytes);
  writer.Key("best_epoch");
  report.best_epoch > 0 ? writer.Int(report.best_epoch) : writer.Null();
  if (report.l2 > 0) {
    WriteNumber(writer, "l2", report.l2);
    WriteNumber(writer, "temperature", report.temperature);
  }
  writer.Key("losses");
  writer.BeginArray();
  for (const double loss : report.losses) writer.Double(loss);
  writer.EndArray();
  writer.Key("epochs");
  writer.BeginArray();
  for (const Teacher::Epoch& epoch : report.epochs) {
    writer.BeginObject();
    WriteNumber(writer, "loss", epoch.loss);
    if (generator_) WriteNumber(writer, "generator_loss", epoch.generator_loss);
    if (epoch.validation) {
      writer.Key("validation");
      Write(writer, *epoch.validation);
    }
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("labels");
  writer.Strings(trainee_->config().id2label);
  WriteScores(writer);
  writer.Key("notices");
  writer.Strings(Notices());
  writer.EndObject();
  return json;
}

}  // namespace peruse::train
