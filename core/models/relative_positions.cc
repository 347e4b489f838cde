#include "core/models/relative_positions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace peruse {
namespace {

constexpr float kFarthest = 1 << 24;  // beyond every table: keeps the conversion to an integer defined

}  // namespace

int32_t LogBucket(int32_t distance, int32_t buckets, int32_t max_position) {
  const int32_t mid = buckets / 2;
  const int32_t magnitude = std::abs(distance);
  if (magnitude <= mid) return distance;
  // In float32 and in the reference's order, so that ceil sees the same number: at max_position - 1 numerator and
  // denominator must be the same float.
  const float numerator = std::log(static_cast<float>(magnitude) / static_cast<float>(mid));
  const float denominator = std::log(static_cast<float>(max_position - 1) / static_cast<float>(mid));
  const float steps = std::ceil(numerator / denominator * static_cast<float>(mid - 1));
  const int32_t bucket = static_cast<int32_t>(std::min(steps, kFarthest)) + mid;
  return distance < 0 ? -bucket : bucket;
}

int32_t RelativeTableSpan(const ModelConfig& config) {
  const DebertaConfig& deberta = config.deberta;
  return deberta.position_buckets > 0 ? deberta.position_buckets : deberta.max_relative_positions;
}

int32_t RelativeRow(const ModelConfig& config, int32_t distance) {
  const DebertaConfig& deberta = config.deberta;
  const int32_t span = RelativeTableSpan(config);
  const int32_t bucket = deberta.position_buckets > 0
                             ? LogBucket(distance, deberta.position_buckets, deberta.max_relative_positions)
                             : distance;
  return std::clamp(bucket + span, 0, 2 * span - 1);
}

std::span<const int32_t> RelativeSlots::Get(int32_t reach) {
  if (reach > reach_) {
    slots_.resize(2 * static_cast<size_t>(reach) - 1);
    for (int32_t distance = 1 - reach; distance < reach; ++distance) {
      slots_[static_cast<size_t>(distance + reach - 1)] = RelativeRow(config_, distance);
    }
    reach_ = reach;
  }
  return std::span<const int32_t>(slots_).subspan(static_cast<size_t>(reach_ - reach),
                                                  2 * static_cast<size_t>(reach) - 1);
}

}  // namespace peruse
