#include <gtest/gtest.h>

#include <cmath>

#include "core/api/sentence_modules_reader.h"
#include "core/tasks/pooling.h"

namespace peruse {
namespace {

using Files = std::map<std::string, std::string>;

Result<std::optional<SentenceModules>> Read(const Files& files) {
  return ReadSentenceModules([&files](const std::string& path) -> std::optional<std::string_view> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  });
}

SentenceModules ReadGood(const Files& files) {
  const Result<std::optional<SentenceModules>> modules = Read(files);
  EXPECT_TRUE(modules.ok()) << modules.status().message();
  if (!modules.ok() || !*modules) return {};
  return **modules;
}

void ExpectError(const Files& files, StatusCode code, const std::string& part) {
  const Status status = Read(files).status();
  EXPECT_EQ(StatusCodeName(status.code()), StatusCodeName(code)) << part << ": " << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

constexpr char kTwoModules[] = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";

TEST(SentenceModulesTest, WithoutModulesThereIsNothingToSay) {
  const auto modules = Read({{"config.json", "{}"}});
  ASSERT_TRUE(modules.ok());
  EXPECT_FALSE(modules->has_value());
}

TEST(SentenceModulesTest, TheFormBefore54) {
  const SentenceModules modules = ReadGood({
      {"modules.json", R"([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
        {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])"},
      {"sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": true})"},
      {"1_Pooling/config.json", R"({"word_embedding_dimension": 768, "pooling_mode_cls_token": false,
        "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true, "pooling_mode_mean_sqrt_len_tokens": false,
        "include_prompt": false})"},
      {"2_Dense/config.json", R"({"in_features": 768, "out_features": 512, "bias": false,
        "activation_function": "torch.nn.modules.linear.Identity"})"},
      {"config_sentence_transformers.json", R"({"prompts": {"query": "query: ", "passage": "passage: "},
        "default_prompt_name": "query", "similarity_fn_name": "dot"})"},
  });
  EXPECT_EQ(modules.model_folder, "");
  EXPECT_EQ(modules.pooling, (std::vector{PoolingMode::kMax, PoolingMode::kMean}));
  EXPECT_FALSE(modules.include_prompt);
  EXPECT_EQ(modules.max_seq_length, 256);
  EXPECT_TRUE(modules.do_lower_case);
  ASSERT_EQ(modules.steps.size(), 2u);
  EXPECT_EQ(modules.steps[0].kind, SentenceStep::Kind::kDense);
  EXPECT_EQ(modules.steps[0].folder, "2_Dense");
  EXPECT_EQ(modules.steps[0].in, 768);
  EXPECT_EQ(modules.steps[0].out, 512);
  EXPECT_FALSE(modules.steps[0].bias);
  EXPECT_EQ(modules.steps[0].activation, Activation::kNone);
  EXPECT_EQ(modules.steps[1].kind, SentenceStep::Kind::kNormalize);
  EXPECT_EQ(modules.prompts, (std::map<std::string, std::string>{{"passage", "passage: "}, {"query", "query: "}}));
  EXPECT_EQ(modules.default_prompt, "query");
  EXPECT_EQ(modules.similarity, "dot");
}

TEST(SentenceModulesTest, TheFormSince54) {
  Files files = {
      {"modules.json", R"([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling",
         "type": "sentence_transformers.sentence_transformer.modules.pooling.Pooling"}])"},
      {"sentence_bert_config.json",
       R"({"transformer_task": "feature-extraction", "module_output_name": "token_embeddings"})"},
      {"1_Pooling/config.json", R"({"embedding_dimension": 32, "pooling_mode": "lasttoken", "include_prompt": true})"},
      {"config_sentence_transformers.json",
       R"({"prompts": {"query": "", "document": ""}, "default_prompt_name": null})"},
  };
  SentenceModules modules = ReadGood(files);
  EXPECT_EQ(modules.pooling, (std::vector{PoolingMode::kLastToken}));
  EXPECT_TRUE(modules.include_prompt);
  EXPECT_FALSE(modules.max_seq_length.has_value());
  EXPECT_FALSE(modules.default_prompt.has_value());
  EXPECT_EQ(modules.prompts.size(), 2u);
  EXPECT_EQ(modules.similarity, "cosine");
  files["1_Pooling/config.json"] = R"({"pooling_mode": ["weightedmean", "cls", "mean_sqrt_len_tokens"]})";
  EXPECT_EQ(ReadGood(files).pooling,
            (std::vector{PoolingMode::kWeightedMean, PoolingMode::kCls, PoolingMode::kMeanSqrtLength}));
}

