// Skip-gram with negative sampling (Mikolov et al., 2013) over a stream of token ids; the negatives of a position are shared by
// its whole window (Ji et al., 2016, "Parallelizing Word2Vec in Shared and Distributed Memory").

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kDimensions = 128, kMostNegatives = 16, kMostContext = 16 };

static uint64_t Next(uint64_t* state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return *state >> 33;
}

static float Dot(const float* restrict a, const float* restrict b) {
  float sum = 0;
  for (int d = 0; d < kDimensions; ++d) sum += a[d] * b[d];
  return sum;
}

// One pass over ids[begin, end): `in` and `out` are [vocab, kDimensions]; keep[id] is the chance that an occurrence is used (0 for
// separators, which also end a window); negatives is a table of ids drawn in proportion to their sampling weights.
void TrainPass(const uint16_t* ids, int64_t begin, int64_t end, const float* keep, const uint8_t* separates, const uint16_t* negatives,
               int64_t negative_count, int window, int negative, float rate_first, float rate_last, uint64_t seed, float* in,
               float* out) {
  float error[kMostContext][kDimensions];
  uint16_t* kept = malloc(sizeof(uint16_t) * 1024);
  uint64_t state = seed * 2862933555777941757ULL + 3037000493ULL;
  int64_t at = begin;
  while (at < end) {
    int count = 0;  // a sentence: up to 1,000 kept tokens
    while (at < end && count < 1000) {
      uint16_t id = ids[at++];
      if (separates[id]) break;
      if ((float)(Next(&state) & 0xffffff) / 16777216.0f < keep[id]) kept[count++] = id;
    }
    float rate = rate_first + (rate_last - rate_first) * (float)(at - begin) / (float)(end - begin);
    for (int center = 0; center < count; ++center) {
      int reach = 1 + (int)(Next(&state) % window);
      uint16_t target[1 + kMostNegatives];
      target[0] = kept[center];
      for (int n = 1; n <= negative; ++n) target[n] = negatives[Next(&state) % negative_count];
      int first = center - reach < 0 ? 0 : center - reach, last = center + reach >= count ? count - 1 : center + reach;
      int contexts = 0;
      uint16_t context[kMostContext];
      for (int i = first; i <= last && contexts < kMostContext; ++i)
        if (i != center) context[contexts++] = kept[i];
      memset(error, 0, sizeof(float) * kDimensions * contexts);
      for (int n = 0; n <= negative; ++n) {
        if (n > 0 && target[n] == target[0]) continue;
        float* o = out + (int64_t)target[n] * kDimensions;
        float change[kDimensions] = {0};
        for (int c = 0; c < contexts; ++c) {
          const float* x = in + (int64_t)context[c] * kDimensions;
          float dot = Dot(x, o);
          float g = ((n == 0) - 1.0f / (1.0f + expf(-dot))) * rate;
          for (int d = 0; d < kDimensions; ++d) {
            error[c][d] += g * o[d];
            change[d] += g * x[d];
          }
        }
        for (int d = 0; d < kDimensions; ++d) o[d] += change[d];
      }
      for (int c = 0; c < contexts; ++c) {
        float* x = in + (int64_t)context[c] * kDimensions;
        for (int d = 0; d < kDimensions; ++d) x[d] += error[c][d];
      }
    }
  }
  free(kept);
}
