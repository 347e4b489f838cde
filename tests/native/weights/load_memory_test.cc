// Loading takes at most 1.25 times the size of the weights, plus 16 MB.
#include <gtest/gtest.h>

#include <cstdlib>

#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#else
#include <malloc.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PERUSE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PERUSE_ADDRESS_SANITIZER
#endif
#endif
#ifdef PERUSE_ADDRESS_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif

#include "core/backend/cpu/cpu_backend.h"
#include "core/model/model_loader.h"
#include "core/weights/tensor_info.h"
#include "tests/native/weights/pytorch_writer.h"

namespace peruse {
namespace {

int64_t BytesInUse() {
#if defined(PERUSE_ADDRESS_SANITIZER)
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#elif defined(__EMSCRIPTEN__)
  return static_cast<int64_t>(emscripten_get_heap_size());  // never shrinks, so this is the peak
#else
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#endif
}

// About 200 MB: six layers of ConvBERT-base width and 20,000 tokens, in F32.
constexpr std::string_view kConfig =
    R"({"model_type":"convbert","vocab_size":20000,"num_hidden_layers":6,"hidden_size":768,"embedding_size":768})";

struct Entry {
  std::string name;
  std::vector<int64_t> shape;
};

// The tensors of kConfig, written out independently of the code under test.
std::vector<Entry> Tensors() {
  std::vector<Entry> tensors;
  const auto linear = [&](const std::string& name, int64_t in, int64_t out) {
    tensors.push_back({name + ".weight", {out, in}});
    tensors.push_back({name + ".bias", {out}});
  };
  const auto norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", {768}});
    tensors.push_back({name + ".bias", {768}});
  };
  tensors.push_back({"embeddings.word_embeddings.weight", {20000, 768}});
  tensors.push_back({"embeddings.position_embeddings.weight", {512, 768}});
  tensors.push_back({"embeddings.token_type_embeddings.weight", {2, 768}});
  norm("embeddings.LayerNorm");
  for (int i = 0; i < 6; ++i) {
    const std::string layer = "encoder.layer." + std::to_string(i) + ".";
    const std::string self = layer + "attention.self.";
    for (const char* part : {"query", "key", "value", "conv_out_layer"}) linear(self + part, 768, 384);
    tensors.push_back({self + "key_conv_attn_layer.depthwise.weight", {768, 1, 9}});
    tensors.push_back({self + "key_conv_attn_layer.pointwise.weight", {384, 768, 1}});
    tensors.push_back({self + "key_conv_attn_layer.bias", {384, 1}});
    linear(self + "conv_kernel_layer", 384, 6 * 9);
    linear(layer + "attention.output.dense", 768, 768);
    norm(layer + "attention.output.LayerNorm");
    linear(layer + "intermediate.dense", 768, 3072);
    linear(layer + "output.dense", 3072, 768);
    norm(layer + "output.LayerNorm");
  }
  return tensors;
}

int64_t Elements(const Entry& entry) {
  int64_t elements = 1;
  for (const int64_t size : entry.shape) elements *= size;
  return elements;
}

// A part of a file: some bytes, then a number of bytes of weights.
struct Part {
  std::string bytes;
  int64_t weights = 0;
};

int64_t WeightBytes() {
  int64_t bytes = 0;
  for (const Entry& entry : Tensors()) bytes += 4 * Elements(entry);
  return bytes;
}

std::vector<Part> Safetensors() {
  std::string header = "{";
  int64_t bytes = 0;
  for (const Entry& entry : Tensors()) {
    const int64_t end = bytes + 4 * Elements(entry);
    header += (bytes == 0 ? "\"" : ",\"") + entry.name + R"(":{"dtype":"F32","shape":)" + ShapeString(entry.shape) +
              R"(,"data_offsets":[)" + std::to_string(bytes) + "," + std::to_string(end) + "]}";
    bytes = end;
  }
  header += "}";
  return {{testing::LittleEndian(header.size(), 8) + header, bytes}};
}

// The legacy form. Token embeddings are tied to a decoder that the task does not need.
std::vector<Part> Pytorch() {
  std::vector<std::pair<std::string, std::string>> dict;
  std::vector<Part> parts(1);
  std::string keys = "](";
  for (const Entry& entry : Tensors()) {
    const std::string key = std::to_string(dict.size());
    std::vector<int64_t> strides(entry.shape.size(), 1);
    for (size_t i = strides.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * entry.shape[i + 1];
    const std::string storage = testing::PickleStorage("FloatStorage", key, Elements(entry));
    const std::string tensor = testing::PickleTensor(storage, 0, entry.shape, strides);
    if (dict.empty()) dict.emplace_back("generator_lm_head.weight", tensor);
    dict.emplace_back(entry.name, tensor);
    keys += testing::PickleText(key);
    parts.push_back({testing::LittleEndian(static_cast<uint64_t>(Elements(entry)), 8), 4 * Elements(entry)});
  }
  const std::string start = testing::LegacyFile(testing::PickleDict(dict), {});
  const std::string no_keys = testing::PickleFile("](e");
  parts[0].bytes = start.substr(0, start.size() - no_keys.size()) + testing::PickleFile(keys + "e");
  return parts;
}

struct LoadMemoryCase {
  const char* name;
  Precision precision;
  std::vector<Part> (*parts)();
};

class LoadMemoryTest : public ::testing::TestWithParam<LoadMemoryCase> {};

TEST_P(LoadMemoryTest, PeakStaysNearTheWeights) {
  const std::vector<Part> parts = GetParam().parts();
  const int64_t bytes = WeightBytes();
  const std::vector<uint8_t> chunk(1 << 20, 0x3C);  // any finite floats

  const int64_t before = BytesInUse();
  int64_t peak = before;
  const std::unique_ptr<Backend> backend = CreateCpuBackend(1).value();
  const std::unique_ptr<ModelLoader> loader =
      ModelLoader::Create(kConfig, {.precision = GetParam().precision}, *backend).value();
  const auto feed = [&](std::span<const uint8_t> part) {
    const Status status = loader->Feed(part);
    ASSERT_TRUE(status.ok()) << status.message();
    peak = std::max(peak, BytesInUse());
  };
  for (const Part& part : parts) {
    feed({reinterpret_cast<const uint8_t*>(part.bytes.data()), part.bytes.size()});
    for (int64_t left = part.weights; left > 0;) {
      const auto size = static_cast<size_t>(std::min<int64_t>(left, static_cast<int64_t>(chunk.size())));
      feed(std::span(chunk).first(size));
      left -= static_cast<int64_t>(size);
    }
  }
  const auto model = loader->Finish();
  ASSERT_TRUE(model.ok());
  peak = std::max(peak, BytesInUse());

  const int64_t held = (*model)->report.weight_bytes;
  EXPECT_GE(bytes, 190'000'000);
  if (GetParam().precision == Precision::kF32) {
    EXPECT_GE(held, bytes);  // both are F32
    EXPECT_LE(static_cast<double>(held), 1.02 * static_cast<double>(bytes));
  } else {
    EXPECT_LE(static_cast<double>(held), 0.27 * static_cast<double>(bytes));  // a quarter, plus scales and norms
  }
  EXPECT_LE(static_cast<double>(peak - before), 1.25 * static_cast<double>(held) + 16e6) << "held " << held;
  RecordProperty("peak_over_held_percent", static_cast<int>(100 * (peak - before) / held));
}

// Smaller models first, because wasm's heap never shrinks.
INSTANTIATE_TEST_SUITE_P(Cases, LoadMemoryTest,
                         ::testing::Values(LoadMemoryCase{"q8", Precision::kQ8, Safetensors},
                                           LoadMemoryCase{"q8_pytorch", Precision::kQ8, Pytorch},
                                           LoadMemoryCase{"f32", Precision::kF32, Safetensors},
                                           LoadMemoryCase{"f32_pytorch", Precision::kF32, Pytorch}),
                         [](const ::testing::TestParamInfo<LoadMemoryCase>& info) { return info.param.name; });

}  // namespace
}  // namespace peruse
