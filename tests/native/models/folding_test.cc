// DeBERTa's position tables, whose rows are made when a text first reads them: which rows when, and that answers have the same bits as of
// tables that are whole from the start.
#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "core/backend/reference/reference_backend.h"
#include "core/backend/xnnpack/xnnpack_backend.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// Tables of 128 rows, buckets of a range of 128: a text of n tokens reads 64 - bucket(n - 1) to 64 + bucket(n - 1).
constexpr const char* kShared = "deberta-v2-buckets64";
constexpr size_t kLong = 130;  // all rows but the first

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
constexpr int32_t kMostThreads = 3;
#else
constexpr int32_t kMostThreads = 1;
#endif

using Rows = std::vector<std::pair<int64_t, int64_t>>;  // from, behind

// The rows of tables that runs make.
class RowsMade : public RunObserver {
 public:
  void Begin(const Program& program, const RunInputs& inputs) override {
    const bool makes = !program.ops.empty() && !program.outputs.empty() && program.outputs[0].name.empty();
    const int64_t rows = inputs.sizes({Domain::kFolded, 1});
    if (makes) found_.push_back({inputs.first_row, inputs.first_row + rows});
  }
  void Ran(const Op&) override {}
  Rows Take() { return std::exchange(found_, {}); }

 private:
  Rows found_;
};

std::unique_ptr<Model> Load(const char* name, Precision precision, Backend& backend, const Model* beside = nullptr,
                            Head head = Head::kQuestionAnswering) {
  ModelOptions options = {.head = head, .precision = precision};
  options.beside = beside;
  const std::string folder = std::string("tiny/") + name;
  Result<std::unique_ptr<Model>> model =
      LoadModel(ReadFixture(folder + "/config.json"), ReadFixture(folder + "/model.safetensors"), options, backend);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(model).value();
}

