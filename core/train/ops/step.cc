#include "core/train/ops/step.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace peruse::train {

Block Tape::gradient(Value value) const {
  const size_t root = static_cast<size_t>(program_->Root(value).id);
  return started_[root] != 0 ? gradients_[static_cast<size_t>(value.id)] : Block();
}

bool Tape::wants(Value value) const { return static_cast<bool>(gradients_[static_cast<size_t>(value.id)]); }

Block Tape::Accumulator(Value value) {
  const auto root = static_cast<size_t>(program_->Root(value).id);
  if (started_[root] == 0) {
    Fill(gradients_[root], 0);
    started_[root] = 1;
  }
  return gradients_[static_cast<size_t>(value.id)];
}

Block Tape::Destination(Value value, bool* add) {
  const auto root = static_cast<size_t>(program_->Root(value).id);
  if (static_cast<size_t>(value.id) != root) {
    *add = true;
    return Accumulator(value);
  }
  *add = started_[root] != 0;
  started_[root] = 1;
  return gradients_[root];
}

namespace {

bool KeepsOperands(const Op& op) {
  const auto of = []<typename Operation>(const Operation&) {
    if constexpr (requires { Operation::kKeepsOperands; }) return Operation::kKeepsOperands;
    return true;
  };
  return std::visit(of, op);
}

bool KeepsResult(const Op& op) {
  const auto of = []<typename Operation>(const Operation&) {
    if constexpr (requires { Operation::kKeepsResult; }) return Operation::kKeepsResult;
    return false;
  };
  return std::visit(of, op);
}

}  // namespace

int64_t HeadScratch(const ops::Attention& op, const RaggedBatch& batch,
                    std::span<const std::span<const int32_t>> indices) {
  const int64_t longest = batch.longest();
  int64_t reach = 0;
  if (op.slots.valid()) {
    const auto slots = indices[static_cast<size_t>(op.slots.id)];
    const auto [least, most] = std::minmax_element(slots.begin(), slots.end());
    reach = *most - *least + 1;
  }
  return longest * (2 * longest + reach);
}

int64_t Scratch(const Op& op, const Program& program, const PackedParameters& packed, const RaggedBatch& batch,
                const Sizes& sizes, std::span<const std::span<const int32_t>> indices) {
  const int64_t tokens = batch.rows();
  if (const auto* attention = std::get_if<ops::Attention>(&op)) {
    return packed.workers->threads() * HeadScratch(*attention, batch, indices);
  }
  if (const auto* norm = std::get_if<ops::RmsNorm>(&op)) {
    return sizes(program.info(norm->x).rows) * program.info(norm->x).cols.factor /
           program.info(norm->weight).cols.factor;
  }
  if (std::holds_alternative<ops::LayerNorm>(op)) return 2 * sizes(program.info(std::get<ops::LayerNorm>(op).x).rows);
  if (const auto* conv = std::get_if<ops::SpanConv>(&op)) return 2 * tokens * conv->heads * conv->kernel_size;
  if (const auto* conv = std::get_if<ops::Conv1d>(&op)) {
    return tokens * packed.linears[static_cast<size_t>(conv->weight.id)].spec.in;
  }
  if (const auto* lstm = std::get_if<ops::Lstm>(&op)) {
    // The rows of an LSTM are words. Their number is at most the number of tokens.
    return (tokens + 2) * 6 * program.info(lstm->out).cols.factor;
  }
  if (const auto* cross = std::get_if<ops::CrossAttention>(&op)) {
    return 2 * sizes(program.info(cross->query).rows) * sizes(program.info(cross->key).rows);
  }
  return 0;
}

Step::Step(const Program& program, const PackedParameters& packed) : frozen_(packed), all_(&packed) {
  program_ = &program;
  for (LinearParameter& linear : frozen_.linears) linear.weight_gradient = linear.bias_gradient = nullptr;
  for (MatrixParameter& matrix : frozen_.constants) matrix.gradient = {};
  for (MatrixParameter& matrix : frozen_.tables) matrix.gradient = {};
  FindDropout();
}

