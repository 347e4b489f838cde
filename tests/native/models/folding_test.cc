#include <gtest/gtest.h>

#include <utility>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"

namespace peruse::testing {
namespace {

constexpr const char* kSharedKeys =
    "deberta-v2-buckets64";                              // share_att_key: the tables use the layers' own projections
constexpr const char* kOwnKeys = "deberta-v2-own-keys";  // the tables use projections that are not needed otherwise

class FoldingRuns : public RunObserver {
 public:
  void Begin(const Program& program, const RunInputs& inputs) override {
    if (inputs.batch.sequences() == 0 && !program.ops.empty()) ++count_;
  }
  void Ran(const Op&) override {}
  int Take() { return std::exchange(count_, 0); }

 private:
  int count_ = 0;
};

std::shared_ptr<const LoadedModel> Load(const char* name, Backend& backend, Head head = Head::kQuestionAnswering,
                                        const LoadedModel* beside = nullptr) {
  ModelOptions options = {.head = head};
  options.beside = beside;
  const std::string folder = std::string("tiny/") + name;
  auto model =
      LoadWeights(ReadFixture(folder + "/config.json"), ReadFixture(folder + "/model.safetensors"), options, backend);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

std::vector<float> Answer(Runner& model, size_t tokens) {
  std::vector<int32_t> ids(tokens);
  for (size_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((7 * i + tokens) % 30);
  const ModelInput input = {ids, {}};
  EXPECT_TRUE(model.Begin({&input, 1}).ok());
  EXPECT_TRUE(model.Finish().ok());
  return ValuesOf(model, model.head() == Head::kNone ? kLastHiddenState : kLogits);
}

TEST(Folding, ComputesTheTablesOnceAtLoad) {
  for (const auto& [name, head] : {std::pair{kSharedKeys, Head::kQuestionAnswering}, {kOwnKeys, Head::kNone}}) {
    for (const auto& create : {+[] { return CreateCpuBackend(1).value(); },
                               +[]() -> std::unique_ptr<Backend> { return CreateReferenceBackend(); }}) {
      const std::unique_ptr<Backend> backend = create();
      FoldingRuns runs;
      backend->set_observer(&runs);
      const std::unique_ptr<Runner> model = CreateRunner(Load(name, *backend, head));
      EXPECT_EQ(runs.Take(), 1) << name;
      Answer(*model, 3);
      Answer(*model, 7);
      EXPECT_EQ(runs.Take(), 0) << name;
    }
  }
}

TEST(Folding, SharesTheTablesWithAModelOfTheSameEncoder) {
  const std::unique_ptr<Backend> alone_backend = CreateCpuBackend(1).value();
  const std::unique_ptr<Runner> alone = CreateRunner(Load(kSharedKeys, *alone_backend, Head::kNone));

  const std::unique_ptr<Backend> backend = CreateCpuBackend(1).value();
  FoldingRuns runs;
  backend->set_observer(&runs);
  std::shared_ptr<const LoadedModel> first = Load(kSharedKeys, *backend);
  EXPECT_EQ(runs.Take(), 1);
  const std::unique_ptr<Runner> second = CreateRunner(Load(kSharedKeys, *backend, Head::kNone, first.get()));
  EXPECT_EQ(runs.Take(), 0);
  EXPECT_EQ(Answer(*second, 18), Answer(*alone, 18));
  first.reset();
  EXPECT_EQ(Answer(*second, 130), Answer(*alone, 130));
  EXPECT_EQ(runs.Take(), 0);
}

std::string WithField(std::string config_json, const std::string& field) {
  return config_json.insert(config_json.rfind('}'), "," + field);
}

// Rewrites the checkpoint as converters of ONNX files do: position keys and queries instead of the relative embeddings.
std::string WithTables(const char* name, Backend& backend) {
  const std::unique_ptr<Runner> model = CreateRunner(Load(name, backend, Head::kNone));
  std::vector<OutputId> tables = OutputsOf(*model, OutputKind::kPositionKey);
  for (const OutputId& id : OutputsOf(*model, OutputKind::kPositionQuery)) tables.push_back(id);
  const std::vector<int32_t> ids = {3, 4};
  const ModelInput input = {ids, {}};
  EXPECT_TRUE(model->Begin({&input, 1}, {.outputs = tables}).ok());
  EXPECT_TRUE(model->Finish().ok());
  SafetensorsWriter writer;
  const int64_t hidden = model->config().hidden_size;
  for (const OutputId& id : tables) {
    const std::vector<float> values = ValuesOf(*model, id);
    writer.Add("deberta.encoder.layer." + std::to_string(id.layer) + ".attention.self." +
                   (id.kind == OutputKind::kPositionKey ? "position_keys" : "position_queries"),
               {static_cast<int64_t>(values.size()) / hidden, hidden}, values);
  }
  const TensorFile file = TensorFile::Read(std::string("tiny/") + name + "/model.safetensors");
  for (const auto& [tensor, entry] : file.entries) {
    const bool is_folded = tensor.find("rel_embeddings") != std::string::npos ||
                           tensor.find("encoder.LayerNorm") != std::string::npos ||
                           tensor.find("pos_") != std::string::npos;
    const std::string bytes(entry.bytes.begin(), entry.bytes.end());
    if (!is_folded) writer.AddBytes(tensor, entry.shape, bytes, "F16");
  }
  return writer.File();
}

TEST(Folding, CheckpointsMayHaveTheTables) {
  for (const auto& [name, head] : {std::pair{kSharedKeys, Head::kQuestionAnswering}, {kOwnKeys, Head::kNone}}) {
    const std::unique_ptr<Backend> backend = CreateReferenceBackend();
    const std::string weights = WithTables(name, *backend);
    const std::string config = ReadFixture(std::string("tiny/") + name + "/config.json");
    FoldingRuns runs;
    backend->set_observer(&runs);
    auto model = LoadModel(WithField(config, R"("peruse_position_tables":true)"), weights, {.head = head}, *backend);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(runs.Take(), 0);
    const std::unique_ptr<Runner> original = CreateRunner(Load(name, *backend, head));
    const std::vector<float> expected = Answer(*original, 9);
    const std::vector<float> actual = Answer(**model, 9);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << name << " " << i;

    const auto missing = LoadModel(config, weights, {.head = head}, *backend);
    EXPECT_EQ(missing.status().code(), StatusCode::kMissingTensor);
    EXPECT_NE(missing.status().message().find("rel_embeddings"), std::string::npos) << missing.status().message();
    const auto wrong = LoadModel(WithField(config, R"("peruse_position_tables":1)"), weights, {.head = head}, *backend);
    EXPECT_EQ(wrong.status().code(), StatusCode::kMalformedFile);
  }
}

}  // namespace
}  // namespace peruse::testing
