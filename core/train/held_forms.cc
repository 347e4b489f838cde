// From masters to the forms in which a program holds them, and gradients back.
#include <algorithm>
#include <cmath>

#include "core/train/masters.h"
#include "core/train/parts.h"

namespace peruse::train {
namespace {

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
  workers_->Multiply(out, in, rank, {b.values, rank, 1}, {a.values, in, 1}, sum, in, /*add=*/false);
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
  workers_->Multiply(rank, in, out, Operand{b.values, rank, 1}.Transposed(), whole, a.gradient, in, /*add=*/true);
  workers_->Multiply(out, rank, in, whole, Operand{a.values, in, 1}.Transposed(), b.gradient, rank, /*add=*/true);
}

void Masters::ZeroGradients() {
  std::fill(gradients_.values().begin(), gradients_.values().end(), 0.0f);
  std::fill(held_gradients_.values().begin(), held_gradients_.values().end(), 0.0f);
}

}  // namespace peruse::train
