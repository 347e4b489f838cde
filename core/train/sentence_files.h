// The small files of a folder that sentence_transformers reads: its modules, the last of which is a classifier.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/tasks/sentence_modules.h"

namespace peruse::train {

// The folder of the classifier, whose weights are in its model.safetensors.
std::string ClassifierFolder(const SentenceModules& modules);

// Names and contents: modules.json, the modules' config.json and sentence_bert_config.json. `modules` are without the classifier, which
// takes vectors of `hidden` numbers. sentence_transformers computes the logits of the labels as the vector of a text.
std::vector<std::pair<std::string, std::string>> SentenceFiles(const SentenceModules& modules, int32_t hidden,
                                                               int32_t labels);

}  // namespace peruse::train