// A value gets a gradient if a trained parameter or a requested input affects it.
void Step::FindNeeds() {
  const Program& program = *program_;
  needs_.assign(program.values.size(), 0);
  for (size_t i = 0; i < program.values.size(); ++i) {
    const int32_t constant = program.values[i].constant;
    if (constant >= 0 && packed_->constants[static_cast<size_t>(constant)].gradient) needs_[i] = 1;
  }
  if (!options_.backward) return std::fill(needs_.begin(), needs_.end(), uint8_t{0});
  for (const Op& op : program.ops) {
    bool need = options_.inputs && std::holds_alternative<ops::Input>(op);
    for (const Value* value : InputsOf(op)) need = need || needs_[Root(*value)] != 0;
    if (const LinearId id = LinearOf(op); id.valid()) {
      need = need || at(id).weight_gradient != nullptr || at(id).bias_gradient != nullptr;
    }
    if (const auto* embed = std::get_if<ops::Embed>(&op)) {
      for (const auto& lookup : embed->lookups) need = need || (lookup.index.valid() && at(lookup.table).gradient);
    }
    for (const Value* value : OutputsOf(op)) {
      const bool stopped = options_.stop.valid() && Root(*value) == Root(options_.stop);
      if (need && !stopped) needs_[Root(*value)] = 1;
    }
  }
}

// Times count operations: operation i runs forward at time i, and backward at time 2 n - 1 - i.
void Step::FindLifetimes() {
  const Program& program = *program_;
  const auto count = static_cast<int32_t>(program.ops.size());
  pieces_.clear();
  std::vector<Piece>& pieces = pieces_;
  // for each value that owns memory: the piece for its values
  order_.assign(program.values.size(), static_cast<size_t>(-1));
  // for each value that owns memory: the piece for its gradient
  near_.assign(program.values.size(), static_cast<size_t>(-1));
  for (int32_t i = 0; i < count; ++i) {
    const Op& op = program.ops[static_cast<size_t>(i)];
    const int32_t back = 2 * count - 1 - i;
    bool returns = false;
    for (const Value* value : OutputsOf(op)) {
      const size_t root = Root(*value);
      const ValueInfo& info = program.values[root];
      const int64_t size = sizes_(info.rows) * sizes_(info.cols);
      order_[root] = pieces.size();
      pieces.push_back({size, i, i, static_cast<int32_t>(root), false, 0});
      if (needs_[root] == 0) continue;
      returns = true;
      if (KeepsResult(op)) pieces.back().to = back;
      near_[root] = pieces.size();
      pieces.push_back({size, back, back, static_cast<int32_t>(root), true, 0});
    }
    for (const Value* value : InputsOf(op)) {
      const size_t root = Root(*value);
      if (order_[root] == static_cast<size_t>(-1)) continue;
      Piece& own = pieces[order_[root]];
      own.to = std::max(own.to, returns && KeepsOperands(op) ? back : i);
      if (returns && near_[root] != static_cast<size_t>(-1)) {
        Piece& gradient = pieces[near_[root]];
        gradient.from = std::min(gradient.from, back);
      }
    }
  }
  for (size_t k = 0; options_.dropout != 0 && k < operands_.size(); ++k) {
    const DroppedOperand& operand = operands_[k];
    const auto at = static_cast<int32_t>(operand.op), back = 2 * count - 1 - at;
    const ValueInfo& info = program.info(operand.x);
    const int64_t size = sizes_(info.rows) * sizes_(info.cols);
    const auto number = static_cast<int32_t>(program.values.size() + k);
    pieces.push_back({size, at, options_.backward ? back : at, number, false, 0});
    if (options_.backward && needs_[Root(operand.x)] != 0) pieces.push_back({size, back, back, number, true, 0});
  }
  // The caller uses the output and its gradient between the two passes, and gradients of inputs afterwards.
  for (Piece& piece : pieces) {
    const bool is_output = static_cast<size_t>(piece.value) == Root(program.outputs[0].value);
    if (is_output && piece.gradient) piece.from = std::min(piece.from, count - 1);
    if (is_output && !piece.gradient) piece.to = 2 * count;
  }
  for (const Op& op : program.ops) {
    const auto* input = std::get_if<ops::Input>(&op);
    if (input != nullptr && near_[Root(input->out)] != static_cast<size_t>(-1))
      pieces[near_[Root(input->out)]].to = 2 * count;
  }
}

