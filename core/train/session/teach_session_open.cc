#include <algorithm>
#include <optional>

#include "core/api/sentence_modules_reader.h"
#include "core/train/recipes/generator.h"
#include "core/train/session/teach_session.h"

namespace peruse::train {
namespace {

SentenceHead HeadOf(const SentenceModules& modules) {
  const PoolingMode pooling = modules.pooling[0];
  return {.pick = pooling == PoolingMode::kMean  ? PooledHead::Pick::kMean
                  : pooling == PoolingMode::kCls ? PooledHead::Pick::kFirst
                                                 : PooledHead::Pick::kLast,
          .normalized = !modules.steps.empty()};
}

}  // namespace

Status TeachSession::OpenParts(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(request_, ReadTeachRequest(request));
  const auto config = files_.find("config.json");
  if (config == files_.end()) return Status(StatusCode::kNotFound, "the model has no config.json");
  config_json_ = config->second;
  std::string classifier;
  if (request_.head == Head::kSequenceClassification) PERUSE_RETURN_IF_ERROR(ReadSentence(&classifier));
  std::optional<SentenceHead> sentence;
  if (sentence_) sentence = HeadOf(*sentence_);
  PERUSE_ASSIGN_OR_RETURN(trainee_, Trainee::Create(config_json_, request_.head, request_.labels, sentence));
  trainee_->SetClassifierFile(std::move(classifier));
  PERUSE_RETURN_IF_ERROR(CheckTask());
  text::TokenizerFiles tokenizer_files;
  for (const auto& [name, bytes] : files_) {
    if (name.find('/') == std::string::npos) tokenizer_files.emplace(name, bytes);
  }
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, text::Tokenizer::Create(tokenizer_files));
  const ModelConfig& model = trainee_->config();
  if (tokenizer_->model_vocab_size() > model.vocab_size) {
    return Status(StatusCode::kShapeMismatch,
                  "the tokenizer gives ids up to " + std::to_string(tokenizer_->model_vocab_size() - 1) +
                      " and the model has embeddings for " + std::to_string(model.vocab_size) + " tokens only");
  }
  const std::vector<float>& weights = request_.options.class_weights;
  if (!weights.empty() && weights.size() != model.id2label.size()) {
    return InvalidArgument("option class_weights has " + std::to_string(weights.size()) + " numbers for " +
                           std::to_string(model.id2label.size()) + " labels");
  }
  if (request_.pretrains()) PERUSE_RETURN_IF_ERROR(OpenPretraining());
  const bool one_of_many = !request_.pretrains() && request_.head != Head::kQuestionAnswering &&
                           request_.problem == ProblemType::kSingleLabel;
  if (one_of_many && !request_.explains && model.id2label.size() < 2)
    return InvalidArgument("there must be at least two labels: add examples of another one");
  int64_t limit = model.max_tokens;
  const std::optional<int64_t> tokenizer_limit = tokenizer_->model_max_length();
  if (tokenizer_limit && *tokenizer_limit > 0) limit = std::min(limit, *tokenizer_limit);
  if (sentence_ && sentence_->max_seq_length) limit = std::min<int64_t>(limit, *sentence_->max_seq_length);
  max_tokens_ = limit;
  reader_ = ExampleReader::Create(*tokenizer_, request_, model.id2label, std::get_if<LabelledInput>(&model.label_input),
                                  static_cast<int32_t>(limit));
  return OkStatus();
}

Status TeachSession::CheckTask() const {
  const bool reads = trainee_->config().reads_labels(), zero_shot = request_.needs_labels;
  const bool has_gradients =
      request_.head == Head::kSequenceClassification || request_.head == Head::kQuestionAnswering;
  if (request_.explains && !has_gradients) {
    return Unsupported("gradients explain text classification and question answering, not " + request_.task);
  }
  if (reads && request_.explains) {
    return Unsupported("gradients of a model that reads labels with the text can't be attributed to words");
  }
  if (reads && !zero_shot)
    return InvalidArgument("the model reads labels with the text: it is taught as \"zero-shot-classification\"");
  if (zero_shot && !reads) {
    return Unsupported(
        "\"zero-shot-classification\" is taught to a GLiClass; a model of entailment is taught as "
        "\"text-classification\", with pairs");
  }
  if (zero_shot && request_.labels.empty())
    return InvalidArgument("zero-shot-classification needs the labels to teach");
  return OkStatus();
}

