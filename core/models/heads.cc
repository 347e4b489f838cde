#include "core/models/heads.h"

#include <utility>

namespace peruse {
namespace {

// One row for each sequence, then up to two linears.
//   ConvBertClassificationHead, ElectraClassificationHead   classifier.dense, classifier.out_proj
//   BertPooler, ContextPooler                               pooler.dense, classifier
//   *SequenceSummary                                        sequence_summary.summary, classifier
class PooledHead : public HeadLayer {
 public:
  struct Plan {
    SummaryConfig::Type pick = SummaryConfig::Type::kFirst;
    std::string dense;  // hidden -> dense_width; empty: none
    int32_t dense_width = 0;
    Activation activation = Activation::kNone;  // after the dense layer, or of the picked row
    std::string classifier;
    int32_t labels = 0;
  };

  PooledHead(const ModelConfig& config, Plan plan) : hidden_(config.hidden_size), plan_(std::move(plan)) {}

  void Declare(Binder& binder) override {
    if (!plan_.dense.empty()) binder.LinearF32(plan_.dense, hidden_, plan_.dense_width, &dense_);
    binder.LinearF32(plan_.classifier, hidden_, plan_.labels, &classifier_);
  }

  void RowsRead(const RaggedBatch& batch, std::vector<int32_t>* rows) const override {
    const bool last = plan_.pick == SummaryConfig::Type::kLast;
    rows->reserve(static_cast<size_t>(batch.sequences()));
    for (int32_t s = 0; s < batch.sequences(); ++s) {
      rows->push_back(batch.start(s) + (last ? batch.length(s) - 1 : 0));
    }
  }
  int32_t logit_cols() const override { return plan_.labels; }

  void Forward(Backend& backend, Tensor hidden, const RaggedBatch& batch, Tensor logits) override {
    Scope scope(backend);
    Tensor pooled = hidden;
    if (!plan_.dense.empty()) {
      const Tensor dense = backend.New(batch.sequences(), hidden_);
      backend.Linear(pooled, dense_, plan_.activation, dense);
      pooled = dense;
    } else if (plan_.activation != Activation::kNone) {
      const Tensor activated = backend.New(batch.sequences(), hidden_);
      backend.Activate(pooled, plan_.activation, activated);
      pooled = activated;
    }
    backend.Linear(pooled, classifier_, Activation::kNone, logits);
  }

 private:
  const int32_t hidden_;
  const Plan plan_;
  Weight dense_;
  Weight classifier_;
};

// One linear on every token: *ForTokenClassification, *ForQuestionAnswering.
class TokenHead : public HeadLayer {
 public:
  TokenHead(const ModelConfig& config, std::string name, int32_t labels)
      : hidden_(config.hidden_size), name_(std::move(name)), labels_(labels) {}

  void Declare(Binder& binder) override { binder.LinearF32(name_, hidden_, labels_, &classifier_); }
  int32_t logit_cols() const override { return labels_; }
  void Forward(Backend& backend, Tensor hidden, const RaggedBatch&, Tensor logits) override {
    backend.Linear(hidden, classifier_, Activation::kNone, logits);
  }

 private:
  const int32_t hidden_;
  const std::string name_;
  const int32_t labels_;
  Weight classifier_;
};

PooledHead::Plan SequenceClassificationPlan(const ModelConfig& config) {
  PooledHead::Plan plan;
  plan.dense_width = config.hidden_size;
  plan.labels = config.num_labels();
  switch (config.architecture) {
    case Architecture::kConvBert:
    case Architecture::kElectra:
    case Architecture::kLightConv:
    case Architecture::kDynamicConv:
      plan.dense = "classifier.dense";
      plan.classifier = "classifier.out_proj";
      // ElectraClassificationHead writes gelu where ConvBertClassificationHead asks the configuration.
      plan.activation = config.architecture == Architecture::kElectra ? Activation::kGelu : config.hidden_act;
      break;
    case Architecture::kBert:
      plan.dense = "pooler.dense";
      plan.classifier = "classifier";
      plan.activation = Activation::kTanh;
      break;
    case Architecture::kDeberta:
    case Architecture::kDebertaV2:
      plan.dense = "pooler.dense";
      plan.classifier = "classifier";
      plan.activation = config.deberta.pooler_hidden_act;
      break;
  }
  return plan;
}

Result<PooledHead::Plan> MultipleChoicePlan(const ModelConfig& config) {
  const bool summarises =
      config.architecture == Architecture::kConvBert || config.architecture == Architecture::kElectra;
  if (!summarises) {
    PooledHead::Plan plan = SequenceClassificationPlan(config);
    plan.labels = 1;
    return plan;
  }
  const SummaryConfig& summary = config.summary;
  if (summary.type == SummaryConfig::Type::kMean) {
    return Unsupported("config.json: summary_type \"mean\" is not supported");
  }
  if (summary.use_proj && summary.proj_to_labels && config.num_labels() > 0 &&
      config.num_labels() != config.hidden_size) {
    return Unsupported("config.json: summary_proj_to_labels leaves " + std::to_string(config.num_labels()) +
                       " columns where the classifier needs " + std::to_string(config.hidden_size));
  }
  PooledHead::Plan plan;
  plan.pick = summary.type;
  if (summary.use_proj) plan.dense = "sequence_summary.summary";
  plan.dense_width = config.hidden_size;
  plan.activation = summary.activation;
  plan.classifier = "classifier";
  plan.labels = 1;
  return plan;
}

Status NoSuchHead(Head head, const ModelConfig& config) {
  return Unsupported("model_type \"" + config.model_type + "\" has no head for " + std::string(HeadName(head)));
}

}  // namespace

Result<std::unique_ptr<HeadLayer>> CreateHead(Head head, const ModelConfig& config) {
  switch (head) {
    case Head::kNone:
      return std::unique_ptr<HeadLayer>();
    case Head::kSequenceClassification:
      if (config.num_labels() < 1) return MalformedFile("config.json: num_labels is 0; a classifier needs labels");
      return std::unique_ptr<HeadLayer>(std::make_unique<PooledHead>(config, SequenceClassificationPlan(config)));
    case Head::kTokenClassification:
      if (config.num_labels() < 1) return MalformedFile("config.json: num_labels is 0; a classifier needs labels");
      return std::unique_ptr<HeadLayer>(std::make_unique<TokenHead>(config, "classifier", config.num_labels()));
    case Head::kQuestionAnswering:
      return std::unique_ptr<HeadLayer>(std::make_unique<TokenHead>(config, "qa_outputs", 2));
    case Head::kMaskedLm:
      return CreateMaskedLmHead(config);
    case Head::kMultipleChoice: {
      if (config.architecture == Architecture::kDeberta || config.is_light_conv()) return NoSuchHead(head, config);
      PERUSE_ASSIGN_OR_RETURN(PooledHead::Plan plan, MultipleChoicePlan(config));
      return std::unique_ptr<HeadLayer>(std::make_unique<PooledHead>(config, std::move(plan)));
    }
    case Head::kReplacedTokenDetection:
      if (config.architecture != Architecture::kElectra && config.architecture != Architecture::kDebertaV2) {
        return NoSuchHead(head, config);
      }
      return CreateReplacedTokenHead(config);
  }
  return InternalError("unknown head");
}

}  // namespace peruse
