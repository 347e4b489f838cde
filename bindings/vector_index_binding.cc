// The Embind class VectorIndex. The host writes rows and query into the heap.
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

  // Resizes to `rows` rows. Returns the address where the host writes them, or 0 if memory runs out.
  uintptr_t Resize(uint32_t rows) {
    return index_.Resize(rows).ok() ? reinterpret_cast<uintptr_t>(index_.values().data()) : 0;
  }
  // Like Resize, for rows in 8 bits: returns the address of the codes. Scales() returns the address of the scales.
  uintptr_t ResizeCodes(uint32_t rows) {
    return index_.ResizeCodes(rows).ok() ? reinterpret_cast<uintptr_t>(index_.codes().data()) : 0;
  }
  uintptr_t Scales() { return reinterpret_cast<uintptr_t>(index_.scales().data()); }
  uintptr_t Query() { return reinterpret_cast<uintptr_t>(index_.query().data()); }
  // The host calls this after writing rows. Returns the first row with NaN, infinity or a negative scale, or -1.
  double Finish() {
    const std::optional<size_t> row = index_.Finish();
    return row ? static_cast<double>(*row) : -1;
  }
  // Late interaction: resize the list of matrices' ends and the query, and return the addresses where the host writes them; 0 if memory runs
  // out.
  uintptr_t Ends(uint32_t matrices) {
    return index_.ResizeEnds(matrices).ok() ? reinterpret_cast<uintptr_t>(index_.ends().data()) : 0;
  }
  uintptr_t QueryRows(uint32_t rows) { return index_.ResizeQuery(rows).ok() ? Query() : 0; }

  // Return {"ok": true, "hits": [row, score, row, score, ...]}, in descending order of score.
  std::string Search(uint32_t k) const { return Hits(index_.Search(k)); }
  std::string SearchMatrices(uint32_t k) const { return Hits(index_.SearchMatrices(k)); }

 private:
  static std::string Hits(const std::vector<VectorIndex::Hit>& hits) {
    std::string json;
    JsonWriter writer(&json);
    writer.BeginArray();
    for (const VectorIndex::Hit& hit : hits) {
      writer.Int(static_cast<int64_t>(hit.row));
      writer.Double(static_cast<double>(hit.score));
    }
    writer.EndArray();
    return Success("hits", json);
  }

  VectorIndex index_;
};

EMSCRIPTEN_BINDINGS(peruse_vectors) {
  emscripten::class_<VectorIndexBinding>("VectorIndex")
      .constructor<uint32_t>()
      .function("resize", &VectorIndexBinding::Resize)
      .function("resizeCodes", &VectorIndexBinding::ResizeCodes)
      .function("scales", &VectorIndexBinding::Scales)
      .function("query", &VectorIndexBinding::Query)
      .function("finish", &VectorIndexBinding::Finish)
      .function("search", &VectorIndexBinding::Search)
      .function("ends", &VectorIndexBinding::Ends)
      .function("queryRows", &VectorIndexBinding::QueryRows)
      .function("searchMatrices", &VectorIndexBinding::SearchMatrices);
}

}  // namespace
}  // namespace peruse