TEST(SentenceModulesTest, NoModeIsTheMean) {
  EXPECT_EQ(ReadGood({{"modules.json", kTwoModules}, {"1_Pooling/config.json", "{}"}}).pooling,
            (std::vector{PoolingMode::kMean}));
}

TEST(SentenceModulesTest, AModelInAFolderOfItsOwn) {
  const SentenceModules modules = ReadGood({
      {"modules.json", R"([
        {"idx": 0, "name": "0", "path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])"},
      {"0_Transformer/sentence_roberta_config.json", R"({"max_seq_length": 128})"},
      {"1_Pooling/config.json", R"({"pooling_mode_cls_token": true})"},
  });
  EXPECT_EQ(modules.model_folder, "0_Transformer");
  EXPECT_EQ(modules.max_seq_length, 128);
  EXPECT_EQ(modules.pooling, (std::vector{PoolingMode::kCls}));
}

TEST(SentenceModulesTest, WhatIsNotSupportedIsNamed) {
  const auto with = [](const std::string& third, const std::string& path = "2_X") {
    return Files{{"modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                   {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                   {"path": ")" + path +
                                      R"(", "type": "sentence_transformers.models.)" + third + "\"}]"},
                 {"1_Pooling/config.json", "{}"},
                 {"2_X/config.json", R"({"in_features": 2, "out_features": 2, "activation_function": "my.Own"})"}};
  };
  EXPECT_TRUE(Read(with("Dropout")).ok());
  ExpectError(with("LSTM"), StatusCode::kUnsupported, "sentence_transformers.models.LSTM");
  ExpectError(with("LayerNorm"), StatusCode::kUnsupported, "LayerNorm");
  ExpectError(with("Dense"), StatusCode::kUnsupported, "my.Own");
  ExpectError(with("Pooling"), StatusCode::kUnsupported, "another place");
  ExpectError(with("Transformer"), StatusCode::kUnsupported, "first module");
  for (const char* path : {"../x", "/etc", "a//b", ".hidden", "a/../b", "http://x", "a?b"}) {
    ExpectError(with("Dense", path), StatusCode::kMalformedFile, "not a plain folder");
  }
  ExpectError({{"modules.json", R"([{"path": "", "type": "sentence_transformers.models.CLIPModel"}])"}},
              StatusCode::kUnsupported, "CLIPModel");
  ExpectError({{"modules.json", kTwoModules}, {"1_Pooling/config.json", R"({"pooling_mode": "attention"})"}},
              StatusCode::kUnsupported, "\"attention\"");
  ExpectError({{"modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                {"path": "1_Pooling", "type": "my_package.Pooling"}])"},
               {"1_Pooling/config.json", "{}"}},
              StatusCode::kUnsupported, "my_package.Pooling");
  Files other = with("Dense");
  other["2_X/config.json"] = R"({"in_features": 2, "out_features": 2, "module_output_name": "token_embeddings"})";
  ExpectError(other, StatusCode::kUnsupported, "the module_output_name \"token_embeddings\"");
  other = with("Normalize");
  other["2_X/config.json"] = R"({"module_input_name": "token_embeddings"})";
  ExpectError(other, StatusCode::kUnsupported, "the module_input_name \"token_embeddings\"");
  other["2_X/config.json"] = R"({"module_input_name": "sentence_embedding", "module_output_name": null})";
  EXPECT_TRUE(Read(other).ok());
}

Files WithTransformerSettings(const std::string& settings) {
  return {{"modules.json", kTwoModules}, {"1_Pooling/config.json", "{}"}, {"sentence_bert_config.json", settings}};
}

