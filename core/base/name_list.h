#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace peruse {

class NameList {
 public:
  // If one layer of a checkpoint does not fit, usually all do: three names show what is wrong.
  static constexpr int kMost = 3;

  bool empty() const { return count_ == 0; }
  int count() const { return count_; }

  void Add(std::string_view name) {
    if (count_ < kMost) names_[count_] = name;
    ++count_;
  }

  // Returns for example "a, b, c and 5 more", with at most `most` (0 to kMost) names; "8" with none.
  std::string Text(int most = kMost) const {
    if (most == 0) return std::to_string(count_);
    std::string text;
    const int named = std::min(count_, most);
    for (int i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + names_[i];
    return named < count_ ? text + " and " + std::to_string(count_ - named) + " more" : text;
  }

 private:
  std::array<std::string, kMost> names_;
  int count_ = 0;
};

}  // namespace peruse
