#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "core/ops/value.h"

namespace peruse {

struct BatchInputs;  // core/program/indices.h

// Describes a list of integers that each batch supplies to a program. Every kind of list is a small struct of integers, in
// core/program/token_indices.h or next to the head that reads it:
//
//   Extent extent() const            number of values
//   span Fill(inputs, values) const  returns the values for a batch. `values` is memory for them, with what the last Fill left there
//   static constexpr bool kChooses   optional: whether the values are some of the rows, each at most once
//   int32_t rows                     optional: number of rows of the table that the values address
class Index {
 public:
  using Values = std::vector<int32_t>;

  template <typename List>
    requires(!std::same_as<List, Index> && requires(const List& list) { list.extent(); })
  Index(const List& list) : extent_(list.extent()), fill_(FillAs<List>) {
    static_assert(std::is_trivially_copyable_v<List> && sizeof(List) <= sizeof(fields_));
    if constexpr (!std::is_empty_v<List>) {
      static_assert(std::has_unique_object_representations_v<List>);  // so that == may compare bytes
      std::memcpy(fields_.data(), &list, sizeof(List));
    }
    if constexpr (requires { List::kChooses; }) chooses_ = List::kChooses;
    if constexpr (requires { list.rows; }) table_rows_ = list.rows;
  }

  Extent extent() const { return extent_; }
  bool chooses() const { return chooses_; }
  int32_t table_rows() const { return table_rows_; }
  template <typename List>
  bool Is() const {
    return fill_ == FillAs<List>;
  }
  std::span<const int32_t> Fill(const BatchInputs& inputs, Values& values) const {
    return fill_(*this, inputs, values);
  }
  bool operator==(const Index&) const = default;

 private:
  template <typename List>
  static std::span<const int32_t> FillAs(const Index& index, const BatchInputs& inputs, Values& values) {
    List list;
    if constexpr (!std::is_empty_v<List>) std::memcpy(static_cast<void*>(&list), index.fields_.data(), sizeof(List));
    return list.Fill(inputs, values);
  }

  Extent extent_;
  std::span<const int32_t> (*fill_)(const Index& index, const BatchInputs& inputs, Values& values);
  std::array<int32_t, 5> fields_ = {};
  int32_t table_rows_ = 0;
  bool chooses_ = false;
};

}  // namespace peruse
