// Brings checkpoint tensors to their places.
//
// Parameters (core/program/parameters.h) say which tensors a program needs. When a file's header comes, every missing and
// misshapen tensor is reported in one error; then tensors flow row by row into the backend. Places are made when their first
// bytes arrive, so memory follows the bytes that came.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/base/status.h"
#include "core/program/parameters.h"
#include "core/weights/float_reader.h"
#include "core/weights/tensor_info.h"
#include "core/weights/tensor_names.h"

namespace peruse {

class Binder : public TensorVisitor {
 public:
  // `prefixes`: what may stand before the names of encoder tensors, such as "convbert.". `parameters` and `weights` outlive
  // the binder; it puts the handles of what it makes into `weights`.
  Binder(Backend& backend, Precision precision, std::vector<std::string> prefixes, const Parameters& parameters,
         Weights& weights);

  // Pieces that are where they belong already, by number: nothing of them is read. Before the first header.
  void Hold(std::vector<bool> pieces) { held_ = std::move(pieces); }
  // Names of all tensors, where they are known before the headers (a sharded checkpoint's index).
  Status SetNames(const std::vector<std::string>& names);
  // Before the header of another file of the same checkpoint.
  void NextFile();
  // Whether every tensor that is needed has come; kMissingTensor otherwise.
  Status Finish() const;

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  bool Wants(size_t index) const override { return !targets_[index].empty(); }

  int32_t tensors_used() const { return tensors_used_; }
  const std::vector<std::string>& extra_tensors() const { return extra_tensors_; }
  std::vector<std::string> HeadTensors() const;
  // The tensor that each piece is; by piece. Empty while no names are known.
  std::vector<std::string> PieceNames() const;

 private:
  // A piece on its way.
  struct Requirement {
    const Piece* piece;
    std::string name;  // the one of the piece's names that this checkpoint uses
    bool filled = false;
    bool held = false;  // before this checkpoint was read
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

  Status ResolveNames(const std::vector<std::string_view>& names);
  Status CheckFit(std::span<const TensorInfo> tensors) const;
  bool TakesInt8(const Piece& piece) const;
  Status OpenTensor(const TensorInfo& tensor, const std::vector<Target>& targets);

  const LinearSpec& linear(const Piece& piece) const {
    return parameters_.linears[static_cast<size_t>(piece.parameter)];
  }
  Status EnsureLinear(const Piece& piece, Weight* weight);
  Status EnsureConstant(const Piece& piece, Tensor* constant);
  Status EnsureTable(const Piece& piece, DType source, EmbeddingTable** table);

  // ---- Writing: whole units of a piece (Units), from unit `first` on ---------------------------------------------------
  // In how many units the piece's floats are handed on.
  int64_t Units(const Piece& piece) const;
  Status Write(const Target& target, DType dtype, int32_t first, std::span<const float> values);
  Status WritePiece(const Piece& piece, int32_t first, std::span<const float> values);
  // Rows of a linear, quantised first if its format is int8.
  Status WriteRows(const Piece& piece, int32_t first_row, std::span<const float> rows);
  // Calls write(first row of the linear, first row of the piece, rows) for each run of `count` rows that stay together.
  template <typename Write>
  Status PlaceEach(const Piece& piece, int32_t row, int32_t count, Write write);
  Status WritePlaced(const Piece& piece, int32_t row, std::span<const float> values);
  Status WriteTransposed(const Piece& piece, int32_t unit, std::span<const float> values);
  // `values`: int8, as floats.
  Status WriteInt8(const Requirement& requirement, int32_t row, std::span<const float> values);
  Status WriteScales(const Piece& piece, int32_t row, std::span<const float> scales);
  Status WriteSoftmaxTaps(const Piece& piece, std::span<const float> values);
  Status WriteTiled(const Piece& piece, int32_t row, std::span<const float> values);

  Backend& backend_;
  const Precision precision_;
  const Parameters& parameters_;
  Weights& weights_;

  std::vector<bool> held_;  // by piece; may be shorter
  bool resolved_ = false;   // names known, requirements made
  TensorNames names_;
  std::deque<Requirement> requirements_;

  // The file being read.
  std::vector<TensorInfo> tensors_;
  std::vector<std::vector<Target>> targets_;  // by tensor
  size_t open_tensor_ = kNoTensor;
  uint64_t open_bytes_ = 0;
  std::vector<Route> routes_;
  Int8Rows encoded_;  // rows on their way

  int32_t tensors_used_ = 0;
  std::vector<std::string> extra_tensors_;

  static constexpr size_t kNoTensor = static_cast<size_t>(-1);
};

}  // namespace peruse
