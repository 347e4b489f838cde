#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/weights/tensor_info.h"

namespace peruse::testing {

class TensorRecorder : public TensorVisitor {
 public:
  Status OnHeader(std::span<const TensorInfo> header) override {
    ++headers;
    tensors.assign(header.begin(), header.end());
    bytes.assign(header.size(), "");
    return answer;
  }
  Status OnData(size_t index, std::span<const uint8_t> chunk) override {
    EXPECT_FALSE(chunk.empty());
    bytes[index].append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return OkStatus();
  }

  int headers = 0;
  std::vector<TensorInfo> tensors;
  std::vector<std::string> bytes;
  Status answer;
};

template <typename Parser>
Status ParseInChunks(const std::string& file, TensorRecorder& recorder, size_t chunk = size_t{1} << 20) {
  Parser parser(recorder);
  for (size_t at = 0; at < file.size(); at += chunk) {
    const size_t size = std::min(chunk, file.size() - at);
    const Status status = parser.Feed({reinterpret_cast<const uint8_t*>(file.data()) + at, size});
    if (!status.ok()) return status;
  }
  return parser.Finish();
}

inline void ExpectError(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_EQ(StatusCodeName(status.code()), StatusCodeName(code)) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

}  // namespace peruse::testing
