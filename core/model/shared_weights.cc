#include "core/model/shared_weights.h"

#include <algorithm>

namespace peruse {
namespace {

// What of a program's parameters a piece belongs to.
enum class Part : uint8_t { kLinear, kConstant, kTable };

Part PartOf(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::kConstant:
    case Piece::Kind::kTransposed:
    case Piece::Kind::kSoftmaxTaps:
    case Piece::Kind::kTiled:
      return Part::kConstant;
    case Piece::Kind::kTable:
      return Part::kTable;
    default:
      return Part::kLinear;
  }
}

// The numbers of the pieces that make up a parameter.
using Pieces = std::vector<size_t>;

std::vector<Pieces> PiecesOf(const Parameters& parameters, Part part, size_t count) {
  std::vector<Pieces> lists(count);
  for (size_t i = 0; i < parameters.pieces.size(); ++i) {
    const Piece& piece = parameters.pieces[i];
    if (PartOf(piece) == part) lists[static_cast<size_t>(piece.parameter)].push_back(i);
  }
  return lists;
}

// The same part of the same tensor, whatever parameter and head it is for.
bool IsSame(const Piece& a, const Piece& b) {
  return a.kind == b.kind && a.names == b.names && a.if_has == b.if_has && a.shape == b.shape && a.first == b.first &&
         a.count == b.count && a.size == b.size;
}

// For each list of `wanted` the number of the one of `held` that is the same, as far as fits(wanted, held) too; -1: there is none.
template <typename Fits>
std::vector<int32_t> Match(const Parameters& parameters, const std::vector<Pieces>& wanted, const Parameters& from,
                           const std::vector<Pieces>& held, Fits fits) {
  const auto same_pieces = [&](const Pieces& a, const Pieces& b) {
    return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                    [&](size_t i, size_t j) { return IsSame(parameters.pieces[i], from.pieces[j]); });
  };
  std::vector<int32_t> matches;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int32_t match = -1;
    for (size_t j = 0; j < held.size() && match < 0; ++j) {
      if (fits(i, j) && same_pieces(wanted[i], held[j])) match = static_cast<int32_t>(j);
    }
    matches.push_back(match);
  }
  return matches;
}

}  // namespace

std::vector<bool> TakeHeld(const HeldWeights& from, const Parameters& parameters, Weights* weights,
                           LinearHolds* holds) {
  std::vector<bool> whole(parameters.pieces.size());
  const auto take = [&](Part part, size_t count, size_t held_count, auto fits, auto copy) {
    const std::vector<Pieces> wanted = PiecesOf(parameters, part, count);
    const std::vector<int32_t> matches =
        Match(parameters, wanted, from.parameters, PiecesOf(from.parameters, part, held_count), fits);
    for (size_t i = 0; i < count; ++i) {
      if (matches[i] < 0) continue;
      copy(i, static_cast<size_t>(matches[i]));
      for (const size_t piece : wanted[i]) whole[piece] = true;
    }
  };
  take(
      Part::kLinear, parameters.linears.size(), from.parameters.linears.size(),
      [&](size_t i, size_t j) { return parameters.linears[i] == from.parameters.linears[j]; },
      [&](size_t i, size_t j) {
        weights->linears[i] = from.weights.linears[j];
        (*holds)[i] = from.holds[j];
      });
  take(
      Part::kConstant, parameters.constants.size(), from.parameters.constants.size(),
      [&](size_t i, size_t j) {
        return parameters.constants[i].rows == from.parameters.constants[j].rows &&
               parameters.constants[i].cols == from.parameters.constants[j].cols;
      },
      [&](size_t i, size_t j) { weights->constants[i] = from.weights.constants[j]; });
  take(
      Part::kTable, parameters.tables.size(), from.parameters.tables.size(),
      [&](size_t i, size_t j) { return parameters.tables[i].words == from.parameters.tables[j].words; },
      [&](size_t i, size_t j) { weights->tables[i] = from.weights.tables[j]; });
  return whole;
}

}  // namespace peruse
