#include "core/train/masters.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace peruse::train {
namespace {

// The pieces of one matrix or bias, which share memory.
struct Part {
  Piece::Kind kind;  // kBias, kTable, kConstant, or kRows for all others of a linear
  int32_t parameter;

  bool operator==(const Part&) const = default;
};

Part PartOf(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::kBias:
    case Piece::Kind::kTable:
      return {piece.kind, piece.parameter};
    case Piece::Kind::kConstant:
    case Piece::Kind::kTransposed:
    case Piece::Kind::kSoftmaxTaps:
    case Piece::Kind::kTiled:
      return {Piece::Kind::kConstant, piece.parameter};
    default:
      return {Piece::Kind::kRows, piece.parameter};
  }
}

int64_t SizeOf(std::span<const int64_t> shape) {
  int64_t size = 1;
  for (const int64_t n : shape) size *= n;
  return size;
}

// Calls visit(element of the tensor, element of the parameter). Not for kSoftmaxTaps.
template <typename Visit>
void ForEachElement(const Piece& piece, const Parameters& parameters, Visit visit) {
  const auto number = static_cast<size_t>(piece.parameter);
  const int64_t size = SizeOf(piece.shape);
  switch (piece.kind) {
    case Piece::Kind::kRows: {
      const LinearSpec& spec = parameters.linears[number];
      for (int64_t i = 0; i < size; ++i) visit(i, int64_t{piece.first} * (spec.in / spec.groups) + i);
      return;
    }
    case Piece::Kind::kBias:
      for (int64_t i = 0; i < size; ++i) visit(i, piece.first + i);
      return;
    case Piece::Kind::kInterleaved: {
      const int64_t in = piece.shape[1], parts = piece.count, width = piece.size,
                    heads = piece.shape[0] / (parts * width);
      for (int64_t row = 0; row < piece.shape[0]; ++row) {
        const int64_t head = row / (parts * width), part = row / width % parts, channel = row % width;
        const int64_t to = piece.first + (part * heads + head) * width + channel;
        for (int64_t i = 0; i < in; ++i) visit(row * in + i, to * in + i);
      }
      return;
    }
    case Piece::Kind::kGrouped: {
      const int64_t groups = piece.shape[0], in = piece.shape[1], out = piece.shape[2];
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t i = 0; i < in; ++i) {
          for (int64_t o = 0; o < out; ++o) visit((g * in + i) * out + o, (g * out + o) * in + i);
        }
      }
      return;
    }
    case Piece::Kind::kConv1d: {
      const int64_t out = piece.shape[0], in = piece.shape[1], taps = piece.shape[2];
      for (int64_t o = 0; o < out; ++o) {
        for (int64_t i = 0; i < in; ++i) {
          for (int64_t tap = 0; tap < taps; ++tap) visit((o * in + i) * taps + tap, (o * taps + tap) * in + i);
        }
      }
      return;
    }
    case Piece::Kind::kColumns: {
      const int64_t in = parameters.linears[number].in;
      for (int64_t r = 0; r < piece.shape[0]; ++r) {
        for (int64_t i = 0; i < in; ++i) visit(r * piece.shape[1] + piece.first + i, r * in + i);
      }
      return;
    }
    case Piece::Kind::kTransposed: {
      const int64_t rows = piece.shape.back(), cols = piece.shape[0];
      for (int64_t c = 0; c < cols; ++c) {
        for (int64_t r = 0; r < rows; ++r) visit(c * rows + r, r * cols + c);
      }
      return;
    }
    case Piece::Kind::kTiled: {
      const int64_t cols = piece.shape[1];
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t copy = 0; copy < piece.count; ++copy) visit(i, (i / cols * piece.count + copy) * cols + i % cols);
      }
      return;
    }
    default:
      for (int64_t i = 0; i < size; ++i) visit(i, i);
  }
}

