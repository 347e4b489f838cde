// Brings checkpoint tensors to their places.
//
// A model declares what it needs, by name, with a pointer to where the handle shall go:
//
//   binder.Linear("encoder.layer.0.output.dense", 3072, 768, &layer.output);
//   binder.Stack(768, &layer.query_key_value).Add(p + "query", 768).Add(p + "key", 768).Add(p + "value", 768);
//
// When a file's header comes, every missing and misshapen tensor is reported in one error; then tensors flow row by row
// into the backend. Places are made when their first bytes arrive, so memory follows the bytes that came.
//
// Names are the reference implementation's, without the encoder's prefix (see Normalise).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/weights/embedding_table.h"
#include "core/weights/float_reader.h"
#include "core/weights/safetensors.h"

namespace peruse {

class Binder : public SafetensorsVisitor {
 public:
  // `prefixes`: what may stand before the names of encoder tensors, such as "convbert.". `declare` calls the
  // declaration functions below; it runs once, when the names in the checkpoint are known (Has).
  using Declare = std::function<Status(Binder&)>;
  Binder(Backend& backend, Precision precision, std::vector<std::string> prefixes, Declare declare);

  // ---- For models, within `declare` ----------------------------------------------------------------------------
  // Pointers must stay valid until loading is over.

  // Whether the checkpoint has a tensor of this name.
  bool Has(std::string_view name) const;
  // Tensors declared from here on belong to the head that messages call `name`.
  void BeginHead(std::string_view name) { head_ = std::string(name); }

  // Several tensors as one Weight, one below the other: a single product computes them all.
  class LinearStack;
  LinearStack Stack(int32_t in, Weight* weight);
  LinearStack Stack(int32_t in, int32_t groups, Precision precision, Weight* weight);

  // name.weight [out, in], name.bias [out]
  void Linear(const std::string& name, int32_t in, int32_t out, Weight* weight);
  // The same, in float32 whatever the precision of the model.
  void LinearF32(const std::string& name, int32_t in, int32_t out, Weight* weight);
  // name.weight [groups, in / groups, out / groups] (input-major), name.bias [out]; transformers' GroupedLinearLayer.
  // With one group it is an ordinary linear, as there. wide_input: see LinearSpec.
  void GroupedLinear(const std::string& name, int32_t in, int32_t out, int32_t groups, Weight* weight,
                     bool wide_input = false);
  // name.weight [out, in / groups, kernel_size], name.bias [out]: held as Backend::Conv1d takes it.
  void Conv1d(const std::string& name, int32_t in, int32_t out, int32_t groups, int32_t kernel_size, Weight* weight);
  // name [channels, 1, kernel_size], held as taps [kernel_size, channels].
  void DepthwiseTaps(const std::string& name, int32_t channels, int32_t kernel_size, Tensor* taps);
  // name [heads, kernel_size]: normalised by softmax over the taps, shared by each head's channels; held as taps
  // [kernel_size, channels] (lightweight convolution).
  void SoftmaxTaps(const std::string& name, int32_t heads, int32_t channels, int32_t kernel_size, Tensor* taps);
  // name.weight [width], name.bias [width] (or .gamma and .beta)
  void LayerNorm(const std::string& name, int32_t width, float eps, Norm* norm);
  // name [rows, cols]
  void Constant(const std::string& name, int32_t rows, int32_t cols, Tensor* constant);
  // name [rows, cols], each row repeated: held [rows, copies * cols].
  void TiledConstant(const std::string& name, int32_t rows, int32_t cols, int32_t copies, Tensor* constant);
  // name [rows, cols], in host memory
  void Embedding(const std::string& name, int32_t rows, int32_t cols, EmbeddingTable* table);
  // The same, and with kQ8 held as int8 by row.
  void WordEmbedding(const std::string& name, int32_t rows, int32_t cols, EmbeddingTable* table);

  // ---- For the loader ------------------------------------------------------------------------------------------

  // Names of all tensors, where they are known before the headers (a sharded checkpoint's index).
  Status SetNames(const std::vector<std::string>& names);
  // Before the header of another file of the same checkpoint.
  void NextFile();
  // Whether every declared tensor has come; kMissingTensor otherwise.
  Status Finish() const;

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;

  int32_t tensors_used() const { return tensors_used_; }
  const std::vector<std::string>& extra_tensors() const { return extra_tensors_; }
  std::vector<std::string> HeadTensors() const;

