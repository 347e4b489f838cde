// What a model computes of its weights alone: tables that its runs read as constants. DeBERTa's position keys and queries are such, its
// relative embeddings times the projections of each layer.
//
// A text reads the rows of the distances within it, and a row is made when a run first reads it, by the same operations and with the same
// bits as all rows at once (backend.h: a row depends on that row alone).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/passes/passes.h"

namespace peruse {

class Folding {
 public:
  using Indices = std::span<const std::span<const int32_t>>;  // by IndexId

  Folding() = default;
  explicit Folding(const Hoisted& programs);

  const Plan& plan() const { return plan_; }

  // The tables, of zeros, into weights->constants. kOutOfMemory.
  Status Create(Backend& backend, Weights* weights) const;
  // Takes the tables of `other`, which is made of the same weights, and has the rows in common with it from now on. False: they are not alike.
  bool Share(const Folding& other, const Weights& from, Weights* weights);

  Status MakeAll(Backend& backend, const Weights& weights);
  // Whether rows can be made by themselves.
  bool is_by_row() const { return is_by_row_; }
  // The rows that `run` reads, as far as they are not there; of tables that are not by row MakeAll has made them. kOutOfMemory: the
  // next run makes what this one could not.
  Status MakeFor(const Program& run, Indices indices, Backend& backend, const Weights& weights);

 private:
  struct Table {
    int32_t constant = -1;  // its number
    int32_t rows = 0;
    int32_t cols = 0;
  };
  // Rows [first, end) of all tables.
  struct Rows {
    int32_t first = 0;
    int32_t end = 0;
  };

  bool IsTable(const Program& run, Value value) const;
  Rows ReadBy(const Program& run, Indices indices) const;
  Status Make(Rows rows, Backend& backend, const Weights& weights);

  Plan plan_;
  std::vector<Table> tables_;
  bool is_by_row_ = false;
  Rows all_;  // of those that are not by row: one
  std::shared_ptr<Rows> made_ = std::make_shared<Rows>();
};

}  // namespace peruse