// [heads, taps] -> the softmax over the taps, [taps, channels], shared by each head's channels.
void HoldSoftmaxTaps(const Piece& piece, int64_t channels, const float* tensor, float* held) {
  const int64_t taps = piece.shape[1], width = channels / piece.shape[0];
  for (int64_t h = 0; h < piece.shape[0]; ++h) {
    const float* logits = tensor + h * taps;
    const float largest = *std::max_element(logits, logits + taps);
    double sum = 0;
    for (int64_t j = 0; j < taps; ++j) sum += std::exp(double{logits[j]} - double{largest});
    for (int64_t j = 0; j < taps; ++j) {
      std::fill_n(held + j * channels + h * width, width,
                  static_cast<float>(std::exp(double{logits[j]} - double{largest}) / sum));
    }
  }
}
void GatherSoftmaxTaps(const Piece& piece, int64_t channels, const float* held, const float* gradient, float* tensor) {
  const int64_t taps = piece.shape[1], width = channels / piece.shape[0];
  std::vector<double> sums(static_cast<size_t>(taps));
  for (int64_t h = 0; h < piece.shape[0]; ++h) {
    double mean = 0;
    for (int64_t j = 0; j < taps; ++j) {
      double& sum = sums[static_cast<size_t>(j)] = 0;
      for (int64_t c = 0; c < width; ++c) sum += double{gradient[j * channels + h * width + c]};
      mean += sum * double{held[j * channels + h * width]};
    }
    for (int64_t j = 0; j < taps; ++j) {
      tensor[h * taps + j] +=
          static_cast<float>(double{held[j * channels + h * width]} * (sums[static_cast<size_t>(j)] - mean));
    }
  }
}

}  // namespace

std::optional<int32_t> LayerNumber(const std::string& name) {
  const size_t at = name.find("layer.");
  size_t i = at + 6;
  if (at == std::string::npos || i >= name.size() || name[i] < '0' || name[i] > '9') return std::nullopt;
  int32_t number = 0;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i) number = number * 10 + (name[i] - '0');
  return number;
}

Masters::Masters(const Program& program, const Parameters& parameters, std::vector<std::string> prefixes)
    : parameters_(parameters), names_(std::move(prefixes)) {
  held_.linears.resize(parameters.linears.size());
  held_.constants.resize(parameters.constants.size());
  held_.tables.resize(parameters.tables.size());
  norms_.resize(parameters.constants.size());
  for (const Op& op : program.ops) {
    const auto* norm = std::get_if<ops::LayerNorm>(&op);
    if (norm == nullptr) continue;
    for (const Value value : {norm->norm.weight, norm->norm.bias}) {
      norms_[static_cast<size_t>(program.info(value).constant)] = true;
    }
  }
}

// ---- The checkpoint -------------------------------------------------------------------------------------------------

// Each tensor once, the pieces of a parameter one behind the other.
void Masters::CollectMasters() {
  for (const Piece& piece : parameters_.pieces) places_.push_back({&piece, 0});
  const auto rank = [](const Place& place) {
    const Part part = PartOf(*place.piece);
    const bool linear = part.kind == Piece::Kind::kRows || part.kind == Piece::Kind::kBias;
    return std::tuple(linear                                ? 0
                      : part.kind == Piece::Kind::kConstant ? 1
                                                            : 2,
                      part.parameter, part.kind, place.piece->first);
  };
  std::stable_sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) { return rank(a) < rank(b); });
  std::map<std::string, size_t> known;
  for (Place& place : places_) {
    const Piece& piece = *place.piece;
    const std::string& name = names_.Of(piece);
    const auto [found, added] = known.emplace(name, masters_.size());
    place.master = found->second;
    if (added)
      masters_.push_back({.name = name, .head = piece.head, .shape = piece.shape, .size = SizeOf(piece.shape)});
    Master& master = masters_[place.master];
    if (piece.head.empty()) master.head.clear();  // the encoder's, wherever else it is used
    const bool constant = PartOf(piece).kind == Piece::Kind::kConstant;
    master.norm = master.norm || (constant && norms_[static_cast<size_t>(piece.parameter)]);
  }
}