// Reads the modules of a sentence_transformers folder, to train on its text vectors. Supports one pooling, then optionally a normalisation
// and the classifier of an earlier training run, whose file of weights is moved to `classifier`. Only such a classifier can be explained.
Status TeachSession::ReadSentence(std::string* classifier) {
  const auto read = [this](const std::string& path) -> std::optional<std::string_view> {
    const auto file = files_.find(path);
    return file == files_.end() ? std::nullopt : std::optional<std::string_view>(file->second);
  };
  PERUSE_ASSIGN_OR_RETURN(sentence_, ReadSentenceModules(read));
  if (request_.explains && sentence_ && !sentence_->classifies) sentence_.reset();
  if (!sentence_) return OkStatus();
  std::vector<SentenceStep>& steps = sentence_->steps;
  if (sentence_->classifies) {
    const SentenceStep& last = steps.back();
    for (const char* name : {"/model.safetensors", "/pytorch_model.bin"}) {
      const auto file = files_.find(last.folder + name);
      if (file == files_.end() || !last.bias || last.residual) continue;
      *classifier = std::move(file->second);
      break;
    }
    steps.pop_back();
  }
  const auto cannot = [](const std::string& what) {
    return Unsupported("modules.json: " + what +
                       ", on which a classifier cannot be taught yet; without modules.json the model's own head is");
  };
  if (sentence_->query) return cannot("it names a Router");
  if (sentence_->sparse) return cannot("it gives sparse vectors");
  if (sentence_->multi_vector) return cannot("it gives a matrix for each text");
  const bool known = sentence_->pooling.size() == 1 &&
                     (sentence_->pooling[0] == PoolingMode::kMean || sentence_->pooling[0] == PoolingMode::kCls ||
                      sentence_->pooling[0] == PoolingMode::kLastToken);
  if (!known) return cannot("its pooling is neither mean nor cls nor lasttoken");
  for (const SentenceStep& step : steps) {
    if (step.kind == SentenceStep::Kind::kDense) return cannot("it names a Dense");
  }
  if (sentence_->do_lower_case) return cannot("its texts are lower-cased (do_lower_case)");
  if (sentence_->default_prompt) return cannot("its texts have a prompt (default_prompt_name)");
  if (request_.options.method == Method::kLora) {
    return Unsupported(
        "method \"lora\" on a folder of sentence-transformers: an adapter has no place for its classifier");
  }
  return OkStatus();
}

// Sets the published recipes for masking: BERT's for masked tokens; ELECTRA's generator does not use random tokens, and DeBERTa's masks all
// chosen tokens.
Status TeachSession::OpenPretraining() {
  TeachOptions& options = request_.options;
  options.masking.mask_id = tokenizer_->mask_id();
  options.masking.vocabulary = tokenizer_->model_vocab_size();
  if (options.masking.mask_id < 0) return Unsupported("the tokenizer has no mask token, which pre-training needs");
  if (request_.head == Head::kMaskedLm) return OkStatus();
  const ModelConfig& model = trainee_->config();
  options.disentangled = trainee_->family().pretraining().disentangled;
  options.masking.masked = options.disentangled ? 1 : 0.85f;
  options.masking.random = 0;
  if (options.detection_weight == 0) options.detection_weight = options.disentangled ? 10 : 50;
  const auto config = files_.find(std::string(kGeneratorFolder) + "config.json");
  generator_comes_ = config != files_.end();
  generator_json_ = generator_comes_ ? config->second : GeneratorConfig(config_json_, trainee_->family(), model);
  Result<std::unique_ptr<Trainee>> generator = Trainee::Create(generator_json_, Head::kMaskedLm, {});
  if (!generator.ok()) return Status(generator.status().code(), "the generator: " + generator.status().message());
  generator_ = std::move(*generator);
  if (generator_->config().vocab_size != model.vocab_size) {
    return Status(StatusCode::kShapeMismatch, "the generator knows " + std::to_string(generator_->config().vocab_size) +
                                                  " tokens and the model " + std::to_string(model.vocab_size));
  }
  return generator_comes_ ? OkStatus() : generator_->BeginFresh();
}

}  // namespace peruse::train
