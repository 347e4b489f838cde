// Host memory for results. Grows, never shrinks, and reports a failed allocation.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "core/base/status.h"

namespace peruse {

class FloatBuffer {
 public:
  // Resizes to `size` floats with undefined contents. kOutOfMemory leaves the buffer empty.
  Status Resize(size_t size) {
    if (size > capacity_) {
      size_ = capacity_ = 0;
      data_.reset();                                  // frees first, so that the peak is one buffer
      data_.reset(new (std::nothrow) float[size]());  // zeros, so that no earlier heap content leaks out
      if (!data_) return OutOfMemory("no memory for " + std::to_string(size) + " results");
      capacity_ = size;
    }
    size_ = size;
    return OkStatus();
  }

  std::span<float> values() { return {data_.get(), size_}; }
  std::span<const float> values() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<float[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace peruse