// Assigns memory to the largest piece first, each at the lowest offset that is free during its lifetime. Returns the total number of
// floats.
int64_t Step::PlacePieces() {
  constexpr int64_t kAlign = 16;
  order_.resize(pieces_.size());
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    return pieces_[a].size != pieces_[b].size ? pieces_[a].size > pieces_[b].size : a < b;
  });
  int64_t end = 0;
  for (size_t done = 0; done < order_.size(); ++done) {
    Piece& piece = pieces_[order_[done]];
    piece.size = (piece.size + kAlign - 1) / kAlign * kAlign;
    near_.clear();
    for (size_t i = 0; i < done; ++i) {
      const Piece& other = pieces_[order_[i]];
      if (other.from <= piece.to && piece.from <= other.to) near_.push_back(order_[i]);
    }
    std::sort(near_.begin(), near_.end(), [&](size_t a, size_t b) { return pieces_[a].offset < pieces_[b].offset; });
    int64_t offset = 0;
    for (const size_t i : near_) {
      if (pieces_[i].offset >= offset + piece.size) break;
      offset = std::max(offset, pieces_[i].offset + pieces_[i].size);
    }
    piece.offset = offset;
    end = std::max(end, offset + piece.size);
  }
  return end;
}

void Step::PlaceViews(float* memory) {
  const Program& program = *program_;
  values_.assign(program.values.size(), {});
  gradients_.assign(program.values.size(), {});
  for (DroppedOperand& operand : operands_) operand.values = operand.gradient = {};
  for (const Piece& piece : pieces_) {
    const auto root = static_cast<size_t>(piece.value);
    if (root >= program.values.size()) {
      DroppedOperand& operand = operands_[root - program.values.size()];
      const ValueInfo& info = program.info(operand.x);
      const int64_t cols = sizes_(info.cols);
      (piece.gradient ? operand.gradient : operand.values) = {memory + piece.offset, sizes_(info.rows), cols, cols};
      operand.started = 0;
      continue;
    }
    const ValueInfo& info = program.values[root];
    const int64_t cols = sizes_(info.cols);
    (piece.gradient ? gradients_ : values_)[root] = {memory + piece.offset, sizes_(info.rows), cols, cols};
  }
  for (size_t i = 0; i < program.values.size(); ++i) {
    const ValueInfo& info = program.values[i];
    if (info.constant >= 0) {
      const MatrixParameter& constant = packed_->constants[static_cast<size_t>(info.constant)];
      values_[i] = constant.values;
      if (options_.backward) gradients_[i] = constant.gradient;
    }
    if (info.base < 0) continue;
    const auto base = static_cast<size_t>(info.base);
    const int64_t cols = sizes_(info.cols);
    if (values_[base]) values_[i] = values_[base].Columns(info.first_col, cols);
    if (gradients_[base]) gradients_[i] = gradients_[base].Columns(info.first_col, cols);
  }
}

Status Step::Begin(const BatchInputs& inputs, const StepOptions& options,
                   std::span<const std::span<const float>> matrices) {
  options_ = options;
  packed_ = options.parameters ? all_ : &frozen_;
  batch_ = &inputs.batch;
  sizes_ = SizesOf(inputs);
  batch_indices_.Fill(*program_, inputs);
  indices_ = batch_indices_.views();
  inputs_ = matrices;
  dropout_ = {options.attention_dropout, options.seed, options.number, options.part};
  FindNeeds();
  FindLifetimes();
  const int64_t values = PlacePieces();
  int64_t scratch = 0;
  for (const Op& op : program_->ops) {
    scratch = std::max(scratch, Scratch(op, *program_, *packed_, inputs.batch, sizes_, indices_));
  }
  bytes_ = (values + scratch) * static_cast<int64_t>(sizeof(float));
  if (bytes_ > (int64_t{3} << 30)) return OutOfMemory("a step of so many tokens takes more than 3 GB");
  PERUSE_RETURN_IF_ERROR(memory_.Resize(static_cast<size_t>(values + scratch)));
  PlaceViews(memory_.values().data());
  scratch_ = memory_.values().data() + values;
  started_.assign(program_->values.size(), 0);
  for (size_t i = 0; i < started_.size(); ++i) started_[i] = program_->values[i].constant >= 0;
  return OkStatus();
}

void Step::Forward() {
  for (size_t i = 0; i < program_->ops.size(); ++i) {
    const Op& op = program_->ops[i];
    place_ = static_cast<uint32_t>(i);
    DroppedOperand* const operand = OperandOf(i);
    if (operand != nullptr) {
      Fill(*operand);
      Exchange(*operand);
    }
    std::visit([&](const auto& o) { train::Forward(o, *this); }, op);
    if (operand != nullptr) Exchange(*operand);
    DropRows(i, Drops::kResult, value(**OutputsOf(op).begin()));
  }
}

