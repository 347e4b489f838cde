// The backward pass recomputes the attention probabilities, which would otherwise take most of a step's memory.
#include <algorithm>

#include "core/cpu/activations.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

struct Reach {
  int64_t first = 0;
  int64_t count = 0;
};
Reach ReachOf(std::span<const int32_t> slots, int64_t longest, int64_t length) {
  const auto own = slots.subspan(static_cast<size_t>(longest - length), static_cast<size_t>(2 * length - 1));
  const auto [least, most] = std::minmax_element(own.begin(), own.end());
  return {*least, *most - *least + 1};
}

// Returns the number of heads that share keys and values.
int64_t KeyGroup(const ops::Attention& op, const Tape& t) { return t.value(op.query).cols / t.value(op.key).cols; }

class Head {
 public:
  // `products` and `memory` must be those of the calling thread.
  Head(const ops::Attention& op, Tape& t, Products& products, float* memory, int32_t text, int64_t head)
      : op_(op), t_(t), products_(products), head_(head) {
    length_ = t.batch().length(text);
    keys_ = t.batch().keys(text);
    start_ = t.batch().start(text);
    width_ = t.value(op.query).cols / op.heads;
    column_ = head * width_;
    key_column_ = head / KeyGroup(op, t) * width_;
    first_row_ = static_cast<uint32_t>(start_ * op.heads + head * length_);
    if (op.slots.valid()) {
      const std::span<const int32_t> slots = t.at(op.slots);
      const int64_t longest = t.batch().longest();
      if (op.position_key.valid() || op.position_query.valid()) reach_ = ReachOf(slots, longest, length_);
      slots_ = slots.data() + longest - 1;
    }
    weights_ = {memory, length_, length_, length_};
    gradients_ = {weights_.row(length_), length_, length_, length_};
    positions_ = {gradients_.row(length_), length_, reach_.count, reach_.count};
  }

  // out = dropout(softmax(scale scores)) value
  void Run() {
    ComputeWeights();
    Drop(weights_);
    const Block out = Own(t_.value(op_.out));
    Multiply(weights_.operand(), OwnKeys(t_.value(op_.value)), length_, out, /*add=*/false);
  }

  void Return() {
    ComputeWeights();
    const Block out = Own(t_.gradient(op_.out));
    if (t_.wants(op_.value)) {
      for (int64_t i = 0; i < length_; ++i) std::copy_n(weights_.row(i), length_, gradients_.row(i));
      Drop(gradients_);
      Multiply(gradients_.operand().Transposed(), out, length_, OwnKeys(t_.Accumulator(op_.value)), /*add=*/true);
    }
    MultiplyTransposed(out, OwnKeys(t_.value(op_.value)), gradients_, /*add=*/false);
    Drop(gradients_);
    for (int64_t i = 0; i < length_; ++i) ReturnSoftmax(weights_.row(i), gradients_.row(i));
    ReturnProduct(op_.query, op_.key);
    if (op_.position_key.valid()) ReturnPositions(op_.query, op_.position_key, /*by_key=*/false);
    if (op_.position_query.valid()) ReturnPositions(op_.key, op_.position_query, /*by_key=*/true);
    if (op_.position_bias.valid() && t_.wants(op_.position_bias)) ReturnBiases();
  }

 private:
  Block Own(const Block& block) const { return block.Rows(start_, length_).Columns(column_, width_); }
  Block OwnKeys(const Block& block) const { return block.Rows(start_, length_).Columns(key_column_, width_); }
  Block Table(const Block& table) const { return table.Rows(reach_.first, reach_.count).Columns(column_, width_); }
  int64_t Slot(int64_t i, int64_t j) const { return slots_[i - j] - reach_.first; }

  void Multiply(const Operand& a, const Block& b, int64_t rows, const Block& out, bool add) {
    products_.Run(rows, b.cols, b.rows, a, b.operand(), out.data, out.stride, add);
  }
  // Computes a b^T into `out`, or adds it with `add`.
  void MultiplyTransposed(const Block& a, const Block& b, const Block& out, bool add) {
    products_.Run(a.rows, b.rows, a.cols, a.operand(), b.operand().Transposed(), out.data, out.stride, add);
  }

  void ComputeWeights() {
    MultiplyTransposed(Own(t_.value(op_.query)), OwnKeys(t_.value(op_.key)), weights_, /*add=*/false);
    if (op_.position_key.valid()) AddPositions(op_.query, op_.position_key, /*by_key=*/false);
    if (op_.position_query.valid()) AddPositions(op_.key, op_.position_query, /*by_key=*/true);
    if (op_.position_bias.valid()) AddBiases();
    for (int64_t i = 0; i < length_; ++i) {
      const int64_t first = op_.FirstKey(static_cast<int32_t>(i));
      const int64_t end = op_.EndKey(static_cast<int32_t>(i), keys_);
      float* const row = weights_.row(i);
      cpu::SoftmaxRow(row + first, end - first, op_.scale);
      std::fill_n(row, first, 0.0f);
      std::fill_n(row + end, length_ - end, 0.0f);
    }
  }

