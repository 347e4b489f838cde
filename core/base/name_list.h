#pragma once

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
    if (++count_ > kMost) return;
    if (count_ > 1) text_ += ", ";
    text_ += name;
  }

  // Returns for example "a, b, c and 5 more".
  std::string Text() const {
    return count_ > kMost ? text_ + " and " + std::to_string(count_ - kMost) + " more" : text_;
  }

 private:
  std::string text_;
  int count_ = 0;
};

}  // namespace peruse