void Step::Backward() {
  started_[Root(program_->outputs[0].value)] = 1;
  for (size_t i = program_->ops.size(); i-- > 0;) {
    const Op& op = program_->ops[i];
    const Value result = **OutputsOf(op).begin();
    if (needs_[Root(result)] == 0 || started_[Root(result)] == 0) continue;
    place_ = static_cast<uint32_t>(i);
    DropRows(i, Drops::kResult, gradients_[static_cast<size_t>(result.id)]);
    DroppedOperand* const operand = OperandOf(i);
    if (operand != nullptr) Exchange(*operand);
    std::visit([&](const auto& o) { train::Backward(o, *this); }, op);
    if (operand == nullptr) continue;
    Exchange(*operand);
    Return(*operand);
  }
}

Block Step::input_gradient(int32_t number) const {
  for (const Op& op : program_->ops) {
    const auto* input = std::get_if<ops::Input>(&op);
    if (input != nullptr && input->number == number) return gradient(input->out);
  }
  return {};
}

// Finds the hidden states to which dropout applies: those that families and heads request (Build::Dropped) and, independently for each
// layer, the table of relative positions (transformers' pos_dropout). Dropout of attention probabilities is part of the attention
// operation.
void Step::FindDropout() {
  const Program& program = *program_;
  drops_.assign(program.ops.size(), Drops::kNothing);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const Value result = **OutputsOf(op).begin();
    if (std::find(program.dropped.begin(), program.dropped.end(), result) != program.dropped.end()) {
      drops_[i] = Drops::kResult;
    }
    const auto* linear = std::get_if<ops::Linear>(&op);
    if (linear == nullptr) continue;
    const Extent rows = program.info(linear->x).rows;
    if (rows.domain == Domain::kOne && rows.factor > 1) {
      drops_[i] = Drops::kOperand;
      operands_.push_back({.op = i, .x = linear->x});
    }
  }
}

std::vector<std::array<int64_t, 2>> Step::dropped() const {
  std::vector<std::array<int64_t, 2>> shapes;
  for (size_t i = 0; i < drops_.size(); ++i) {
    if (drops_[i] == Drops::kNothing) continue;
    const Op& op = program_->ops[i];
    const Value value = drops_[i] == Drops::kResult ? **OutputsOf(op).begin() : std::get<ops::Linear>(op).x;
    const ValueInfo& info = program_->info(value);
    shapes.push_back({sizes_(info.rows), sizes_(info.cols)});
  }
  return shapes;
}

void Step::DropRows(size_t op, Drops what, const Block& block) const {
  if (drops_[op] != what || options_.dropout == 0) return;
  const Dropout dropout = {options_.dropout, options_.seed, options_.number, options_.part};
  workers().ForPieces(block.rows, 1, 8 * block.cols, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      dropout.Apply(static_cast<uint32_t>(op), static_cast<uint32_t>(r), block.row(r), block.cols);
    }
  });
}

Step::DroppedOperand* Step::OperandOf(size_t op) {
  if (drops_[op] != Drops::kOperand || options_.dropout == 0) return nullptr;
  const auto is_its = [op](const DroppedOperand& operand) { return operand.op == op; };
  return &*std::find_if(operands_.begin(), operands_.end(), is_its);
}

void Step::Fill(const DroppedOperand& operand) const {
  const Block x = value(operand.x);
  for (int64_t r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.cols, operand.values.row(r));
  DropRows(operand.op, Drops::kOperand, operand.values);
}

// Swaps the operand with its copy, and their gradients. The copy's gradient is initially zero.
void Step::Exchange(DroppedOperand& operand) {
  const auto x = static_cast<size_t>(operand.x.id);
  std::swap(values_[x], operand.values);
  if (!operand.gradient) return;
  std::swap(gradients_[x], operand.gradient);
  std::swap(started_[x], operand.started);
}

void Step::Return(DroppedOperand& operand) {
  if (!operand.gradient || operand.started == 0) return;
  DropRows(operand.op, Drops::kOperand, operand.gradient);
  const Block to = Accumulator(operand.x);
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* from = operand.gradient.row(r);
    std::transform(from, from + to.cols, to.row(r), to.row(r), [](float a, float b) { return a + b; });
  }
  operand.started = 0;
}

}  // namespace peruse::train
