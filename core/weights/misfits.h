#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/name_list.h"
#include "core/base/status.h"

namespace peruse {

std::string Described(const std::string& name, std::span<const int64_t> shape);

struct Misfits {
  NameList missing;       // missing tensors of the encoder
  NameList missing_head;  // missing tensors of the head
  std::string head;
  NameList misshapen;
  NameList unreadable;  // types that weights cannot have
  NameList int8;        // int8 where only floats are allowed
  NameList int4;        // uint8, likewise

  Status ToStatus() const;
};

}  // namespace peruse