// A folder with an encoder, two poolings and a Router.
Files RoutedFiles(const std::string& query, const std::string& parameters) {
  return {{"modules.json", R"([{"path": "", "type": "sentence_transformers.base.modules.router.Router"},
                               {"path": "1_Normalize", "type": "sentence_transformers.models.Normalize"}])"},
          {"router_config.json", R"({"types": {"t": "sentence_transformers.models.Transformer",
             "u": "sentence_transformers.models.Transformer", "s": "sentence_transformers.models.SpladePooling",
             "p": "sentence_transformers.models.Pooling", "q": "sentence_transformers.models.Pooling",
             "m": "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask",
             "r": "sentence_transformers.models.Router"}, "structure": {"document": ["t", "p"], "query": )" +
                                     query + R"(}, "parameters": )" + parameters + "}"},
          {"p/config.json", R"({"pooling_mode": "mean"})"},
          {"q/config.json", R"({"pooling_mode": "cls"})"},
          {"s/config.json", "{}"},
          {"m/config.json", "{}"}};
}

TEST(SentenceModulesTest, RoutesAfterASharedEncoder) {
  const SentenceModules modules = ReadGood(RoutedFiles(R"(["t", "q"])", R"({"default_route": "query"})"));
  EXPECT_EQ(modules.model_folder, "t");
  EXPECT_EQ(modules.pooling, std::vector{PoolingMode::kMean});
  EXPECT_EQ(modules.steps.size(), 1u);
  ASSERT_NE(modules.query, nullptr);
  EXPECT_EQ(modules.query->pooling, std::vector{PoolingMode::kCls});
  EXPECT_EQ(modules.query->steps.size(), 1u);
  EXPECT_TRUE(modules.queries_by_default);
  EXPECT_FALSE(modules.needs_role);

  const SentenceModules alike = ReadGood(RoutedFiles(R"(["t", "p"])", R"({"allow_empty_key": false})"));
  EXPECT_EQ(alike.query, nullptr);
  EXPECT_FALSE(alike.queries_by_default);
  EXPECT_TRUE(alike.needs_role);
  EXPECT_FALSE(ReadGood(RoutedFiles(R"(["t", "p"])", R"({"allow_empty_key": true})")).needs_role);
}

TEST(SentenceModulesTest, RoutesThatDifferInMoreAreRefused) {
  const auto expect = [](const std::string& query, const std::string& part) {
    ExpectError(RoutedFiles(query, "{}"), StatusCode::kUnsupported, part);
  };
  expect(R"(["u", "q"])", "pass the load option route");
  expect(R"(["t", "m"])", "pass the load option route");
  expect(R"(["t", "s"])", "no module may follow a SpladePooling");
  expect(R"(["t", "q", "r"])", "Router is not supported");
  Files twice = RoutedFiles(R"(["t", "q"])", "{}");
  twice["modules.json"] = R"([{"path": "", "type": "sentence_transformers.models.Router"},
                              {"path": "", "type": "sentence_transformers.models.Router"}])";
  ExpectError(twice, StatusCode::kUnsupported, "a second Router is not supported");
}

// Seen with sentence-transformers 6.2.0: the length of a long text's input_ids.
TEST(SentenceModulesTest, TheLengthLimitOfTheReference) {
  const std::pair<const char*, int> cases[] = {
      {R"({"max_seq_length": 10, "processor_kwargs": {"model_max_length": 20}})", 20},
      {R"({"max_seq_length": 20, "tokenizer_args": {"model_max_length": 10}})", 10},
      {R"({"max_seq_length": 10, "processing_kwargs": {"text": {"max_length": 20}}})", 20},
      {R"({"max_seq_length": 20, "processing_kwargs": {"common": {"max_length": 10}}})", 10},
      {R"({"processing_kwargs": {"common": {"max_length": 10}, "text": {"max_length": 8}}})", 10},
  };
  for (const auto& [settings, limit] : cases) {
    EXPECT_EQ(ReadGood(WithTransformerSettings(settings)).max_seq_length, limit) << settings;
  }
  ExpectError(WithTransformerSettings(R"({"processing_kwargs": {"text": {"max_length": 0}}})"),
              StatusCode::kMalformedFile, "max_length 0");
}

