#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/model_loader.h"
#include "core/model/runner.h"
#include "core/weights/safetensors.h"

namespace peruse::testing {

// Reads a whole file. Fails the test if it does not exist.
std::string ReadFixture(const std::string& path);

inline std::span<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

struct TensorFile {
  struct Entry {
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
  };
  std::map<std::string, Entry> entries;

  bool Has(const std::string& name) const { return entries.contains(name); }
  const std::vector<int64_t>& Shape(const std::string& name) const { return entries.at(name).shape; }
  std::vector<float> Floats(const std::string& name) const;
  std::vector<int32_t> Ints(const std::string& name) const;

  static TensorFile Read(const std::string& path);
};

// A line of cases.json: a checkpoint of tests/fixtures/tiny or conv, and transformers' results.
struct GoldenCase {
  std::string name;
  std::string model;  // class
  std::string head;   // "of the class", "enhanced-mask-decoder", "replaced-token-detection"
  int32_t choices = 0;
  std::string folder = "tiny";

  std::string Config() const { return ReadFixture(folder + "/" + name + "/config.json"); }
  std::string Weights() const { return ReadFixture(folder + "/" + name + "/model.safetensors"); }
  TensorFile Expected() const { return TensorFile::Read(folder + "/" + name + "/expected.safetensors"); }
  ModelOptions Options() const;
};

std::vector<GoldenCase> GoldenCases();

struct GoldenText {
  std::string name;
  int32_t choice = 0;
  std::vector<int32_t> ids;
  std::vector<int32_t> type_ids;

  ModelInput input() const { return {ids, type_ids}; }
};
std::vector<GoldenText> GoldenTexts(const GoldenCase& golden, const TensorFile& expected);

// Loads a model; the weights arrive in chunks of `chunk` bytes.
Result<std::shared_ptr<const LoadedModel>> LoadWeights(const std::string& config, const std::string& weights,
                                                       const ModelOptions& options, Backend& backend,
                                                       size_t chunk = 1 << 16);
Result<std::unique_ptr<Runner>> LoadModel(const std::string& config, const std::string& weights,
                                          const ModelOptions& options, Backend& backend, size_t chunk = 1 << 16);

std::vector<OutputId> OutputsOf(const Runner& model, OutputKind kind);

std::vector<float> ValuesOf(const Runner& model, OutputId output);

}  // namespace peruse::testing
