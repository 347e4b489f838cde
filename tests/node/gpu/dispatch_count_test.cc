// How many dispatches a layer costs, the same at every length: what a GPU's driver spends on each is worth counting.
#include <gtest/gtest.h>

#include "core/backend/webgpu/webgpu_backend.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// Dispatches of a run over one text of `length` tokens; recorded only, no GPU needed.
int32_t Dispatches(const std::string& name, size_t length, int32_t* layers) {
  const GoldenCase golden{name, "", "of the class"};
  const auto backend = CreateWebGpuBackend();
  auto model = LoadModel(golden.Config(), golden.Weights(), {.head = Head::kSequenceClassification}, *backend);
  PERUSE_CHECK(model.ok());
  const std::vector<int32_t> ids(length, 7);
  const ModelInput input = {ids, {}};
  PERUSE_CHECK((*model)->Begin({&input, 1}).ok());
  *layers = (*model)->config().num_hidden_layers;
  return backend->dispatches();
}

// Embeddings and their projection, the head, the download: what does not grow with the layers.
constexpr int32_t kAround = 6;

void ExpectPerLayer(const std::string& name, int32_t per_layer) {
  int32_t layers = 0;
  const int32_t count = Dispatches(name, 20, &layers);
  EXPECT_GE(count, per_layer * layers) << name;
  EXPECT_LE(count, per_layer * layers + kAround) << name;
  EXPECT_EQ(Dispatches(name, 60, &layers), count) << name;
}

// query-key-value, two position products, attention, output, norm, two of the feed-forward, norm.
TEST(DispatchCount, Deberta) { ExpectPerLayer("deberta-v2-sequence", 9); }

TEST(DispatchCount, Bert) { ExpectPerLayer("bert-sequence", 7); }

// BERT's 7, and for the convolution heads: depthwise, pointwise, times query, kernel, span convolution.
TEST(DispatchCount, ConvBert) { ExpectPerLayer("convbert-sequence", 12); }

}  // namespace
}  // namespace peruse::testing