TEST(SentenceModulesTest, SettingsThatChangeAResultAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"processing_kwargs": {"text": {"add_special_tokens": false}}})",
       "processing_kwargs.text.add_special_tokens"},
      {R"({"processing_kwargs": {"text": {"truncation": false}}})", "processing_kwargs.text.truncation"},
      {R"({"processing_kwargs": {"chat_template": {"x": 1}}})", "processing_kwargs.chat_template.x"},
      {R"({"processor_kwargs": {"do_lower_case": true}})", "processor_kwargs.do_lower_case"},
      {R"({"tokenizer_args": {"padding_side": "left"}})", "tokenizer_args.padding_side"},
      {R"({"config_kwargs": {"num_hidden_layers": 1}})", "config_kwargs.num_hidden_layers"},
      {R"({"config_args": {"rotary_scaling_factor": 2}})", "config_args.rotary_scaling_factor"},
      {R"({"model_args": {"revision": "x"}})", "model_args.revision"},
      {R"({"modality_config": {"text": {"method": "forward", "method_output_name": "pooler_output"}}})",
       "modality_config"},
      {R"({"modality_config": {"text": {"method": "get_text_features", "method_output_name": "last_hidden_state"}}})",
       "modality_config"},
      {R"({"modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"},
           "message": {"method": "forward", "method_output_name": "last_hidden_state"}}})",
       "modality_config"},
      {R"({"module_output_name": "scores"})", "module_output_name"},
      {R"({"transformer_task": "fill-mask"})", "transformer_task"},
      {R"({"query_length": 32})", "query_length"},
      {R"({"something": 1})", "something"},
  };
  for (const auto& [settings, name] : cases) {
    ExpectError(WithTransformerSettings(settings), StatusCode::kUnsupported, name);
  }
  ReadGood(WithTransformerSettings(R"({"unpad_inputs": false, "query_length": null, "processing_kwargs":
      {"text": {"padding": true, "truncation": "longest_first", "add_special_tokens": true}, "image": {}},
      "modality_config": {"text": {"method": "forward", "method_output_name": ["last_hidden_state"]}},
      "model_args": {"trust_remote_code": true, "torch_dtype": "float16"}, "config_args": {"trust_remote_code": true}})"));
}

TEST(SentenceModulesTest, ARankersOwnSettings) {
  const auto read = [](const std::string& settings) {
    return ReadRankingSettings([&settings](const std::string& path) -> std::optional<std::string_view> {
      if (path == "sentence_bert_config.json") return settings;
      if (path != "modules.json") return std::nullopt;
      return R"([{"path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}])";
    });
  };
  const Result<SentenceModules> good = read(R"({"transformer_task": "sequence-classification", "max_seq_length": 12,
      "module_output_name": "scores", "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}}})");
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(good->max_seq_length, 12);
  for (const char* settings : {R"({"transformer_task": "feature-extraction"})", R"({"do_lower_case": true})",
                               R"({"processing_kwargs": {"text": {"truncation": false}}})"}) {
    EXPECT_EQ(read(settings).status().code(), StatusCode::kUnsupported) << settings;
  }
}

TEST(SentenceModulesTest, SkippedWordsOfLateInteractionAreAList) {
  constexpr char kModules[] = R"([{"path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
      {"path": "1_Mask", "type": "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask"}])";
  const auto mask = [&](const std::string& config) -> Files {
    return {{"modules.json", kModules}, {"1_Mask/config.json", config}};
  };
  EXPECT_EQ(ReadGood(mask(R"({"skiplist_words": ["."], "skiplist_tasks": ["query"]})")).multi_vector->skipped_words,
            std::vector<std::string>{"."});
  EXPECT_EQ(ReadGood(mask("{}")).multi_vector->skipped_words, std::vector<std::string>());
  for (const char* words : {R"(".")", R"({".": true})", "[1]"}) {
    ExpectError(mask(R"({"skiplist_words": )" + std::string(words) + "}"), StatusCode::kMalformedFile,
                "1_Mask/config.json has a skiplist_words that is not a list of words");
  }
}