 private:
  struct LinearPlan {
    LinearSpec spec;
    Weight* weight;
  };
  // Rows of a Weight that follow each other.
  struct RowRun {
    int32_t first;
    int32_t count;
  };
  // Where a tensor's rows from `row` on go, as long as they follow each other there.
  using PlaceRows = std::function<RowRun(int32_t row)>;
  // A place that one tensor of the checkpoint fills.
  struct Requirement {
    std::string name;
    std::vector<int64_t> shape;
    std::string head;  // empty: of the encoder
    int64_t rows = 0;  // units in which the floats are handed on
    FloatReader::WriteRows write;
    EmbeddingTable* table = nullptr;  // instead of `write`
    bool words = false;               // a table that kQ8 holds as int8
    LinearPlan* plan = nullptr;       // instead of `write`: rows of a linear, placed by `place`
    PlaceRows place;
    bool filled = false;
  };
  // What a tensor of the file is for: the values of a requirement, or the scales of its int8 values.
  struct Target {
    Requirement* requirement;
    bool scales;
  };
  // What reads the current tensor.
  struct Route {
    Target target;
    std::unique_ptr<FloatReader> reader;  // none: bytes go to the table as they are
  };

  void Require(const std::string& name, std::vector<int64_t> shape, int64_t rows, FloatReader::WriteRows write);
  Status EnsureLinear(const LinearPlan& plan);
  // Rows of a linear, quantised first if it is held so.
  Status WriteRows(const LinearPlan& plan, int32_t first_row, std::span<const float> rows);
  // Calls write(first row of the weight, first row of the piece, rows) for each run of `count` rows of the tensor.
  template <typename Write>
  static Status PlaceEach(const PlaceRows& place, int32_t row, int32_t count, Write write);
  Status WritePlaced(const Requirement& requirement, int32_t row, std::span<const float> values);
  // `values`: int8, as floats.
  Status WritePlacedInt8(const Requirement& requirement, int32_t row, std::span<const float> values);
  Status WritePlacedScales(const Requirement& requirement, int32_t row, std::span<const float> scales);
  bool TakesInt8(const Requirement& requirement) const;
  Status EnsureConstant(int32_t rows, int32_t cols, Tensor* constant);
  std::string Normalise(std::string_view name) const;
  Status ResolveNames(const std::vector<std::string_view>& names);
  Status CheckFit(std::span<const TensorInfo> tensors) const;
  Status EnsureTable(const Requirement& requirement, DType source);
  Status OpenTensor(const TensorInfo& tensor, const std::vector<Target>& targets);
  FloatReader::WriteRows Writer(const Target& target, DType dtype);

  Backend& backend_;
  Precision precision_;
  std::vector<std::string> prefixes_;
  Declare declare_;

  bool resolved_ = false;                     // names known, requirements declared
  std::string prefix_;                        // that this checkpoint uses
  std::set<std::string, std::less<>> names_;  // normalised
  std::string head_;
  std::deque<Requirement> requirements_;
  std::deque<LinearPlan> plans_;

  // The file being read.
  std::vector<TensorInfo> tensors_;
  std::vector<std::vector<Target>> targets_;  // by tensor
  size_t open_tensor_ = kNoTensor;
  uint64_t open_bytes_ = 0;
  std::vector<Route> routes_;
  std::vector<int8_t> int8_;  // rows on their way
  std::vector<float> scales_;

  int32_t tensors_used_ = 0;
  std::vector<std::string> extra_tensors_;

  static constexpr size_t kNoTensor = static_cast<size_t>(-1);
};

class Binder::LinearStack {
 public:
  // name.weight [out, in], name.bias [out]
  LinearStack& Add(const std::string& name, int32_t out);
  // A weight of any shape that holds out rows of in elements, named in full; no bias.
  LinearStack& AddWeight(const std::string& name, std::vector<int64_t> shape, int32_t out);
  // A bias of any shape, named in full, for outputs [first, first + count).
  LinearStack& AddBias(const std::string& name, std::vector<int64_t> shape, int32_t first, int32_t count);
  // name [heads * parts * head_dim, in] with rows ordered head, part, channel: held part, head, channel
  // (spec: deberta.md B1).
  LinearStack& AddInterleaved(const std::string& name, int32_t heads, int32_t parts, int32_t head_dim);
  // name [groups, in / groups, out / groups], input-major
  LinearStack& AddGrouped(const std::string& name, int32_t out);
  // name [out, channels, kernel_size], held [out, kernel_size * channels]
  LinearStack& AddConv1d(const std::string& name, int32_t out, int32_t channels, int32_t kernel_size);

 private:
  friend class Binder;
  LinearStack& AddRows(const std::string& name, std::vector<int64_t> shape, int32_t out, PlaceRows place);
  LinearStack(Binder& binder, LinearPlan& plan) : binder_(binder), plan_(plan) {}

  Binder& binder_;
  LinearPlan& plan_;
};

}  // namespace peruse
