// The softmax of disentangled attention and its gradient, over bfloat16 scores. The three terms of a score (content, content to
// position, position to content) are added up here, so that no term is ever spread out to [length, length] in memory.

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kMostLength = 1024, kMostBuckets = 1024 };

static inline float Widen(uint16_t bits) {
  union { uint32_t u; float f; } value = {(uint32_t)bits << 16};
  return value.f;
}

static inline uint16_t Narrow(float number) {
  union { float f; uint32_t u; } value = {number};
  return (uint16_t)((value.u + 0x7fff + ((value.u >> 16) & 1)) >> 16);
}

static inline void WidenAll(const uint16_t* restrict bits, float* restrict numbers, int count) {
  for (int n = 0; n < count; ++n) numbers[n] = Widen(bits[n]);
}

// scores [batch, heads, length, length] become probabilities; to_position and from_position are [batch, heads, length, buckets];
// bucket[length - 1 + j - i] is the bucket of query i and key j; keys from lengths[b] on are hidden.
void SoftmaxForward(uint16_t* scores, const uint16_t* to_position, const uint16_t* from_position, const int32_t* bucket,
                    const int32_t* lengths, int batch, int heads, int length, int buckets, float scale) {
  float row[kMostLength], to[kMostBuckets];
  float* from = malloc(sizeof(float) * length * buckets);
  for (int b = 0; b < batch; ++b) {
    int shown = lengths[b];
    for (int h = 0; h < heads; ++h) {
      int64_t head = (int64_t)b * heads + h;
      WidenAll(from_position + head * length * buckets, from, length * buckets);
      for (int i = 0; i < length; ++i) {
        uint16_t* out = scores + (head * length + i) * length;
        if (i >= shown) {
          memset(out, 0, sizeof(uint16_t) * length);
          continue;
        }
        WidenAll(to_position + (head * length + i) * buckets, to, buckets);
        const int32_t* at = bucket + length - 1 - i;
        float most = -1e30f;
        for (int j = 0; j < shown; ++j) {
          row[j] = scale * (Widen(out[j]) + to[at[j]] + from[j * buckets + at[j]]);
          most = row[j] > most ? row[j] : most;
        }
        float sum = 0;
        for (int j = 0; j < shown; ++j) {
          row[j] = expf(row[j] - most);
          sum += row[j];
        }
        float inverse = 1 / sum;
        for (int j = 0; j < shown; ++j) out[j] = Narrow(row[j] * inverse);
        memset(out + shown, 0, sizeof(uint16_t) * (length - shown));
      }
    }
  }
  free(from);
}

// gradient holds d loss / d probabilities and receives d loss / d scores; the gradients of the two position terms are added to
// to_gradient and from_gradient [batch, heads, length, buckets], float. Distances run_ends[r - 1] to run_ends[r] - 1, counted from
// -(length - 1) on, share a bucket.
void SoftmaxBackward(const uint16_t* probabilities, uint16_t* gradient, float* to_gradient, float* from_gradient,
                     const int32_t* bucket, const int32_t* run_ends, int runs, const int32_t* lengths, int batch, int heads, int length,
                     int buckets, float scale) {
  float row[kMostLength];
  for (int b = 0; b < batch; ++b) {
    int shown = lengths[b];
    for (int h = 0; h < heads; ++h) {
      int64_t head = (int64_t)b * heads + h;
      float* restrict from = from_gradient + head * length * buckets;
      for (int i = 0; i < length; ++i) {
        const uint16_t* p = probabilities + (head * length + i) * length;
        uint16_t* g = gradient + (head * length + i) * length;
        if (i >= shown) {
          memset(g, 0, sizeof(uint16_t) * length);
          continue;
        }
        float* restrict to = to_gradient + (head * length + i) * buckets;
        const int32_t* at = bucket + length - 1 - i;
        float dot = 0;
        for (int j = 0; j < shown; ++j) {
          row[j] = Widen(p[j]) * Widen(g[j]);
          dot += row[j];
        }
        for (int j = 0; j < shown; ++j) {
          row[j] = scale * (row[j] - dot * Widen(p[j]));
          g[j] = Narrow(row[j]);
        }
        memset(g + shown, 0, sizeof(uint16_t) * (length - shown));
        int j = 0, shift = length - 1 - i;
        for (int r = 0; r < runs && j < shown; ++r) {
          int end = run_ends[r] - shift;
          if (end <= j) continue;
          if (end > shown) end = shown;
          int k = at[j];
          float sum = 0;
          for (; j < end; ++j) {
            sum += row[j];
            from[j * buckets + k] += row[j];
          }
          to[k] += sum;
        }
      }
    }
  }
}
