#include "core/train/recipes/masking.h"

#include <algorithm>
#include <cmath>

#include "core/train/memory/random_stream.h"

namespace peruse::train {

Example Masked(const Example& text, const MaskRecipe& recipe, uint64_t seed, uint32_t draw, uint32_t number) {
  const RandomStream random(seed, Purpose::kMaskedTokens);
  Example masked = {.ids = text.ids, .types = text.types, .chosen = text.chosen};
  std::vector<int32_t>& places = masked.chosen;
  const auto wanted = static_cast<size_t>(std::lround(recipe.share * static_cast<float>(places.size())));
  const size_t count = std::min(places.size(), std::max<size_t>(1, wanted));
  for (size_t i = 0; i < count; ++i) {
    const RandomStream::Words words = random.At(i, number, draw);
    std::swap(places[i], places[i + words[0] % (places.size() - i)]);
    int32_t& id = masked.ids[static_cast<size_t>(places[i])];
    const double fate = RandomStream::Unit(words[1]);
    if (fate < double{recipe.masked}) {
      id = recipe.mask_id;
    } else if (fate < double{recipe.masked} + double{recipe.random}) {
      id = static_cast<int32_t>(words[2] % static_cast<uint32_t>(recipe.vocabulary));
    }
  }
  places.resize(count);
  std::sort(places.begin(), places.end());
  for (const int32_t place : places) masked.labels.push_back(text.ids[static_cast<size_t>(place)]);
  return masked;
}

}  // namespace peruse::train
