#include "core/families/add_head.h"

#include <optional>
#include <string>
#include <utility>

#include "core/families/class_names.h"

namespace peruse {

namespace {

constexpr Head kHeads[] = {
    Head::kNone,     Head::kSequenceClassification, Head::kTokenClassification,    Head::kQuestionAnswering,
    Head::kMaskedLm, Head::kMultipleChoice,         Head::kReplacedTokenDetection, Head::kEntities,
};

bool IsClassifier(Head head) {
  return head == Head::kSequenceClassification || head == Head::kTokenClassification || head == Head::kMultipleChoice;
}

}  // namespace

Status CheckClass(const Family& family, const ModelConfig& config) {
  if (!family.IsLanguageModel() || !config.architecture_class.ends_with("ForCausalLM")) return OkStatus();
  return Unsupported("config.json: a " + config.architecture_class + " without modules.json is not supported" +
                     WhyRefused({}, config.architecture_class));
}

Status CheckHead(Head head, const ModelConfig& config) {
  if (head != Head::kNone && config.model_type == "static" && config.architecture_class.empty()) {
    return Status(StatusCode::kMissingHead,
                  "static embeddings have no head: use feature-extraction, or train a classifier with teach()");
  }
  const std::optional<Head> trained = ClassifierOfClass(config.architecture_class);
  if (!IsClassifier(head) || !trained || *trained == head) return OkStatus();
  return Status(StatusCode::kMissingHead, "the checkpoint has no head for " + std::string(HeadName(head)) +
                                              ": it is a " + config.architecture_class);
}

Status AddHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden) {
  const HeadSizes sizes = {config.hidden_size, config.embedding_size, config.vocab_size, config.layer_norm_eps};
  const bool labelled = head == Head::kSequenceClassification || head == Head::kTokenClassification;
  if (labelled && config.num_labels() < 1 && !family.Extraction()) {
    return MalformedFile("config.json: id2label or num_labels leaves no label; a classifier needs one at least");
  }
  const auto no_such_head = [&] {
    const std::string& name = config.architecture_class;
    return Unsupported("model_type \"" + config.model_type + "\" has no head for " + std::string(HeadName(head)) +
                       (name.empty() ? "" : ": it is a " + name));
  };
  b.BeginHead(HeadName(head));
  if (const std::optional<ExtractionHead> extraction = family.Extraction();
      extraction && (head == Head::kEntities || head == Head::kSequenceClassification)) {
    BuildHead(b, hidden, *extraction);
    return OkStatus();
  }
  switch (head) {
    case Head::kNone:
      b.Output(kLastHiddenState, hidden);
      break;
    case Head::kEntities: {
      const std::optional<EntityHead> entities = family.Entities();
      if (!entities) return no_such_head();
      BuildHead(b, hidden, *entities);
      break;
    }
    case Head::kSequenceClassification: {
      if (const std::optional<LabelHead> scores = family.LabelScores()) {
        BuildHead(b, hidden, *scores);
        break;
      }
      PooledHead classifier = family.SequenceClassifier(config);
      classifier.labels = config.num_labels();
      BuildHead(b, hidden, sizes, classifier);
      break;
    }
    case Head::kTokenClassification:
      BuildHead(b, hidden, sizes, family.TokenClassifier(config));
      break;
    case Head::kQuestionAnswering:
      BuildHead(b, hidden, sizes, family.SpanClassifier(config));
      break;
    case Head::kTokenVectors: {
      Stack projection = b.StackedF32(config.hidden_size);
      projection.AddWeight({"linear.weight"}, {config.token_vector, config.hidden_size}, config.token_vector);
      b.Output(kLogits, b.Linear(hidden, projection));
      break;
    }
    case Head::kMaskedLm:
    case Head::kVocabulary: {
      const MaskedLmHead predictions = family.MaskedLm(config);
      if (predictions.decoder.empty()) return no_such_head();
      if (head == Head::kMaskedLm) {
        BuildHead(b, hidden, sizes, predictions);
      } else {
        BuildVocabularyHead(b, hidden, sizes, predictions, config.sparse_pooling);
      }
      break;
    }
    case Head::kMultipleChoice: {
      PERUSE_ASSIGN_OR_RETURN(std::optional<PooledHead> choice, family.MultipleChoice(config));
      if (!choice) return no_such_head();
      choice->labels = 1;
      BuildHead(b, hidden, sizes, *choice);
      break;
    }
    case Head::kLogitScore: {
      const std::string decoder = family.LanguageHead(config);
      if (decoder.empty()) return no_such_head();
      for (const int32_t token : config.score_tokens) {
        if (token < config.vocab_size) continue;
        return InvalidArgument("the score is the logit of token " + std::to_string(token) + ", and the model has " +
                               std::to_string(config.vocab_size) + " tokens");
      }
      BuildHead(b, hidden, sizes, LogitScoreHead{decoder, config.score_tokens});
      break;
    }
    case Head::kReplacedTokenDetection: {
      const std::optional<DiscriminatorHead> discriminator = family.Discriminator(config);
      if (!discriminator) return no_such_head();
      BuildHead(b, hidden, sizes, *discriminator);
      break;
    }
  }
  return OkStatus();
}

std::vector<Parameters> ParametersOfHeads(const Family& family, const ModelConfig& config, Precision precision) {
  std::vector<Parameters> result;
  for (const Head head : kHeads) {
    Program program;
    Parameters parameters;
    Build b(program, parameters, precision);
    const Value hidden = family.Encode(b, config);
    if (AddHead(head, family, config, b, hidden).ok()) result.push_back(std::move(parameters));
  }
  return result;
}

Status AddTrainedHead(Head head, const Family& family, const ModelConfig& config, Build& b, Value hidden) {
  if (head != Head::kReplacedTokenDetection || family.Discriminator(config)) {
    return AddHead(head, family, config, b, hidden);
  }
  b.BeginHead(HeadName(head));
  BuildHead(b, hidden, {config.hidden_size, config.embedding_size, config.vocab_size, config.layer_norm_eps},
            DiscriminatorHead{.norm = "",
                              .dense = "discriminator_predictions.dense",
                              .classifier = "discriminator_predictions.dense_prediction",
                              .activation = config.hidden_act});
  return OkStatus();
}

}  // namespace peruse
