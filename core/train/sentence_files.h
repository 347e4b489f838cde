// The small files of a folder for sentence_transformers: its modules, ending with a classifier.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse::train {

// The folder of the classifier, with its weights in model.safetensors.
std::string ClassifierFolder(const SentenceModules& modules);

// Returns names and contents: modules.json, the modules' config.json and sentence_bert_config.json. `modules` exclude the classifier, whose
// input is a vector of `hidden` numbers. sentence_transformers returns the labels' logits as the text's vector.
std::vector<std::pair<std::string, std::string>> SentenceFiles(const SentenceModules& modules, int32_t hidden,
                                                               int32_t labels);

}  // namespace peruse::train