TEST(SentenceModulesTest, RankersByTheLogitsOfTokens) {
  Files files = {
      {"modules.json", R"([{"path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"},
      {"path": "1_LogitScore", "type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}])"}};
  const auto ranker = [&] {
    return ReadRankingSettings([&](const std::string& path) -> std::optional<std::string_view> {
      const auto file = files.find(path);
      return file == files.end() ? std::nullopt : std::optional<std::string_view>(file->second);
    });
  };
  const auto error = [&](const std::string& config) {
    files["1_LogitScore/config.json"] = config;
    return ranker().status().message();
  };
  EXPECT_EQ(ranker().status().message(), "modules.json names a LogitScore, and there is no 1_LogitScore/config.json");
  EXPECT_EQ(error(R"({"true_token_id": -1})"), "1_LogitScore/config.json has the impossible true_token_id -1");
  EXPECT_EQ(error(R"({"true_token_id": 1, "false_token_id": "no"})"),
            "1_LogitScore/config.json has the impossible false_token_id \"no\"");
  EXPECT_EQ(error(R"({"true_token_id": 1, "module_input_name": "x"})"),
            "1_LogitScore/config.json: the module_input_name \"x\" is not supported, only \"causal_logits\".");
  EXPECT_EQ(error(R"({"true_token_id": 1, "false_token_id": null})"), "");
  EXPECT_EQ(ranker()->logit_score->tokens(), std::vector{1});
  files["1_LogitScore/config.json"] = R"({"true_token_id": 1, "false_token_id": 2})";
  EXPECT_EQ(ranker()->logit_score->tokens(), (std::vector{1, 2}));
  EXPECT_EQ(ranker()->reads_messages, std::nullopt);
  const std::string text = R"("text": {"method": "forward", "method_output_name": "logits"})";
  for (const auto& [more, reads] : {std::pair{std::string(), false},
                                    {R"(, "message": {"method": "forward", "method_output_name": "logits"})", true}}) {
    files["sentence_bert_config.json"] = R"({"transformer_task": "text-generation", "modality_config": {)" + text +
                                         more + R"(}, "module_output_name": "causal_logits"})";
    ASSERT_TRUE(ranker().ok()) << ranker().status().message();
    EXPECT_EQ(ranker()->reads_messages, reads);
  }
  files["sentence_bert_config.json"] = R"({"transformer_task": "sequence-classification"})";
  EXPECT_EQ(ranker().status().code(), StatusCode::kUnsupported);
  ExpectError(files, StatusCode::kUnsupported, "the folder is a cross-encoder: use text-ranking");
}

TEST(SentenceModulesTest, ARankersSettingsCountOnlyBesideModules) {
  const std::string config = R"({"activation_fn": "torch.nn.modules.linear.Identity", "truncate_dim": 4,
                                 "prompts": {"query": "find: "}, "default_prompt_name": "query"})";
  const auto read = [&config](bool has_modules) {
    return [&config, has_modules](const std::string& path) -> std::optional<std::string_view> {
      if (path == "config_sentence_transformers.json") return config;
      return has_modules ? std::optional<std::string_view>("[]") : std::nullopt;
    };
  };
  const Result<SentenceModules> with = ReadRankingSettings(read(true)), without = ReadRankingSettings(read(false));
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->ranking_activation, "torch.nn.modules.linear.Identity");
  EXPECT_EQ(with->default_prompt, "query");
  EXPECT_EQ(with->truncate_dim, 4);
  EXPECT_EQ(without->ranking_activation, "");
  EXPECT_EQ(without->default_prompt, std::nullopt);
}

