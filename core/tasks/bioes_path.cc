#include "core/tasks/bioes_path.h"

#include <algorithm>
#include <cmath>

namespace peruse {
namespace {

bool Starts(char prefix) { return prefix == 'B' || prefix == 'S'; }
bool Ends(char prefix) { return prefix == 'E' || prefix == 'S'; }

size_t ArgMax(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

BioesPath::BioesPath(std::span<const std::string> labels, const PathBiases& biases) : biases_(biases) {
  for (const std::string& label : labels) {
    const bool marked = label.size() > 2 && label[1] == '-' && std::string_view("BIES").find(label[0]) < 4;
    marks_.push_back({marked ? label[0] : 'O', std::string_view(label).substr(marked ? 2 : 0)});
  }
  for (const Mark& from : marks_) {
    for (const Mark& to : marks_) steps_.push_back(Step(from, to));
  }
}

float BioesPath::Step(const Mark& from, const Mark& to) const {
  if (from.prefix == 'B' || from.prefix == 'I') {
    if (from.name != to.name) return kIllegal;
    if (to.prefix == 'I') return biases_.inside_to_continue;
    return to.prefix == 'E' ? biases_.inside_to_end : kIllegal;
  }
  const bool outside = from.prefix == 'O';
  if (to.prefix == 'O') return outside ? biases_.background_stay : biases_.end_to_background;
  if (!Starts(to.prefix)) return kIllegal;
  return outside ? biases_.background_to_start : biases_.end_to_start;
}

std::vector<size_t> BioesPath::Best(std::span<const std::vector<float>> scores) const {
  const size_t labels = marks_.size(), tokens = scores.size();
  if (tokens == 0) return {};
  std::vector<float> sums(scores[0]);
  for (size_t l = 0; l < labels; ++l) {
    if (marks_[l].prefix != 'O' && !Starts(marks_[l].prefix)) sums[l] += kIllegal;
  }
  std::vector<size_t> from(tokens * labels);  // the label before label l of token t
  std::vector<float> next(labels), candidates(labels);
  for (size_t t = 1; t < tokens; ++t) {
    for (size_t l = 0; l < labels; ++l) {
      for (size_t k = 0; k < labels; ++k) candidates[k] = sums[k] + steps_[k * labels + l];
      const size_t best = ArgMax(candidates);
      from[t * labels + l] = best;
      next[l] = candidates[best] + scores[t][l];
    }
    sums.swap(next);
  }
  for (size_t l = 0; l < labels; ++l) {
    if (marks_[l].prefix != 'O' && !Ends(marks_[l].prefix)) sums[l] += kIllegal;
  }
  std::vector<size_t> path(tokens, ArgMax(sums));
  if (!std::isfinite(sums[path[0]])) {
    for (size_t t = 0; t < tokens; ++t) path[t] = ArgMax(scores[t]);
    return path;
  }
  for (size_t t = tokens - 1; t > 0; --t) path[t - 1] = from[t * labels + path[t]];
  return path;
}

}  // namespace peruse
