#pragma once

namespace peruse {

// A vector register of four floats (clang's vector extension; SIMD in wasm), for files outside of the CPU backend, which has simd.h.
typedef float Float4 __attribute__((vector_size(16), aligned(4)));

inline Float4 LoadFloat4(const float* p) { return *reinterpret_cast<const Float4*>(p); }
inline void StoreFloat4(Float4 values, float* p) { *reinterpret_cast<Float4*>(p) = values; }

}  // namespace peruse
