// What the task tests share: a whole-word tokenizer, and running a task to its end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/tasks/task.h"

namespace peruse {

// Words of `vocabulary` (space separated) get ids from 5; [PAD] [UNK] [CLS] [SEP] [MASK] are 0 to 4.
inline std::unique_ptr<Tokenizer> WordTokenizer(std::string_view vocabulary, std::string_view config = "{}") {
  std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char c : vocabulary) vocab += c == ' ' ? '\n' : c;
  TokenizerFiles files;
  files.emplace("vocab.txt", vocab);
  files.emplace("tokenizer_config.json", config);
  Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::Create(files);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

// The task's JSON result, or "code: message".
inline std::string RunTask(Task& task, std::string_view request) {
  const auto failure = [](const Status& status) {
    return std::string(StatusCodeName(status.code())) + ": " + status.message();
  };
  Result<JsonDocument> document = JsonDocument::Parse(request);
  if (!document.ok()) return failure(document.status());
  const Status started = task.Start(document->root());
  if (!started.ok()) return failure(started);
  while (true) {
    const Result<bool> more = task.Step();
    if (!more.ok()) return failure(more.status());
    if (!*more) break;
  }
  const Result<std::string> result = task.Finish();
  return result.ok() ? *result : failure(result.status());
}

// A configuration with these labels and no limit on length.
inline ModelConfig LabelConfig(std::vector<std::string> labels) {
  ModelConfig config;
  config.id2label = std::move(labels);
  config.max_tokens = ModelConfig::kUnlimited;
  return config;
}

}  // namespace peruse
