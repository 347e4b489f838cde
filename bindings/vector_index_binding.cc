// VectorIndex: vectors that are searched. The host writes rows and query into the heap.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "bindings/reply.h"
#include "core/tasks/vector_index.h"

namespace peruse {
namespace {

class VectorIndexBinding {
 public:
  explicit VectorIndexBinding(uint32_t width) : index_(std::max(width, 1u)) {}

  // Where to write so many rows; 0: out of memory.
  uintptr_t Resize(uint32_t rows) {
    return index_.Resize(rows).ok() ? reinterpret_cast<uintptr_t>(index_.values().data()) : 0;
  }
  // Where to write a query.
  uintptr_t Query() { return reinterpret_cast<uintptr_t>(index_.query().data()); }
  // To be called when rows were written. The first row with a number that is not finite; -1: there is none.
  double Finish() {
    const std::optional<size_t> row = index_.Finish();
    return row ? static_cast<double>(*row) : -1;
  }
  // {"ok": true, "hits": [row, score, row, score, ...]}, the best first.
  std::string Search(uint32_t k) const {
    std::string json;
    JsonWriter writer(&json);
    writer.BeginArray();
    for (const VectorIndex::Hit& hit : index_.Search(k)) {
      writer.Int(static_cast<int64_t>(hit.row));
      writer.Double(static_cast<double>(hit.score));
    }
    writer.EndArray();
    return Success("hits", json);
  }

 private:
  VectorIndex index_;
};

EMSCRIPTEN_BINDINGS(peruse_vectors) {
  emscripten::class_<VectorIndexBinding>("VectorIndex")
      .constructor<uint32_t>()
      .function("resize", &VectorIndexBinding::Resize)
      .function("query", &VectorIndexBinding::Query)
      .function("finish", &VectorIndexBinding::Finish)
      .function("search", &VectorIndexBinding::Search);
}

}  // namespace
}  // namespace peruse