TEST(SentenceModulesTest, BrokenFilesAreNamed) {
  ExpectError({{"modules.json", "{}"}}, StatusCode::kMalformedFile, "modules.json");
  ExpectError({{"modules.json", "[]"}}, StatusCode::kMalformedFile, "modules.json");
  ExpectError({{"modules.json", "[1]"}}, StatusCode::kMalformedFile, "without a type");
  ExpectError({{"modules.json", kTwoModules}}, StatusCode::kMalformedFile, "1_Pooling/config.json");
  ExpectError({{"modules.json", kTwoModules}, {"1_Pooling/config.json", "[]"}}, StatusCode::kMalformedFile,
              "1_Pooling/config.json");
  ExpectError({{"modules.json", kTwoModules}, {"1_Pooling/config.json", R"({"pooling_mode": [1]})"}},
              StatusCode::kMalformedFile, "pooling_mode");
  ExpectError({{"modules.json", kTwoModules},
               {"1_Pooling/config.json", "{}"},
               {"sentence_bert_config.json", R"({"max_seq_length": 0})"}},
              StatusCode::kMalformedFile, "max_seq_length 0");
  ExpectError({{"modules.json", kTwoModules},
               {"1_Pooling/config.json", "{}"},
               {"config_sentence_transformers.json", R"({"prompts": {"a": 1}})"}},
              StatusCode::kMalformedFile, "prompt \"a\"");
  ExpectError({{"modules.json", kTwoModules},
               {"1_Pooling/config.json", "{}"},
               {"config_sentence_transformers.json", R"({"default_prompt_name": "query"})"}},
              StatusCode::kMalformedFile, "default_prompt_name \"query\"");
  ExpectError({{"modules.json", kTwoModules},
               {"1_Pooling/config.json", "{}"},
               {"config_sentence_transformers.json", R"({"truncate_dim": 0})"}},
              StatusCode::kMalformedFile, "truncate_dim 0");
}

TEST(PoolingTest, EveryMode) {
  const std::vector<float> tokens = {1, -2, 3, 4, 8, -6};  // three tokens of two
  const auto pool = [&tokens](PoolingMode mode) { return PoolTokens(std::vector{mode}, tokens, 2); };
  EXPECT_EQ(pool(PoolingMode::kCls), (std::vector<float>{1, -2}));
  EXPECT_EQ(pool(PoolingMode::kLastToken), (std::vector<float>{8, -6}));
  EXPECT_EQ(pool(PoolingMode::kMax), (std::vector<float>{8, 4}));
  EXPECT_EQ(pool(PoolingMode::kMean), (std::vector<float>{4, -4.0f / 3}));
  const auto root = static_cast<float>(std::sqrt(3.0));
  EXPECT_FLOAT_EQ(pool(PoolingMode::kMeanSqrtLength)[0], 12 / root);
  EXPECT_FLOAT_EQ(pool(PoolingMode::kMeanSqrtLength)[1], -4 / root);
  EXPECT_FLOAT_EQ(pool(PoolingMode::kWeightedMean)[0], (1 + 6 + 24) / 6.0f);
  EXPECT_FLOAT_EQ(pool(PoolingMode::kWeightedMean)[1], (-2 + 8 - 18) / 6.0f);
  EXPECT_EQ(PoolTokens(std::vector{PoolingMode::kMax, PoolingMode::kCls}, tokens, 2),
            (std::vector<float>{8, 4, 1, -2}));
}

TEST(PoolingTest, DenseAndNormalize) {
  const std::vector<float> x = {1, 2};
  const std::vector<float> weight = {1, 0, 0, -1, 1, 1};
  const std::vector<float> bias = {0, 0, 1};
  EXPECT_EQ(ApplyDense(x, weight, bias, Activation::kNone), (std::vector<float>{1, -2, 4}));
  EXPECT_EQ(ApplyDense(x, weight, {}, Activation::kRelu), (std::vector<float>{1, 0, 3}));
  EXPECT_FLOAT_EQ(ApplyDense(x, weight, bias, Activation::kTanh)[1], std::tanh(-2.0f));
  EXPECT_FLOAT_EQ(ApplyDense(x, weight, bias, Activation::kSigmoid)[0], 1 / (1 + std::exp(-1.0f)));
  EXPECT_FLOAT_EQ(ApplyDense(x, weight, bias, Activation::kGelu)[0], 0.84134474f);
  std::vector<float> vector = {3, 4};
  NormalizeVector(vector);
  EXPECT_EQ(vector, (std::vector<float>{0.6f, 0.8f}));
  std::vector<float> zero = {0, 0};
  NormalizeVector(zero);
  EXPECT_EQ(zero, (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace peruse
