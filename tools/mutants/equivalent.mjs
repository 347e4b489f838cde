// Changes that no test can notice, because the changed program gives the same results, each with its reason. `npm run test:mutants` leaves them out.

/** A path, a change as the command prints it, and why the results are the same. */
export const kEquivalent = [
  [
    'core/base/decimal.cc',
    '(exponent > 53 ? numerator : denominator).ShiftLeft(std::abs(exponent - 53)); (> -> >=)',
    'For an exponent of 53 the shift is by 0, whichever number it shifts.',
  ],
  [
    'core/text/normalizers/simple_normalizers.cc',
    'if (begin > 0 || end < text->size()) Crop(begin, end, text); (< -> <=)',
    'Crop to the whole text changes nothing; the condition saves time.',
  ],
  [
    'core/backend/cpu/attention.cc',
    'for (; j + 4 <= length_; j += 4) AddFourKeys(rows, j, diagonals_ + (rows - 1 + j)); (<= -> <)',
    'The loop after this one adds the last four keys one by one, with the same sums.',
  ],
  [
    'core/ops/lstm.cc',
    'i * gate_error(2, 1) + kEpsilon * (std::fabs(f * c[k]) + std::fabs(i * g)); (+ -> -)',
    'A term of the error bound, which only tests compute: with a smaller one they are stricter.',
  ],
  [
    'core/tasks/vector_index.cc',
    'const bool by_codes = has_codes() && JustifiesCodes(rows()) && k < rows() / 4 && estimates.Resize(rows()).ok(); (< -> <=)',
    'Codes only save time: what they cannot rule out is compared exactly.',
  ],
  [
    'core/train/ops/label_heads.cc',
    'for (int64_t c = 0; length > op.eps && c < x.cols; ++c) along += x.row(r)[c] / divisor * out.row(r)[c]; (> -> >=)',
    'Where the length is exactly eps, the function has a kink, and both are its gradients.',
  ],
  ['core/train/ops/layer_norm.cc', 'if (i < width) sums = hn::Add(sums, f(i, width - i)); (< -> <=)', 'A vector of no numbers adds zeros.'],
];

const known = new Set(kEquivalent.map(([file, change]) => `${file} ${change}`));

export const isNotEquivalent = ({ file, change }) => !known.has(`${file} ${change}`);