Status Masters::OnHeader(std::span<const TensorInfo> tensors) {
  if (!masters_.empty()) return Unsupported("a checkpoint of several files cannot be taught yet");
  std::vector<std::string_view> names;
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  PERUSE_RETURN_IF_ERROR(names_.Resolve(names));
  CollectMasters();
  infos_.assign(tensors.begin(), tensors.end());
  targets_.assign(tensors.size(), -1);
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < masters_.size(); ++i) {
    by_name[masters_[i].name] = i;
    masters_[i].fresh = true;
  }
  std::string wrong;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto found = by_name.find(names_.Normalise(tensors[i].name));
    if (found == by_name.end()) continue;
    Master& master = masters_[found->second];
    if (!tensors[i].dtype || !IsFloatDType(*tensors[i].dtype)) {
      return Unsupported("tensor \"" + tensors[i].name + "\" is of type " + tensors[i].dtype_name +
                         "; only a checkpoint of floats can be taught");
    }
    if (SizeOf(tensors[i].shape) != master.size && !master.head.empty()) continue;  // another number of labels
    if (tensors[i].shape != master.shape) {
      wrong += (wrong.empty() ? "" : ", ") + tensors[i].name + " " + ShapeString(tensors[i].shape) + " instead of " +
               ShapeString(master.shape);
      continue;
    }
    master.fresh = false;
    master.file_name = tensors[i].name;
    targets_[i] = static_cast<int32_t>(found->second);
  }
  if (!wrong.empty()) {
    return Status(StatusCode::kShapeMismatch, "the weights do not fit config.json; tensors of another shape: " + wrong);
  }
  std::string missing;
  for (const Master& master : masters_) {
    if (master.fresh && master.head.empty()) missing += (missing.empty() ? "" : ", ") + master.name;
  }
  if (!missing.empty()) {
    return Status(StatusCode::kMissingTensor, "the weights do not fit config.json; tensors missing: " + missing);
  }
  return AllocateValues();
}

Status Masters::AllocateValues() {
  int64_t size = 0;
  for (const Master& master : masters_) size += master.size;
  PERUSE_RETURN_IF_ERROR(values_.Resize(static_cast<size_t>(size)));
  float* next = values_.values().data();
  for (Master& master : masters_) {
    master.values = next;
    next += master.size;
  }
  return OkStatus();
}

