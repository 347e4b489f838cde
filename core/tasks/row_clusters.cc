#include "core/tasks/row_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/cpu/dot.h"

namespace peruse {
namespace {

struct Merge {
  int32_t left = 0, right = 0;  // rows, or count + the number of an earlier merge
  double height = 0;
  int32_t number = 0;
};

// Finds merges by following nearest neighbours until two are each other's (scipy's nn_chain).
class Chain {
 public:
  Chain(std::span<double> distances, size_t count) : distances_(distances), sizes_(count, 1) {}

  std::vector<Merge> Run() {
    std::vector<Merge> merges;
    std::vector<size_t> chain;
    while (merges.size() + 1 < sizes_.size()) {
      if (chain.empty()) {
        chain.push_back(static_cast<size_t>(
            std::find_if(sizes_.begin(), sizes_.end(), [](size_t size) { return size > 0; }) - sizes_.begin()));
      }
      const size_t last = chain.back();
      const size_t nearest = Nearest(last, chain.size() > 1 ? chain[chain.size() - 2] : last);
      if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
        chain.push_back(nearest);
        continue;
      }
      chain.resize(chain.size() - 2);
      const auto [x, y] = std::minmax(last, nearest);
      merges.push_back(
          {static_cast<int32_t>(x), static_cast<int32_t>(y), at(x, y), static_cast<int32_t>(merges.size())});
      Join(x, y);
    }
    return merges;
  }

 private:
  double& at(size_t a, size_t b) { return distances_[a * sizes_.size() + b]; }

  // Prefers the previous row of the chain, if others are as near.
  size_t Nearest(size_t row, size_t previous) {
    size_t nearest = previous;
    double least = previous == row ? std::numeric_limits<double>::infinity() : at(row, previous);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] == 0 || i == row || !(at(row, i) < least)) continue;
      least = at(row, i);
      nearest = i;
    }
    return nearest;
  }

  // Cluster y becomes the union of x and y (Lance and Williams).
  void Join(size_t x, size_t y) {
    const auto nx = static_cast<double>(sizes_[x]), ny = static_cast<double>(sizes_[y]);
    const double between = at(x, y);
    sizes_[y] += std::exchange(sizes_[x], 0);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] == 0 || i == y) continue;
      const auto ni = static_cast<double>(sizes_[i]);
      const double t = 1 / (nx + ny + ni);
      at(i, y) = at(y, i) = std::sqrt((ni + nx) * t * at(i, x) * at(i, x) + (ni + ny) * t * at(i, y) * at(i, y) -
                                      ni * t * between * between);
    }
  }

  const std::span<double> distances_;
  std::vector<size_t> sizes_;  // rows of each cluster; 0 if it has been joined with another one
};

// Sorts merges by height, and names clusters by the merges that formed them.
void Label(size_t count, std::vector<Merge>* merges) {
  HeapSort(merges->begin(), merges->end(), [](const Merge& a, const Merge& b) {
    return a.height != b.height ? a.height < b.height : a.number < b.number;
  });
  std::vector<int32_t> parent(2 * count - 1);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int32_t node) {
    while (parent[static_cast<size_t>(node)] != node) {
      int32_t& up = parent[static_cast<size_t>(node)];
      node = up = parent[static_cast<size_t>(up)];
    }
    return node;
  };
  auto next = static_cast<int32_t>(count);
  for (Merge& merge : *merges) {
    const int32_t a = root(merge.left), b = root(merge.right);
    merge.left = std::min(a, b);
    merge.right = std::max(a, b);
    parent[static_cast<size_t>(a)] = parent[static_cast<size_t>(b)] = next++;
  }
}

// Numbers the clusters below the height `cut` in the order in which scipy's fcluster visits the tree: subtrees before single rows.
std::vector<int32_t> Cut(const std::vector<Merge>& merges, size_t count, double cut) {
  struct Visit {
    int32_t node;
    bool in_cluster;  // whether a node above is a cluster
    int stage = 0;
  };
  std::vector<int32_t> clusters(count);
  int32_t last = -1;
  const auto first_merge = static_cast<int32_t>(count);
  std::vector<Visit> stack = {{static_cast<int32_t>(2 * count - 2), false}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const Merge& merge = merges[static_cast<size_t>(visit.node - first_merge)];
    const bool is_cluster = visit.in_cluster || merge.height <= cut;
    const int stage = visit.stage++;
    if (stage == 0 && is_cluster && !visit.in_cluster) ++last;
    if (stage < 2) {
      const int32_t child = stage == 0 ? merge.left : merge.right;
      if (child >= first_merge) stack.push_back({child, is_cluster});
      continue;
    }
    for (const int32_t child : {merge.left, merge.right}) {
      if (child < first_merge) clusters[static_cast<size_t>(child)] = is_cluster ? last : ++last;
    }
    stack.pop_back();
  }
  return clusters;
}

}  // namespace

std::vector<int32_t> WardClusters(std::span<double> distances, size_t count, size_t clusters) {
  if (count < 2) return std::vector<int32_t>(count, 0);
  std::vector<Merge> merges = Chain(distances, count).Run();
  Label(count, &merges);
  // The lowest height at which at most `clusters` remain. Merges of equal height happen together.
  size_t merged = count > clusters ? count - clusters : 0;
  const double cut = merged == 0 ? -1 : merges[merged - 1].height;
  return Cut(merges, count, cut);
}

Result<std::vector<float>> MergeRows(std::span<const float> rows, size_t width, double factor, size_t protected_rows) {
  const size_t all = rows.size() / width;
  const size_t kept = std::min(all, protected_rows), count = all - kept;
  const size_t clusters = std::max<size_t>(1, static_cast<size_t>(std::floor(static_cast<double>(count) / factor)));
  std::vector<float> result(rows.begin(), rows.end());
  if (clusters >= count) return result;
  const std::span<const float> merged = rows.subspan(kept * width);
  const auto row = [&](size_t i) { return merged.subspan(i * width, width); };
  std::vector<double> distances;
  if (!TryResize(&distances, SaturatingMultiply(count, count))) return OutOfMemory("no memory to merge a text's rows");
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const float dot = cpu::Dot(row(i).data(), row(j).data(), static_cast<int64_t>(width));
      distances[i * count + j] = distances[j * count + i] = static_cast<double>(std::clamp(1 - dot, 0.0f, 2.0f));
    }
  }
  const std::vector<int32_t> cluster = WardClusters(distances, count, clusters);
  const auto found = static_cast<size_t>(*std::max_element(cluster.begin(), cluster.end())) + 1;
  std::vector<float> counts(found);
  result.resize(kept * width);
  result.resize((kept + found) * width, 0.0f);
  for (size_t i = 0; i < count; ++i) {
    const auto to = static_cast<size_t>(cluster[i]);
    ++counts[to];
    for (size_t c = 0; c < width; ++c) result[(kept + to) * width + c] += row(i)[c];
  }
  for (size_t i = 0; i < found * width; ++i) result[kept * width + i] /= counts[i / width];
  return result;
}

}  // namespace peruse