std::vector<int32_t> Text(size_t tokens) {
  std::vector<int32_t> ids(tokens);
  for (size_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((7 * i + tokens) % 30);
  return ids;
}

using Batch = std::vector<size_t>;  // tokens of each text

// What a run of the batch gives for the head's outputs, one behind the other.
std::vector<float> Answer(Model& model, const Batch& batch, std::vector<std::string> outputs = {}) {
  std::vector<std::vector<int32_t>> texts;
  for (const size_t tokens : batch) texts.push_back(Text(tokens));
  std::vector<ModelInput> inputs;
  for (const std::vector<int32_t>& text : texts) inputs.push_back({text, {}});
  EXPECT_TRUE(model.Begin(inputs, {.outputs = outputs}).ok());
  EXPECT_TRUE(model.Finish().ok());
  std::vector<float> values;
  for (const std::string& name : model.OutputNames()) {
    const std::vector<float> more = ValuesOf(model, name);
    values.insert(values.end(), more.begin(), more.end());
  }
  EXPECT_FALSE(values.empty());
  return values;
}

TEST(Folding, MakesTheRowsThatATextIsTheFirstToRead) {
  for (const Precision precision : {Precision::kF32, Precision::kF16, Precision::kQ8}) {
    const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
    RowsMade made;
    backend->set_observer(&made);
    const std::unique_ptr<Model> model = Load(kShared, precision, *backend);
    EXPECT_EQ(made.Take(), Rows());
    Answer(*model, {3});  // reads rows 62 to 66
    EXPECT_EQ(made.Take(), (Rows{{48, 80}}));
    Answer(*model, {16, 2});
    EXPECT_EQ(made.Take(), Rows());
    Answer(*model, {5, 18});  // 47 to 81
    EXPECT_EQ(made.Take(), (Rows{{32, 48}, {80, 96}}));
    Answer(*model, {kLong});
    EXPECT_EQ(made.Take(), (Rows{{0, 32}, {96, 128}}));
    Answer(*model, {2 * kLong, 1});
    EXPECT_EQ(made.Take(), Rows());
  }
}

// Where max_relative_positions is below the buckets, far distances fall back to the rows of near ones (LogBucket), and not in their order.
TEST(Folding, FindsTheRowsOfDistancesThatFallBack) {
  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  RowsMade made;
  backend->set_observer(&made);
  const std::string folder = std::string("tiny/") + kShared;
  std::string config = ReadFixture(folder + "/config.json");
  const std::string_view field = "\"max_relative_positions\": -1";
  config.replace(config.find(field), field.size(), "\"max_relative_positions\": 10");
  const std::unique_ptr<Model> model =
      LoadModel(config, ReadFixture(folder + "/model.safetensors"), {.head = Head::kQuestionAnswering}, *backend)
          .value();
  const std::vector<float> answer = Answer(*model, {kLong});  // the farthest have rows 62 and 66, some 32 and 96
  EXPECT_EQ(made.Take(), (Rows{{32, 112}}));
  Answer(*model, {1}, {"position_key.0"});
  EXPECT_EQ(Answer(*model, {kLong}), answer);
}

TEST(Folding, MakesAllRowsForWhoLooksAtThem) {
  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  RowsMade made;
  backend->set_observer(&made);
  const std::unique_ptr<Model> model = Load(kShared, Precision::kF32, *backend);
  Answer(*model, {3}, {"hidden.0"});  // reads none
  EXPECT_EQ(made.Take(), Rows());
  Answer(*model, {3}, {"position_key.0"});
  EXPECT_EQ(made.Take(), (Rows{{0, 128}}));
}

TEST(Folding, MakesAllRowsAtOnceOfLayersThatNothingElseNeeds) {
  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  RowsMade made;
  backend->set_observer(&made);
  const std::unique_ptr<Model> model = Load("deberta-v2-own-keys", Precision::kF32, *backend, nullptr, Head::kNone);
  EXPECT_EQ(made.Take(), (Rows{{0, 16}}));
  Answer(*model, {3});
  EXPECT_EQ(made.Take(), Rows());
}

TEST(Folding, GivesTheSameBitsInWhateverOrderTextsCome) {
  const std::vector<Batch> orders[] = {{{3}, {20}, {60}, {kLong}, {3}},
                                       {{kLong}, {3}, {60}},
                                       {{5, 18}, {60, 2, 30}, {16}, {1, kLong, 40}},
                                       {{1}, {2}, {33}}};
  for (const Precision precision : {Precision::kF32, Precision::kF16, Precision::kQ8}) {
    for (int32_t threads = 0; threads <= kMostThreads; ++threads) {
      const auto create = [&] {
        return threads > 0 ? CreateXnnpackBackend(threads).value() : CreateReferenceBackend();
      };
      const std::unique_ptr<Backend> whole_backend = create();
      const std::unique_ptr<Model> whole = Load(kShared, precision, *whole_backend);
      Answer(*whole, {1}, {"position_key.0"});
      for (const std::vector<Batch>& order : orders) {
        const std::unique_ptr<Backend> backend = create();
        const std::unique_ptr<Model> model = Load(kShared, precision, *backend);
        for (const Batch& batch : order) {
          EXPECT_EQ(Answer(*model, batch), Answer(*whole, batch)) << "threads " << threads;
          EXPECT_EQ(Answer(*model, batch, {"attention.0", "hidden.2"}),
                    Answer(*whole, batch, {"attention.0", "hidden.2"}));
        }
        for (const char* table : {"position_key.1", "position_query.0"}) {
          EXPECT_EQ(Answer(*model, {2}, {table}), Answer(*whole, {2}, {table}));
        }
      }
    }
  }
}

TEST(Folding, HasTheRowsInCommonWithAModelBesideIt) {
  const std::unique_ptr<Backend> alone_backend = CreateXnnpackBackend(1).value();
  const std::unique_ptr<Model> alone = Load(kShared, Precision::kF16, *alone_backend);
  const std::unique_ptr<Model> features = Load(kShared, Precision::kF16, *alone_backend, nullptr, Head::kNone);

  const std::unique_ptr<Backend> backend = CreateXnnpackBackend(1).value();
  RowsMade made;
  backend->set_observer(&made);
  std::unique_ptr<Model> first = Load(kShared, Precision::kF16, *backend);
  EXPECT_EQ(Answer(*first, {3}), Answer(*alone, {3}));
  EXPECT_EQ(made.Take(), (Rows{{48, 80}}));
  const std::unique_ptr<Model> second = Load(kShared, Precision::kF16, *backend, first.get(), Head::kNone);
  EXPECT_EQ(Answer(*second, {7}), Answer(*features, {7}));
  EXPECT_EQ(made.Take(), Rows());
  EXPECT_EQ(Answer(*second, {18}), Answer(*features, {18}));
  EXPECT_EQ(made.Take(), (Rows{{32, 48}, {80, 96}}));
  EXPECT_EQ(Answer(*first, {20, 18}), Answer(*alone, {20, 18}));
  EXPECT_EQ(made.Take(), Rows());
  first.reset();
  EXPECT_EQ(Answer(*second, {kLong}), Answer(*features, {kLong}));
  EXPECT_EQ(made.Take(), (Rows{{0, 32}, {96, 128}}));
}

}  // namespace
}  // namespace peruse::testing