  // score[i, j] += x_i . table[slot(i, j)], or with by_key x_j . table[slot(i, j)].
  void AddPositions(Value x, Value table, bool by_key) {
    MultiplyTransposed(Own(t_.value(x)), Table(t_.value(table)), positions_, /*add=*/false);
    for (int64_t i = 0; i < length_; ++i) {
      for (int64_t j = 0; j < length_; ++j) weights_.row(i)[j] += positions_.row(by_key ? j : i)[Slot(i, j)];
    }
  }

  // Adds biases divided by the scale, because the scale multiplies the whole score later.
  void AddBiases() {
    const Block& biases = t_.value(op_.position_bias);
    for (int64_t i = 0; i < length_; ++i) {
      for (int64_t j = 0; j < length_; ++j) weights_.row(i)[j] += biases.row(slots_[i - j])[head_] / op_.scale;
    }
  }

  void ReturnBiases() {
    const Block& biases = t_.Accumulator(op_.position_bias);
    for (int64_t i = 0; i < length_; ++i) {
      for (int64_t j = 0; j < length_; ++j) biases.row(slots_[i - j])[head_] += gradients_.row(i)[j] / op_.scale;
    }
  }

  void Drop(const Block& block) {
    // With scale 0 the operation is the mean over a text, to which dropout does not apply.
    if (t_.dropout().rate == 0 || op_.scale == 0) return;
    for (int64_t i = 0; i < length_; ++i) {
      t_.dropout().Apply(t_.place(), first_row_ + static_cast<uint32_t>(i), block.row(i), length_);
    }
  }

  void ReturnSoftmax(const float* weights, float* gradients) {
    double mean = 0;
    for (int64_t j = 0; j < length_; ++j) mean += double{weights[j]} * double{gradients[j]};
    for (int64_t j = 0; j < length_; ++j) {
      gradients[j] = op_.scale * weights[j] * (gradients[j] - static_cast<float>(mean));
    }
  }

  void ReturnProduct(Value query, Value key) {
    if (t_.wants(query)) {
      Multiply(gradients_.operand(), OwnKeys(t_.value(key)), length_, Own(t_.Accumulator(query)), /*add=*/true);
    }
    if (t_.wants(key)) {
      Multiply(gradients_.operand().Transposed(), Own(t_.value(query)), length_, OwnKeys(t_.Accumulator(key)),
               /*add=*/true);
    }
  }

  void ReturnPositions(Value x, Value table, bool by_key) {
    Fill(positions_, 0);
    for (int64_t i = 0; i < length_; ++i) {
      for (int64_t j = 0; j < length_; ++j) positions_.row(by_key ? j : i)[Slot(i, j)] += gradients_.row(i)[j];
    }
    if (t_.wants(x)) {
      Multiply(positions_.operand(), Table(t_.value(table)), length_, Own(t_.Accumulator(x)), /*add=*/true);
    }
    if (t_.wants(table)) {
      Multiply(positions_.operand().Transposed(), Own(t_.value(x)), reach_.count, Table(t_.Accumulator(table)),
               /*add=*/true);
    }
  }

  const ops::Attention& op_;
  Tape& t_;
  Products& products_;
  const int64_t head_;
  int32_t keys_;
  int64_t length_, start_, width_;
  int64_t column_, key_column_;  // first columns of the head's queries, and of its keys
  uint32_t first_row_;           // first row of the head's matrix in `probabilities`
  Reach reach_;
  const int32_t* slots_ = nullptr;  // indexed by distance
  Block weights_, gradients_;       // each [length, length]
  Block positions_;                 // products with all position rows, [length, reach]
};

// A task is the heads of one text that share keys, or, with `together`, those of all texts in order.
template <typename Visit>
void ForEachHead(const ops::Attention& op, Tape& t, bool together, Visit visit) {
  const int64_t scratch = t.workers().threads() == 1 ? 0 : HeadScratch(op, t.batch(), t.indices());
  const int32_t texts = t.batch().sequences(), at_once = together ? texts : 1;
  const int64_t group = KeyGroup(op, t), groups = op.heads / group;
  t.workers().For(texts / at_once * groups, [&](int32_t thread, int64_t task) {
    const auto first = static_cast<int32_t>(task / groups);
    const int64_t head = task % groups * group;
    for (int32_t i = 0; i < at_once * group; ++i) {
      visit(Head(op, t, t.workers().products(thread), t.scratch() + thread * scratch,
                 first + i / static_cast<int32_t>(group), head + i % group));
    }
  });
}

}  // namespace

template <>
void Forward(const ops::Attention& op, Tape& t) {
  PERUSE_CHECK(!op.sinks.valid());  // training refuses models that have them
  ForEachHead(op, t, /*together=*/false, [](Head head) { head.Run(); });
}
// Position parameters have the same rows for all texts, so that only heads are independent; otherwise texts are, too.
template <>
void Backward(const ops::Attention& op, Tape& t) {
  const auto start = [&](Value value) { return value.valid() && t.wants(value) && t.Accumulator(value); };
  for (const Value value : {op.query, op.key, op.value}) start(value);
  bool together = false;
  for (const Value table : {op.position_key, op.position_query, op.position_bias}) together |= start(table);
  ForEachHead(op, t, together, [](Head head) { head.Return(); });
}

}  // namespace peruse::train