Status Masters::OnData(size_t index, std::span<const uint8_t> bytes) {
  if (targets_[index] < 0) return OkStatus();
  if (index != reading_) {
    reading_ = index;
    const Master& master = masters_[static_cast<size_t>(targets_[index])];
    const int64_t rows = master.shape.empty() ? 1 : master.shape[0];
    const int64_t width = master.size / rows;
    const auto write = [&master, width](int32_t first, std::span<const float> values) {
      for (const float value : values) {
        if (!std::isfinite(value)) {
          return MalformedFile("tensor \"" + master.file_name +
                               "\" holds NaN or infinity: nothing can be computed with it");
        }
      }
      std::copy(values.begin(), values.end(), master.values + first * width);
      return OkStatus();
    };
    reader_ = std::make_unique<FloatReader>(*infos_[index].dtype, rows, width, write);
  }
  return reader_->Feed(bytes);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

void Masters::AddLora(size_t of, int32_t rank, float alpha) {
  const auto add = [&](const char* side, int64_t rows, int64_t cols) {
    Master master;
    master.name = masters_[of].name + side;
    master.shape = {rows, cols};
    master.size = rows * cols;
    master.fresh = master.trained = true;
    masters_.push_back(std::move(master));
    return masters_.size() - 1;
  };
  const int64_t out = masters_[of].shape[0], in = masters_[of].size / out;
  const size_t a = add(".lora_A", rank, in);
  lora_.push_back({of, a, add(".lora_B", out, rank), alpha / static_cast<float>(rank)});
}

int32_t Masters::AddFixedRow(int32_t cols, float value) {
  fixed_.emplace_back(static_cast<size_t>(cols), value);
  held_.constants.push_back({{fixed_.back().data(), 1, cols, cols}, {}});
  return static_cast<int32_t>(held_.constants.size()) - 1;
}

// Whether these places, all of one parameter, lie one behind the other and fill `size` elements.
bool Masters::LiesDirect(std::span<const Place> places, int64_t size) const {
  int64_t end = 0;
  for (const Place& place : places) {
    const Master& master = masters_[place.master];
    const Piece::Kind kind = place.piece->kind;
    if (kind != Piece::Kind::kRows && kind != Piece::Kind::kBias && kind != Piece::Kind::kConstant &&
        kind != Piece::Kind::kTable) {
      return false;
    }
    for (const LoraPair& pair : lora_) {
      if (pair.of == place.master) return false;
    }
    if (master.values != masters_[places[0].master].values + end) return false;
    end += master.size;
  }
  return end == size;
}

Status Masters::Allocate() {
  PERUSE_RETURN_IF_ERROR(products_.Allocate());
  // LoRA's masters came behind the others.
  int64_t more = 0, largest = 0;
  for (const LoraPair& pair : lora_) {
    more += masters_[pair.a].size + masters_[pair.b].size;
    largest = std::max(largest, masters_[pair.of].size);
  }
  PERUSE_RETURN_IF_ERROR(lora_values_.Resize(static_cast<size_t>(more)));
  PERUSE_RETURN_IF_ERROR(changed_.Resize(static_cast<size_t>(largest)));
  float* next = lora_values_.values().data();
  for (const LoraPair& pair : lora_) {
    masters_[pair.a].values = next;
    masters_[pair.b].values = next + masters_[pair.a].size;
    next += masters_[pair.a].size + masters_[pair.b].size;
  }
  int32_t widest = 0;
  for (const LinearSpec& spec : parameters_.linears) widest = std::max(widest, spec.out);
  PERUSE_RETURN_IF_ERROR(zeros_.Resize(static_cast<size_t>(widest)));
  std::fill(zeros_.values().begin(), zeros_.values().end(), 0.0f);
  for (size_t i = 0; i < held_.linears.size(); ++i) {
    held_.linears[i].spec = parameters_.linears[i];
    held_.linears[i].bias = zeros_.values().data();
  }
  // Twice: to count, and to hand out.
  for (const bool hand_out : {false, true}) {
    int64_t gradients = 0, own = 0, own_gradients = 0;
    for (Master& master : masters_) master.gradient = nullptr;
    const auto take = [&](FloatBuffer& buffer, int64_t& used, int64_t size) {
      float* const at = hand_out ? buffer.values().data() + used : nullptr;
      used += size;
      return at;
    };
    std::vector<uint8_t> given(masters_.size());
    for (size_t first = 0, end = 0; first < places_.size(); first = end) {
      const Part part = PartOf(*places_[first].piece);
      for (end = first; end < places_.size() && PartOf(*places_[end].piece) == part;) ++end;
      const std::span<Place> places = std::span(places_).subspan(first, end - first);
      const int64_t size = PartSize(*places[0].piece);
      bool trained = false, taken = false;
      for (const Place& place : places) {
        trained = trained || masters_[place.master].trained;
        taken = taken || given[place.master] != 0;
        for (const LoraPair& pair : lora_) trained = trained || pair.of == place.master;
      }
      // A tensor that has a gradient by an earlier parameter lies direct here only if it is the whole parameter.
      const bool direct = LiesDirect(places, size) && (!taken || places.size() == 1);
      float* values = masters_[places[0].master].values;
      float* gradient = nullptr;
      if (direct) {
        if (trained && !taken) gradient = take(gradients_, gradients, size);
        if (taken) gradient = masters_[places[0].master].gradient;
        float* to = gradient;
        for (const Place& place : places) {
          Master& master = masters_[place.master];
          if (!taken && trained && master.trained) master.gradient = to;
          if (to != nullptr) to += master.size;
          if (trained) given[place.master] = 1;
        }
      } else {
        values = take(held_values_, own, size);
        if (trained) gradient = take(held_gradients_, own_gradients, size);
      }
      for (Place& place : places) place.direct = direct;
      SetHeld(*places[0].piece, values, gradient);
    }
    for (size_t i = 0; i < masters_.size(); ++i) {
      if (masters_[i].trained && given[i] == 0) masters_[i].gradient = take(gradients_, gradients, masters_[i].size);
    }
    if (hand_out) break;
    PERUSE_RETURN_IF_ERROR(gradients_.Resize(static_cast<size_t>(gradients)));
    PERUSE_RETURN_IF_ERROR(held_values_.Resize(static_cast<size_t>(own)));
    PERUSE_RETURN_IF_ERROR(held_gradients_.Resize(static_cast<size_t>(own_gradients)));
  }
  return OkStatus();
}

int64_t Masters::PartSize(const Piece& piece) const {
  const Part part = PartOf(piece);
  const auto number = static_cast<size_t>(part.parameter);
  switch (part.kind) {
    case Piece::Kind::kBias: {
      // Biases need not reach to the end: what no tensor gives is zero.
      return parameters_.linears[number].out;
    }
    case Piece::Kind::kTable:
      return int64_t{parameters_.tables[number].rows} * parameters_.tables[number].cols;
    case Piece::Kind::kConstant:
      return int64_t{parameters_.constants[number].rows} * parameters_.constants[number].cols;
    default: {
      const LinearSpec& spec = parameters_.linears[number];
      return int64_t{spec.out} * (spec.in / spec.groups);
    }
  }
}

void Masters::SetHeld(const Piece& piece, float* values, float* gradient) {
  const Part part = PartOf(piece);
  const auto number = static_cast<size_t>(part.parameter);
  const auto matrix = [](float* data, int32_t rows, int32_t cols) {
    return data == nullptr ? Block() : Block{data, rows, cols, cols};
  };
  if (part.kind == Piece::Kind::kBias) {
    held_.linears[number].bias = values;
    held_.linears[number].bias_gradient = gradient;
  } else if (part.kind == Piece::Kind::kTable) {
    const TableSpec& spec = parameters_.tables[number];
    held_.tables[number] = {matrix(values, spec.rows, spec.cols), matrix(gradient, spec.rows, spec.cols)};
  } else if (part.kind == Piece::Kind::kConstant) {
    const ConstantSpec& spec = parameters_.constants[number];
    held_.constants[number] = {matrix(values, spec.rows, spec.cols), matrix(gradient, spec.rows, spec.cols)};
  } else {
    held_.linears[number].weight = values;
    held_.linears[number].weight_gradient = gradient;
  }
}

float* Masters::Held(const Piece& piece, bool gradient) const {
  const Part part = PartOf(piece);
  const auto number = static_cast<size_t>(part.parameter);
  switch (part.kind) {
    case Piece::Kind::kBias:
      return gradient ? held_.linears[number].bias_gradient : held_.linears[number].bias;
    case Piece::Kind::kTable:
      return (gradient ? held_.tables[number].gradient : held_.tables[number].values).data;
    case Piece::Kind::kConstant:
      return (gradient ? held_.constants[number].gradient : held_.constants[number].values).data;
    default:
      return gradient ? held_.linears[number].weight_gradient : held_.linears[number].weight;
  }
}

int64_t Masters::bytes() const {
  int64_t floats = 0;
  for (const FloatBuffer* buffer : {&values_, &gradients_, &held_values_, &held_gradients_, &changed_, &lora_values_}) {
    floats += static_cast<int64_t>(buffer->values().size());
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

// ---- To the program's forms and back --------------------------------------------------------------------------------

const LoraPair* Masters::PairOf(size_t master) const {
  for (const LoraPair& pair : lora_) {
    if (pair.of == master) return &pair;
  }
  return nullptr;
}

// With its LoRA pair, if it has one.
const float* Masters::Effective(size_t number) {
  const Master& master = masters_[number];
  const LoraPair* pair = PairOf(number);
  if (pair == nullptr) return master.values;
  const Master& a = masters_[pair->a];
  const Master& b = masters_[pair->b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  float* const sum = changed_.values().data();
  products_.Run(out, in, rank, {b.values, rank, 1}, {a.values, in, 1}, sum, in, /*add=*/false);
  for (int64_t i = 0; i < master.size; ++i) sum[i] = master.values[i] + pair->scale * sum[i];
  return sum;
}

void Masters::Hold() {
  for (const Place& place : places_) {
    if (place.direct) continue;
    const float* from = Effective(place.master);
    float* const to = Held(*place.piece, /*gradient=*/false);
    if (place.piece->kind == Piece::Kind::kSoftmaxTaps) {
      HoldSoftmaxTaps(*place.piece, parameters_.constants[static_cast<size_t>(place.piece->parameter)].cols, from, to);
    } else {
      ForEachElement(*place.piece, parameters_, [&](int64_t tensor, int64_t held) { to[held] = from[tensor]; });
    }
  }
}

void Masters::Gather() {
  for (const Place& place : places_) {
    const LoraPair* pair = PairOf(place.master);
    Master& master = masters_[place.master];
    if (place.direct || (!master.trained && pair == nullptr)) continue;
    const float* from = Held(*place.piece, /*gradient=*/true);
    float* const to = pair != nullptr ? changed_.values().data() : master.gradient;
    if (pair != nullptr) std::fill_n(to, master.size, 0.0f);
    if (place.piece->kind == Piece::Kind::kSoftmaxTaps) {
      GatherSoftmaxTaps(*place.piece, parameters_.constants[static_cast<size_t>(place.piece->parameter)].cols,
                        Held(*place.piece, /*gradient=*/false), from, to);
    } else {
      ForEachElement(*place.piece, parameters_, [&](int64_t tensor, int64_t held) { to[tensor] += from[held]; });
    }
    if (pair != nullptr) GatherLora(*pair, to);
  }
  // Gathered once.
  std::fill(held_gradients_.values().begin(), held_gradients_.values().end(), 0.0f);
}

// dA = s B^T dW, dB = s dW A^T
void Masters::GatherLora(const LoraPair& pair, float* gradient) {
  const Master& a = masters_[pair.a];
  const Master& b = masters_[pair.b];
  const int64_t rank = a.shape[0], in = a.shape[1], out = b.shape[0];
  for (int64_t i = 0; i < out * in; ++i) gradient[i] *= pair.scale;
  const Operand whole = {gradient, in, 1};
  products_.Run(rank, in, out, Operand{b.values, rank, 1}.Transposed(), whole, a.gradient, in, /*add=*/true);
  products_.Run(out, rank, in, whole, Operand{a.values, in, 1}.Transposed(), b.gradient, rank, /*add=*/true);
}

void Masters::ZeroGradients() {
  std::fill(gradients_.values().begin(), gradients_.values().end(), 0.0f);
  std::fill(held_gradients_.values().begin(), held_gradients_.values().end(), 0.0f);
}

// ---- A start --------------------------------------------------------------------------------------------------------

void Masters::Initialise(uint64_t seed, float deviation) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (size_t number = 0; number < masters_.size(); ++number) {
    Master& master = masters_[number];
    if (!master.fresh) continue;
    const bool a = master.name.ends_with(".lora_A"), b = master.name.ends_with(".lora_B");
    if (b || master.name.ends_with("bias")) {
      std::fill_n(master.values, master.size, 0.0f);
      continue;
    }
    if (master.norm) {
      std::fill_n(master.values, master.size, 1.0f);
      continue;
    }
    // kaiming_uniform_(a = sqrt(5)), as peft: within 1 / sqrt(in).
    const float reach = a ? 1 / std::sqrt(static_cast<float>(master.shape[1])) : 0;
    for (int64_t i = 0; i < master.size; ++i) {
      const auto words = Philox({static_cast<uint32_t>(i), static_cast<uint32_t>(number), 0xFFFFFFFFu, 0}, key);
      const double one = (words[0] + 0.5) / 4294967296.0, two = (words[1] + 0.5) / 4294967296.0;
      const double normal = std::sqrt(-2 * std::log(one)) * std::cos(2 * M_PI * two);  // Box and Muller
      master.values[i] = a ? reach * static_cast<float>(2 * one - 1) : deviation * static_cast<float>(normal);
    }
  }
}

void Masters::PassThrough() {
  for (Master& master : masters_) {
    const bool square = master.shape.size() == 2 && master.shape[0] == master.shape[1];
    if (!master.fresh || master.head.empty() || !square) continue;
    for (int64_t i = 0; i < master.size; ++i) master.values[i] = i % (master.shape[1] + 1) == 0 ? 1.0f : 0.0f;
  }
}

}  // namespace peruse::train
