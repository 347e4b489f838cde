// The softmax of disentangled attention and its gradient, over bfloat16 or float scores. The three terms of a score (content, content
// to position, position to content) are added up here, so that no term is ever spread out to [length, length] in memory.
//
// The file includes itself once for each type of a number: the functions end with Bfloat16 and with Float32.

#ifndef NUMBER

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kMostLength = 1024, kMostBuckets = 1024 };

static inline float WidenBfloat16(uint16_t bits) {
  union { uint32_t u; float f; } value = {(uint32_t)bits << 16};
  return value.f;
}

static inline uint16_t NarrowBfloat16(float number) {
  union { float f; uint32_t u; } value = {number};
  return (uint16_t)((value.u + 0x7fff + ((value.u >> 16) & 1)) >> 16);
}

static inline float WidenFloat32(float number) { return number; }
static inline float NarrowFloat32(float number) { return number; }

#define NUMBER uint16_t
#define NAMED(name) name##Bfloat16
#include "disentangled_attention.c"
#undef NUMBER
#undef NAMED
#define NUMBER float
#define NAMED(name) name##Float32
#include "disentangled_attention.c"

#else

static inline void NAMED(WidenAll)(const NUMBER* restrict given, float* restrict numbers, int count) {
  for (int n = 0; n < count; ++n) numbers[n] = NAMED(Widen)(given[n]);
}

// scores [batch, heads, length, length] become probabilities; to_position and from_position are [batch, heads, length, buckets];
// bucket[length - 1 + j - i] is the bucket of query i and key j; keys from lengths[b] on are hidden.
void NAMED(SoftmaxForward)(NUMBER* scores, const NUMBER* to_position, const NUMBER* from_position, const int32_t* bucket,
                    const int32_t* lengths, int batch, int heads, int length, int buckets, float scale) {
  float row[kMostLength], to[kMostBuckets];
  float* from = malloc(sizeof(float) * length * buckets);
  for (int b = 0; b < batch; ++b) {
    int shown = lengths[b];
    for (int h = 0; h < heads; ++h) {
      int64_t head = (int64_t)b * heads + h;
      NAMED(WidenAll)(from_position + head * length * buckets, from, length * buckets);
      for (int i = 0; i < length; ++i) {
        NUMBER* out = scores + (head * length + i) * length;
        if (i >= shown) {
          memset(out, 0, sizeof(NUMBER) * length);
          continue;
        }
        NAMED(WidenAll)(to_position + (head * length + i) * buckets, to, buckets);
        const int32_t* at = bucket + length - 1 - i;
        float most = -1e30f;
        for (int j = 0; j < shown; ++j) {
          row[j] = scale * (NAMED(Widen)(out[j]) + to[at[j]] + from[j * buckets + at[j]]);
          most = row[j] > most ? row[j] : most;
        }
        float sum = 0;
        for (int j = 0; j < shown; ++j) {
          row[j] = expf(row[j] - most);
          sum += row[j];
        }
        float inverse = 1 / sum;
        for (int j = 0; j < shown; ++j) out[j] = NAMED(Narrow)(row[j] * inverse);
        memset(out + shown, 0, sizeof(NUMBER) * (length - shown));
      }
    }
  }
  free(from);
}

// gradient holds d loss / d probabilities and receives d loss / d scores; the gradients of the two position terms are added to
// to_gradient and from_gradient [batch, heads, length, buckets], float. Distances run_ends[r - 1] to run_ends[r] - 1, counted from
// -(length - 1) on, share a bucket.
void NAMED(SoftmaxBackward)(const NUMBER* probabilities, NUMBER* gradient, float* to_gradient, float* from_gradient,
                     const int32_t* bucket, const int32_t* run_ends, int runs, const int32_t* lengths, int batch, int heads, int length,
                     int buckets, float scale) {
  float row[kMostLength];
  for (int b = 0; b < batch; ++b) {
    int shown = lengths[b];
    for (int h = 0; h < heads; ++h) {
      int64_t head = (int64_t)b * heads + h;
      float* restrict from = from_gradient + head * length * buckets;
      for (int i = 0; i < length; ++i) {
        const NUMBER* p = probabilities + (head * length + i) * length;
        NUMBER* g = gradient + (head * length + i) * length;
        if (i >= shown) {
          memset(g, 0, sizeof(NUMBER) * length);
          continue;
        }
        float* restrict to = to_gradient + (head * length + i) * buckets;
        const int32_t* at = bucket + length - 1 - i;
        float dot = 0;
        for (int j = 0; j < shown; ++j) {
          row[j] = NAMED(Widen)(p[j]) * NAMED(Widen)(g[j]);
          dot += row[j];
        }
        for (int j = 0; j < shown; ++j) {
          row[j] = scale * (row[j] - dot * NAMED(Widen)(p[j]));
          g[j] = NAMED(Narrow)(row[j]);
        }
        memset(g + shown, 0, sizeof(NUMBER) * (length - shown));
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

#endif
