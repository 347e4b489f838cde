#include "core/models/deberta.h"

#include <cmath>

#include "core/models/layer_loop.h"

namespace peruse {
namespace {

// Items of pos_att_type that enlarge the scale, plus the content term (spec: B2, C2). v1 counts unknown items too.
int32_t ScaleFactor(const ModelConfig& config) {
  const DebertaConfig& deberta = config.deberta;
  if (config.architecture == Architecture::kDeberta) return 1 + deberta.pos_att_types;
  return 1 + (deberta.content_to_position ? 1 : 0) + (deberta.position_to_content ? 1 : 0);
}

}  // namespace

DebertaEncoder::DebertaEncoder(const ModelConfig& config, bool enhanced_mask_decoder)
    : config_(config),
      enhanced_mask_decoder_(enhanced_mask_decoder),
      slots_(config),
      layers_(static_cast<size_t>(config.num_hidden_layers)) {}

// ---- Loading --------------------------------------------------------------------------------------------------------

void DebertaEncoder::Declare(Binder& binder) {
  const int32_t hidden = config_.hidden_size;
  const DebertaConfig& deberta = config_.deberta;
  if (has_relative()) {
    binder.Constant("encoder.rel_embeddings.weight", 2 * RelativeTableSpan(config_), hidden, &relative_table_);
    if (deberta.norm_rel_ebd) binder.LayerNorm("encoder.LayerNorm", hidden, config_.layer_norm_eps, &relative_norm_);
  }
  if (has_convolution()) {
    binder.Conv1d("encoder.conv.conv", hidden, hidden, deberta.conv_groups, deberta.conv_kernel_size, &convolution_);
    binder.LayerNorm("encoder.conv.LayerNorm", hidden, config_.layer_norm_eps, &convolution_norm_);
  }
  if (enhanced_mask_decoder_) {
    binder.Constant("embeddings.position_embeddings.weight", config_.max_position_embeddings, hidden, &positions_);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    Layer& layer = layers_[i];
    DeclareProjections(binder, name + "attention.self.", layer);
    binder.Linear(name + "attention.output.dense", hidden, hidden, &layer.attention_output);
    binder.LayerNorm(name + "attention.output.LayerNorm", hidden, config_.layer_norm_eps, &layer.attention_norm);
    layer.feed_forward.Declare(binder, name, config_, 1);
  }
}

void DebertaEncoder::DeclareProjections(Binder& binder, const std::string& self, Layer& layer) {
  const int32_t hidden = config_.hidden_size;
  Binder::LinearStack stack = binder.Stack(hidden, &layer.query_key_value);
  if (is_v1()) {
    // One matrix, its rows ordered by head, then query, key, value; the key has no bias.
    stack.AddInterleaved(self + "in_proj.weight", config_.num_attention_heads, 3, config_.deberta.head_dim)
        .AddBias(self + "q_bias", {hidden}, 0, hidden)
        .AddBias(self + "v_bias", {hidden}, 2 * hidden, hidden);
  } else {
    stack.Add(self + "query_proj", hidden).Add(self + "key_proj", hidden).Add(self + "value_proj", hidden);
  }
  if (has_relative() && !shares_projection()) DeclarePositionProjection(binder, self, layer);
}

// position_projection: key rows with c2p, then query rows with p2c. Its results are constants, so in float32.
void DebertaEncoder::DeclarePositionProjection(Binder& binder, const std::string& self, Layer& layer) {
  const int32_t hidden = config_.hidden_size;
  Binder::LinearStack stack = binder.Stack(hidden, 1, Precision::kF32, &layer.position_projection);
  if (has_c2p() && is_v1()) stack.AddWeight(self + "pos_proj.weight", {hidden, hidden}, hidden);
  if (has_c2p() && !is_v1()) stack.Add(self + "pos_key_proj", hidden);
  if (has_p2c()) stack.Add(self + (is_v1() ? "pos_q_proj" : "pos_query_proj"), hidden);
}

Status DebertaEncoder::Fold(Backend& backend) {
  if (!has_relative()) return OkStatus();
  const int32_t slots = relative_table_.rows;
  for (Layer& layer : layers_) {
    if (has_c2p()) {
      PERUSE_ASSIGN_OR_RETURN(layer.position_key, backend.CreateConstant(slots, config_.hidden_size));
    }
    if (has_p2c()) {
      PERUSE_ASSIGN_OR_RETURN(layer.position_query, backend.CreateConstant(slots, config_.hidden_size));
    }
  }
  backend.BeginRun();
  {
    Scope scope(backend);
    Tensor table = relative_table_;
    if (config_.deberta.norm_rel_ebd) {
      table = backend.New(slots, config_.hidden_size);
      backend.LayerNorm(relative_table_, relative_norm_, table);
    }
    for (const Layer& layer : layers_) FoldLayer(backend, table, layer);
  }
  PERUSE_RETURN_IF_ERROR(backend.Submit());
  for (Layer& layer : layers_) {
    if (!layer.position_projection.valid()) continue;
    backend.FreeLinear(layer.position_projection);
    layer.position_projection = {};
  }
  return OkStatus();
}

// pos_key_layer and pos_query_layer of disentangled_attention_bias
void DebertaEncoder::FoldLayer(Backend& backend, Tensor table, const Layer& layer) {
  const int32_t hidden = config_.hidden_size;
  const Weight& projection = shares_projection() ? layer.query_key_value : layer.position_projection;
  Scope scope(backend);
  const Tensor projected = backend.New(table.rows, projection.out);
  backend.Linear(table, projection, Activation::kNone, projected);
  const int32_t key_column = shares_projection() ? hidden : 0;
  const int32_t query_column = shares_projection() || !has_c2p() ? 0 : hidden;
  if (has_c2p()) backend.Activate(projected.Columns(key_column, hidden), Activation::kNone, layer.position_key);
  if (has_p2c()) backend.Activate(projected.Columns(query_column, hidden), Activation::kNone, layer.position_query);
}

// ---- Running --------------------------------------------------------------------------------------------------------

// DisentangledSelfAttention and DebertaSelfOutput: out = norm(output(attention) + queries_from)   all [rows, hidden]
void DebertaEncoder::Attention(const Run& run, const Layer& layer, Tensor queries_from, Tensor keys_from, Kept kept,
                               Tensor out) {
  Backend& backend = run.backend;
  const int32_t rows = run.batch.rows();
  const int32_t hidden = config_.hidden_size;
  const int32_t heads = config_.num_attention_heads;
  Scope scope(backend);

  const Tensor projected = backend.New(rows, 3 * hidden);  // [query | key | value]
  backend.Linear(keys_from, layer.query_key_value, Activation::kNone, projected);
  Tensor query = projected.Columns(0, hidden);
  if (queries_from.buffer != keys_from.buffer) {
    const Tensor from_queries = backend.New(rows, 3 * hidden);
    backend.Linear(queries_from, layer.query_key_value, Activation::kNone, from_queries);
    query = from_queries.Columns(0, hidden);
  }

  const Tensor context = backend.New(rows, hidden);
  const Tensor probabilities = run.inspection.NewAttention(backend, run.batch, heads);
  const float scale = 1.0f / std::sqrt(static_cast<float>(config_.deberta.head_dim * ScaleFactor(config_)));
  const AttentionArgs args = {
      query, projected.Columns(hidden, hidden), projected.Columns(2 * hidden, hidden), heads, scale, probabilities};
  if (has_relative()) {
    const RelativePositions positions = {layer.position_key, layer.position_query, run.slots, run.batch.longest()};
    backend.DisentangledAttention(args, positions, run.batch, context);
  } else {
    backend.Attention(args, run.batch, context);
  }
  run.inspection.KeepAttention(backend, probabilities);
  const Tensor residual = KeepRows(backend, queries_from, kept);
  backend.LinearAddNorm(KeepRows(backend, context, kept), layer.attention_output, residual, layer.attention_norm, out);
}

// DebertaLayer
void DebertaEncoder::LayerForward(const Run& run, const Layer& layer, Tensor queries_from, Tensor keys_from, Kept kept,
                                  Tensor out) {
  Scope scope(run.backend);
  const Tensor attended = run.backend.New(out.rows, config_.hidden_size);
  Attention(run, layer, queries_from, keys_from, kept, attended);
  layer.feed_forward.Forward(run.backend, attended, config_.hidden_act, out);
}

// ConvLayer: out = norm(layer(x) + act(conv(x)))
void DebertaEncoder::FirstLayerWithConvolution(const Run& run, Tensor x, Kept kept, Tensor out) {
  Backend& backend = run.backend;
  const DebertaConfig& deberta = config_.deberta;
  Scope scope(backend);
  const Tensor layer_output = backend.New(out.rows, x.cols);
  LayerForward(run, layers_[0], x, x, kept, layer_output);
  const Tensor convolved = backend.New(x.rows, x.cols);
  backend.Conv1d(x, convolution_, deberta.conv_kernel_size, deberta.conv_act, run.batch, convolved);
  backend.AddNorm(layer_output, KeepRows(backend, convolved, kept), convolution_norm_, out);
}

// EnhancedMaskDecoder of the original code: the last layer, twice, with queries from the absolute positions.
void DebertaEncoder::MaskDecoder(const Run& run, Tensor hidden, Kept kept, Tensor out) {
  Backend& backend = run.backend;
  position_ids_.clear();
  position_ids_.reserve(static_cast<size_t>(run.batch.rows()));
  for (int32_t s = 0; s < run.batch.sequences(); ++s) {
    for (int32_t t = 0; t < run.batch.length(s); ++t) position_ids_.push_back(t);
  }
  Scope scope(backend);
  const Tensor positions = backend.New(hidden.rows, hidden.cols);
  backend.SelectRows(positions_, position_ids_, positions);
  const Tensor queries = backend.New(hidden.rows, hidden.cols);
  backend.Add(positions, hidden, queries);
  const Tensor once = backend.New(hidden.rows, hidden.cols);
  LayerForward(run, layers_.back(), queries, hidden, {}, once);
  LayerForward(run, layers_.back(), once, hidden, kept, out);
}

void DebertaEncoder::Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                             std::span<const int32_t> kept, Tensor out) {
  const Run run = {backend, batch, inspection,
                   has_relative() ? slots_.Get(batch.longest()) : std::span<const int32_t>()};
  const auto forward = [&](int32_t i, Tensor input, Kept rows, Tensor output) {
    if (i == 0 && has_convolution()) {
      FirstLayerWithConvolution(run, input, rows, output);
    } else if (i + 1 == config_.num_hidden_layers && enhanced_mask_decoder_) {
      MaskDecoder(run, input, rows, output);
    } else {
      LayerForward(run, layers_[static_cast<size_t>(i)], input, input, rows, output);
    }
  };
  RunLayers(backend, config_.num_hidden_layers, x, kept, out, inspection, forward);
}

}  // namespace peruse
