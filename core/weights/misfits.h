// Everything that is wrong with a checkpoint's tensors, for one message.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/status.h"

namespace peruse {

// "name [2, 3]"
std::string Described(const std::string& name, std::span<const int64_t> shape);

// Names of tensors. The text has at most six: if one layer misfits, usually all do.
class TensorList {
 public:
  bool empty() const { return count_ == 0; }
  void Add(const std::string& item);
  std::string Text() const;

 private:
  std::string text_;
  int count_ = 0;
};

struct Misfits {
  TensorList missing;       // of the encoder
  TensorList missing_head;  // of the head
  std::string head;         // its name
  TensorList misshapen;
  TensorList unreadable;  // of a type that weights cannot have
  TensorList int8;        // int8 where only floats can be read

  // OK if everything fits.
  Status ToStatus() const;
};

}  // namespace peruse
