// Any bytes, in chunks of any size: the parsers of PyTorch files must not crash, and must deliver each tensor exactly. The first byte
// selects the kind of input: 0 a file; otherwise a pickle and the bytes of storages, from which a valid archive is made, so that inputs
// pass its checksums.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/weights/pytorch/pickle.h"
#include "core/weights/weights_parser.h"
#include "tests/fuzz/weights_checks.h"
#include "tests/native/weights/pytorch_writer.h"

namespace {

// The pickle ends where the parser says so; the following bytes are the storage "0".
std::string Archive(std::span<const uint8_t> content) {
  peruse::Pickle pickle;
  std::span<const uint8_t> rest = content;
  if (!pickle.Feed(rest).ok() || !pickle.done()) return "";
  const std::string text(reinterpret_cast<const char*>(content.data()), content.size());
  peruse::testing::ZipWriter zip;
  zip.Add("archive/data.pkl", text.substr(0, content.size() - rest.size()));
  zip.Add("archive/data/0", text.substr(content.size() - rest.size()));
  return zip.File();
}

}  // namespace

// The second byte selects the chunk size; 0 means one chunk.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::span<const uint8_t> content(data + 2, size - 2);
  const std::string archive = data[0] == 0 ? "" : Archive(content);
  const std::span<const uint8_t> file =
      data[0] == 0 ? content : std::span(reinterpret_cast<const uint8_t*>(archive.data()), archive.size());
  peruse::CheckWeights<peruse::WeightsParser>(file, data[1] == 0 ? file.size() + 1 : data[1]);
  return 0;
}
