// Small files of a folder for sentence_transformers, whose last module is a classifier.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse::train {

// Returns the folder of the classifier; its weights are there in model.safetensors.
std::string ClassifierFolder(const SentenceModules& modules);

// Returns names and contents of modules.json, the modules' config.json and sentence_bert_config.json. `modules` exclude the classifier,
// whose input is a vector of `hidden` numbers. sentence_transformers then returns the logits of the labels as the vector of a text.
std::vector<std::pair<std::string, std::string>> SentenceFiles(const SentenceModules& modules, int32_t hidden,
                                                               int32_t labels);

}  // namespace peruse::train
