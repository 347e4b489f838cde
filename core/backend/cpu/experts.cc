#include "core/ops/experts.h"

#include <algorithm>

#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

// Replaces a row of logits by its softmax.
void Softmax(float* row, int64_t count) {
  const float largest = *std::max_element(row, row + count);
  for (int64_t i = 0; i < count; ++i) row[i] -= largest;
  simd::Map(row, row, count, [](simd::Floats v) { return simd::Exp(v); });
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += row[i];
  for (int64_t i = 0; i < count; ++i) row[i] /= sum;
}

// The experts of all rows, in scratch memory.
struct Choices {
  int32_t* experts;  // [rows, chosen]
  float* shares;     // [rows, experts], the shares of all experts; only with `sums`

  Choices(const ops::Experts& op, const Block& router, float* memory)
      : experts(reinterpret_cast<int32_t*>(memory + router.rows * router.cols)), shares(memory) {
    const auto chosen = static_cast<size_t>(op.chosen);
    for (int64_t r = 0; r < router.rows; ++r) {
      const std::span<const float> logits(router.row(r), static_cast<size_t>(router.cols));
      ops::ChooseExperts(logits, {experts + r * op.chosen, chosen});
      if (!op.sums) continue;
      std::copy(logits.begin(), logits.end(), shares + r * router.cols);
      float* const row = shares + r * router.cols;
      Softmax(row, router.cols);
      if (!op.among_chosen) continue;
      float sum = 0;
      for (int64_t j = 0; j < op.chosen; ++j) sum += row[experts[r * op.chosen + j]];
      for (int64_t i = 0; i < router.cols; ++i) row[i] /= sum;
    }
  }
};

}  // namespace

// Gathers the rows of each expert, so that a product reads the expert's weights once.
template <>
Status Run(Runner& r, const ops::Experts& op) {
  const Block x = r.View(op.x), router = r.View(op.router), out = r.View(op.out);
  const int64_t in = r.linear(op.weight).depth(), outputs = r.linear(op.weight).group_width() / router.cols;
  const int64_t slots = x.rows * op.chosen;
  const Scratch memory(r, (x.rows * (router.cols + in + outputs + 1) + slots) * static_cast<int64_t>(sizeof(float)));
  if (!memory) return NoWorkspace();
  const Choices choices(op, router, memory.floats());
  auto* const places = choices.experts + slots;  // numbers of the expert's rows in `choices.experts`
  float* const gathered = reinterpret_cast<float*>(places + x.rows);
  float* const results = gathered + x.rows * in;
  for (int64_t row = 0; op.sums && row < out.rows; ++row) std::fill_n(out.row(row), out.cols, 0.0f);
  for (int32_t expert = 0; expert < router.cols; ++expert) {
    int64_t count = 0;
    for (int64_t i = 0; i < slots; ++i) {
      if (choices.experts[i] != expert) continue;
      const int64_t row = i / op.chosen;
      std::copy_n(x.row(row) + (op.sums ? i % op.chosen * in : 0), in, gathered + count * in);
      places[count++] = static_cast<int32_t>(i);
    }
    if (count == 0) continue;
    PERUSE_RETURN_IF_ERROR(Project(r, {gathered, count, in, in}, op.weight, Activation::kNone,
                                   {results, count, outputs, outputs}, expert * outputs));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = places[i] / op.chosen;
      const float* const result = results + i * outputs;
      if (!op.sums) {
        std::copy_n(result, outputs, out.row(row) + places[i] % op.chosen * outputs);
        continue;
      }
      const float share = choices.shares[row * router.cols + expert];
      for (int64_t c = 0; c < outputs; ++c) out.row(row)[c] += share * result[c];
    }
  }
  return OkStatus();
}

}  // namespace peruse::cpu
