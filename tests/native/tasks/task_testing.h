#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/requests.h"
#include "core/api/results.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {

// Words of `vocabulary` (separated by spaces) get ids from 5; [PAD] [UNK] [CLS] [SEP] [MASK] are 0 to 4.
inline std::unique_ptr<text::Tokenizer> WordTokenizer(std::string_view vocabulary, std::string_view config = "{}") {
  std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char c : vocabulary) vocab += c == ' ' ? '\n' : c;
  text::TokenizerFiles files;
  files.emplace("vocab.txt", vocab);
  files.emplace("tokenizer_config.json", config);
  Result<std::unique_ptr<text::Tokenizer>> tokenizer = text::Tokenizer::Create(files);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

template <typename T>
void Join(std::vector<T>* joined, std::vector<T> more) {
  for (T& item : more) joined->push_back(std::move(item));
}
template <typename T>
void Join(T* joined, T whole) {
  *joined = std::move(whole);
}

// A task that stores its results for each input.
template <typename T>
class Collecting : public T {
 public:
  using T::T;
  std::vector<typename T::Output> results;
  size_t parts = 0;

 protected:
  void Give(size_t input, typename T::Output result) override {
    ++parts;
    results.resize(std::max(results.size(), input + 1));
    Join(&results[input], std::move(result));
  }
};

inline Status RunToEnd(Task& task) {
  PERUSE_RETURN_IF_ERROR(task.Start());
  for (bool more = true; more;) {
    PERUSE_ASSIGN_OR_RETURN(more, task.Step());
  }
  return OkStatus();
}

template <typename T>
Status RunRequest(Collecting<T>* task, std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request));
  PERUSE_RETURN_IF_ERROR(ReadRequest(document.root(), &task->request));
  return RunToEnd(*task);
}

template <typename T>
std::string RunTask(const text::Tokenizer& tokenizer, Runner& model, std::string_view request) {
  Collecting<T> task({tokenizer, model});
  const Status status = RunRequest(&task, request);
  if (!status.ok()) return Describe(status);
  std::string json;
  ResultWriter writer(&json);
  Write(writer, task.results);
  return json;
}

inline ModelConfig LabelConfig(std::vector<std::string> labels) {
  ModelConfig config;
  config.id2label = std::move(labels);
  for (const std::string& label : config.id2label) {
    config.label2id.emplace_back(label, static_cast<int32_t>(config.label2id.size()));
  }
  config.max_tokens = ModelConfig::kUnlimited;
  config.max_position_embeddings = 512;
  return config;
}

}  // namespace peruse
