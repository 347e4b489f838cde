#include "tests/native/models/fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/json.h"
#include "tests/native/fixtures_dir.h"

namespace peruse::testing {
namespace {

class Collector : public TensorVisitor {
 public:
  explicit Collector(TensorFile& file) : file_(file) {}
  Status OnHeader(std::span<const TensorInfo> tensors) override {
    for (const TensorInfo& tensor : tensors) {
      names_.push_back(tensor.name);
      file_.entries[tensor.name].shape = tensor.shape;
    }
    return OkStatus();
  }
  Status OnData(size_t index, std::span<const uint8_t> bytes) override {
    std::vector<uint8_t>& to = file_.entries[names_[index]].bytes;
    to.insert(to.end(), bytes.begin(), bytes.end());
    return OkStatus();
  }

 private:
  TensorFile& file_;
  std::vector<std::string> names_;
};

template <typename T>
std::vector<T> As(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::string ReadFixture(const std::string& path) {
  std::ifstream file(FixturesDir() + "/" + path, std::ios::binary | std::ios::ate);
  EXPECT_TRUE(file.is_open()) << path;
  if (!file.is_open()) return "";
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0);
  // One call: in WebAssembly, reading by an iterator of characters takes 20 times as long.
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::vector<float> TensorFile::Floats(const std::string& name) const { return As<float>(entries.at(name).bytes); }
std::vector<int32_t> TensorFile::Ints(const std::string& name) const { return As<int32_t>(entries.at(name).bytes); }

TensorFile TensorFile::Read(const std::string& path) {
  TensorFile file;
  Collector collector(file);
  SafetensorsParser parser(collector);
  const std::string text = ReadFixture(path);
  const Status fed = parser.Feed(Bytes(text));
  const Status finished = parser.Finish();
  EXPECT_TRUE(fed.ok() && finished.ok()) << path << ": " << finished.message();
  return file;
}

ModelOptions GoldenCase::Options() const {
  ModelOptions options;
  if (head == "replaced-token-detection" || model.ends_with("ForPreTraining")) {
    options.head = Head::kReplacedTokenDetection;
  } else if (model.ends_with("ForSequenceClassification")) {
    options.head = Head::kSequenceClassification;
  } else if (model.ends_with("ForTokenClassification")) {
    options.head = Head::kTokenClassification;
  } else if (model.ends_with("ForQuestionAnswering")) {
    options.head = Head::kQuestionAnswering;
  } else if (model.ends_with("ForMaskedLM")) {
    options.head = Head::kMaskedLm;
  } else if (model.ends_with("ForMultipleChoice")) {
    options.head = Head::kMultipleChoice;
  }
  options.enhanced_mask_decoder = head == "enhanced-mask-decoder";
  return options;
}

std::vector<GoldenCase> GoldenCases() {
  std::vector<GoldenCase> cases;
  for (const char* folder : {"tiny", "conv"}) {
    auto document = JsonDocument::Parse(ReadFixture(std::string(folder) + "/cases.json"));
    EXPECT_TRUE(document.ok()) << folder;
    if (!document.ok()) continue;
    for (const JsonValue entry : document->root().FindMember("cases")) {
      const auto text = [&](const char* field) {
        return std::string(entry.FindMember(field).GetString().value_or(""));
      };
      cases.push_back({text("name"), text("model"), text("head"),
                       static_cast<int32_t>(entry.FindMember("choices").GetInt64().value_or(0)), folder});
    }
  }
  return cases;
}

std::vector<GoldenText> GoldenTexts(const GoldenCase& golden, const TensorFile& expected) {
  std::vector<GoldenText> texts;
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string text = name;
    if (!expected.Has(text + ".input_ids")) continue;
    const std::vector<int32_t> ids = expected.Ints(text + ".input_ids");
    const std::vector<int32_t> types = expected.Ints(text + ".token_type_ids");
    const int32_t count = std::max(1, golden.choices);
    const auto length = static_cast<std::ptrdiff_t>(ids.size()) / count;
    for (int32_t choice = 0; choice < count; ++choice) {
      texts.push_back({text,
                       choice,
                       {ids.begin() + choice * length, ids.begin() + (choice + 1) * length},
                       {types.begin() + choice * length, types.begin() + (choice + 1) * length}});
    }
  }
  return texts;
}

Result<std::shared_ptr<const LoadedModel>> LoadWeights(const std::string& config, const std::string& weights,
                                                       const ModelOptions& options, Backend& backend, size_t chunk) {
  PERUSE_ASSIGN_OR_RETURN(const std::unique_ptr<ModelLoader> loader, ModelLoader::Create(config, options, backend));
  std::span<const uint8_t> rest = Bytes(weights);
  while (!rest.empty()) {
    const size_t size = std::min(chunk, rest.size());
    PERUSE_RETURN_IF_ERROR(loader->Feed(rest.first(size)));
    rest = rest.subspan(size);
  }
  return loader->Finish();
}

Result<std::unique_ptr<Runner>> LoadModel(const std::string& config, const std::string& weights,
                                          const ModelOptions& options, Backend& backend, size_t chunk) {
  PERUSE_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedModel> model,
                          LoadWeights(config, weights, options, backend, chunk));
  return CreateRunner(std::move(model));
}

std::vector<OutputId> OutputsOf(const Runner& model, OutputKind kind) {
  std::vector<OutputId> ids = model.Outputs();
  std::erase_if(ids, [&](OutputId id) { return id.kind != kind; });
  return ids;
}

std::vector<float> ValuesOf(const Runner& model, OutputId output) {
  const std::span<const float> values = model.output(output).values;
  return {values.begin(), values.end()};
}

}  // namespace peruse::testing
