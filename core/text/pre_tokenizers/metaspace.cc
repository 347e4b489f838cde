#include "core/text/pre_tokenizers/metaspace.h"

#include <algorithm>

namespace peruse::text {

void Metaspace::Rewrite(const AlignedText& from, size_t begin, size_t end, AlignedText* to) const {
  const std::string_view piece = from.view(begin, end);
  const Offset first = from.origins[begin];
  const bool has_prefix = piece[0] == ' ' || piece.starts_with(bytes_);
  const bool wanted = prepend_ == PrependScheme::kAlways || (prepend_ == PrependScheme::kFirst && first.start == 0);
  if (!has_prefix && wanted) to->Append(replacement_, first);
  for (size_t i = begin; i < end;) {
    if (from.text[i] == ' ') {
      to->Append(replacement_, from.origins[i]);
      ++i;
      continue;
    }
    const size_t space = from.text.find(' ', i);
    const size_t run_end = space < end ? space : end;
    to->Append(from, i, run_end);
    i = run_end;
  }
}

// Starts a piece at each replacement character (the visible character that stands for a space). A replacement character directly before
// another one is a piece of its own.
void Metaspace::AddPieces(size_t begin, PieceList* list) const {
  const std::string_view text = list->text.text;
  if (!split_) return list->Add(begin, text.size());
  while (begin < text.size()) {
    const size_t next =
        text.find(bytes_, text.compare(begin, bytes_.size(), bytes_) == 0 ? begin + bytes_.size() : begin);
    const size_t end = next == std::string_view::npos ? text.size() : next;
    list->Add(begin, end);
    begin = end;
  }
}

bool Metaspace::PreTokenize(PieceList* list, PieceList* scratch) const {
  scratch->Clear();
  const std::string& text = list->text.text;
  const auto spaces = static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
  scratch->text.Grow(text.size() + (spaces + list->pieces.size()) * bytes_.size());
  for (const Piece& piece : list->pieces) {
    const size_t base = scratch->text.size();
    if (piece.token_id >= 0) {
      scratch->text.Append(list->text, piece.begin, piece.end);
      scratch->Add(base, scratch->text.size(), piece.token_id);
      continue;
    }
    Rewrite(list->text, piece.begin, piece.end, &scratch->text);
    AddPieces(base, scratch);
  }
  std::swap(*list, *scratch);
  return !list->text.failed();
}

}  // namespace peruse::text
