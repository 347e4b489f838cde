#include "core/train/recipes/contrast.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/dot.h"
#include "core/train/memory/random_stream.h"

namespace peruse::train {
namespace {

// A batch has at least this many texts, however long they are: two of each of two labels.
constexpr size_t kFewestTexts = 4;

// Unit vectors [texts, width], and the lengths that they had.
struct Normalized {
  std::vector<double> units;
  std::vector<double> lengths;

  explicit Normalized(const Block& vectors) {
    const auto width = static_cast<size_t>(vectors.cols);
    for (int64_t text = 0; text < vectors.rows; ++text) {
      const float* const row = vectors.row(text);
      double squares = 0;
      for (size_t i = 0; i < width; ++i) squares += double{row[i]} * double{row[i]};
      const double length = std::max(std::sqrt(squares), 1e-12);
      lengths.push_back(length);
      for (size_t i = 0; i < width; ++i) units.push_back(double{row[i]} / length);
    }
  }
};

}  // namespace

ContrastBatches::ContrastBatches(std::span<const Example> examples, int32_t texts, int32_t tokens, uint64_t seed)
    : texts_(static_cast<size_t>(texts)), tokens_(static_cast<size_t>(tokens)), seed_(seed) {
  for (const Example& example : examples) {
    const auto label = static_cast<size_t>(example.labels[0]);
    if (label >= by_label_.size()) by_label_.resize(label + 1);
    by_label_[label].push_back(&example);
  }
  std::erase_if(by_label_, [](const Part& own) { return own.empty(); });
}

Part ContrastBatches::Draw(size_t update) const {
  const RandomStream random(seed_, Purpose::kContrast);
  std::vector<Part> labels = by_label_;
  const size_t first_draw = update * (labels.size() + 1);
  for (size_t k = 0; k < labels.size(); ++k) random.Shuffle(std::span(labels[k]), first_draw + k);
  random.Shuffle(std::span(labels), first_draw + labels.size());
  Part part;
  size_t tokens = 0;
  // Takes two texts of each label, then a third of each, and so on, until all examples are in the batch.
  for (size_t first = 0, count = 2, before = SIZE_MAX; part.size() != before; first += count, count = 1) {
    before = part.size();
    for (const Part& own : labels) {
      for (size_t i = first; i < std::min(first + count, own.size()); ++i) {
        tokens += own[i]->ids.size();
        if (part.size() >= kFewestTexts && (tokens > tokens_ || part.size() >= texts_)) return part;
        part.push_back(own[i]);
      }
    }
  }
  return part;
}

double ContrastLoss(const Part& part, const Block& vectors, const Block& gradient) {
  const auto width = static_cast<size_t>(vectors.cols);
  const size_t texts = part.size();
  const Normalized normalized(vectors);
  const auto unit = [&](size_t text) { return normalized.units.data() + text * width; };
  int64_t pairs[2] = {};  // with different labels, with the same label
  for (size_t a = 0; a < texts; ++a) {
    for (size_t b = 0; b < a; ++b) ++pairs[part[a]->labels[0] == part[b]->labels[0] ? 1 : 0];
  }
  double loss = 0;
  std::vector<double> gradients(texts * width);  // with respect to the unit vectors
  for (size_t a = 0; a < texts; ++a) {
    for (size_t b = 0; b < a; ++b) {
      const bool same = part[a]->labels[0] == part[b]->labels[0];
      const double error = cpu::Dot(unit(a), unit(b), vectors.cols) - (same ? 1 : 0);
      const auto count = static_cast<double>(pairs[same ? 1 : 0]);
      loss += error * error / count;
      const double slope = 2 * error / count;
      for (size_t i = 0; i < width; ++i) {
        gradients[a * width + i] += slope * unit(b)[i];
        gradients[b * width + i] += slope * unit(a)[i];
      }
    }
  }
  for (size_t text = 0; text < texts; ++text) {
    const double* const own = gradients.data() + text * width;
    const double along = cpu::Dot(own, unit(text), vectors.cols);
    float* const out = gradient.row(static_cast<int64_t>(text));
    for (size_t i = 0; i < width; ++i)
      out[i] = static_cast<float>((own[i] - along * unit(text)[i]) / normalized.lengths[text]);
  }
  return loss;
}

}  // namespace peruse::train
