#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "core/backend/backend.h"
#include "core/program/flops.h"

namespace peruse::bench {

class OpProfile final : public RunObserver {
 public:
  struct Entry {
    int64_t calls = 0;
    double flops = 0;
    double seconds = 0;
  };

  void Clear() {
    entries_.clear();
    flops_ = 0;
  }
  double flops() const { return flops_; }
  // By operation and shape, for example "linear 128x768x3072".
  const std::map<std::string, Entry>& entries() const { return entries_; }

  void Begin(const Program& program, const RunInputs& inputs) override {
    program_ = &program;
    inputs_ = &inputs;
    last_ = Now();
  }

  void Ran(const Op& op) override {
    const double flops = Flops(*program_, op, inputs_->batch, inputs_->sizes, inputs_->indices);
    flops_ += flops;
    Entry& entry = entries_[NameOf(op)];
    entry.calls += 1;
    entry.flops += flops;
    const double now = Now();
    entry.seconds += now - last_;
    last_ = now;
  }

 private:
  static double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  std::string NameOf(const Op& op) const {
    std::string name = std::visit([](const auto& o) { return std::string(o.kName); }, op);
    const ValueInfo& out = program_->info(**OutputsOf(op).begin());
    name += " " + std::to_string(inputs_->sizes(out.rows));
    if (const LinearId id = LinearOf(op); id.valid()) {
      name += "x" + std::to_string(program_->linears[static_cast<size_t>(id.id)].in);
    }
    return name + "x" + std::to_string(inputs_->sizes(out.cols));
  }

  const Program* program_ = nullptr;
  const RunInputs* inputs_ = nullptr;
  double flops_ = 0;
  double last_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace peruse::bench
