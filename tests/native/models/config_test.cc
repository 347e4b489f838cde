#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <vector>

#include "core/base/json.h"
#include "core/families/family.h"
#include "tests/native/models/config_parsing.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

TEST(ConfigTest, DefaultsOfEachFamily) {
  const ModelConfig convbert = Parse(Of("convbert", ""));
  EXPECT_EQ(convbert.vocab_size, 30522);
  EXPECT_EQ(convbert.embedding_size, 768);
  const Program mixed = EncoderOf(Of("convbert", ""));
  EXPECT_EQ(HeadsOf(mixed), std::pair(6, 64));
  EXPECT_EQ(All<ops::SpanConv>(mixed).at(0).kernel_size, 9);
  EXPECT_EQ(convbert.type_vocab_size, 2);
  EXPECT_EQ(convbert.max_tokens, 512);
  EXPECT_FLOAT_EQ(convbert.layer_norm_eps, 1e-12f);
  EXPECT_EQ(convbert.id2label, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));

  const ModelConfig v1 = Parse(Of("deberta", ""));
  EXPECT_EQ(v1.vocab_size, 50265);
  EXPECT_EQ(v1.type_vocab_size, 0);
  const Program plain = EncoderOf(Of("deberta", ""));
  EXPECT_FALSE(All<ops::Attention>(plain).at(0).slots.valid());
  EXPECT_EQ(plain.tables, 2);

  const ModelConfig v2 = Parse(Of("deberta-v2", ""));
  EXPECT_EQ(v2.hidden_size, 1536);
  EXPECT_EQ(v2.num_hidden_layers, 24);
  const Program encoder = EncoderOf(Of("deberta-v2", ""));
  EXPECT_EQ(HeadsOf(encoder), std::pair(24, 64));
  EXPECT_TRUE(All<ops::Conv1d>(encoder).empty());
  EXPECT_FLOAT_EQ(v2.layer_norm_eps, 1e-7f);

  const ModelConfig electra = Parse(Of("electra", ""));
  EXPECT_EQ(electra.hidden_size, 256);
  EXPECT_EQ(electra.embedding_size, 128);
  const auto summary = [](const std::string& fields) {
    const Result<ConfiguredFamily> read = ReadFamily(Of("electra", fields));
    return **read->family->MultipleChoice(read->config);
  };
  EXPECT_EQ(summary("").transform.dense, "sequence_summary.summary");
  EXPECT_EQ(summary("").transform.activation, Activation::kGelu);
  EXPECT_EQ(summary(R"("summary_activation":null)").transform.activation, Activation::kNone);

  EXPECT_EQ(Parse(Of("bert", R"("hidden_size":36)")).embedding_size, 36);
  EXPECT_EQ(HeadsOf(EncoderOf(Of("conv_bert", ""))), std::pair(6, 64));
}

TEST(ConfigTest, ConvBertHeadReduction) {
  const auto heads = [](const std::string& fields) { return HeadsOf(EncoderOf(Of("convbert", fields))); };
  EXPECT_EQ(heads(R"("hidden_size":384,"num_attention_heads":8)"), std::pair(4, 48));
  EXPECT_EQ(heads(R"("hidden_size":32,"num_attention_heads":4,"head_ratio":4)"), std::pair(1, 16));
  EXPECT_EQ(heads(R"("hidden_size":32,"num_attention_heads":4,"head_ratio":8)"), std::pair(1, 16));
  ExpectError(Of("convbert", R"("conv_kernel_size":4)"), StatusCode::kMalformedFile,
              "conv_kernel_size is 4; it must be odd");
  ExpectError(Of("convbert", R"("num_groups":5)"), StatusCode::kMalformedFile, "num_groups");
  ExpectError(Of("convbert", R"("hidden_size":30,"num_attention_heads":8)"), StatusCode::kMalformedFile,
              "hidden_size 30");
}

TEST(ConfigTest, ConvolutionWidthsByLayer) {
  const Program light = EncoderOf(Of("lightconv", R"("num_hidden_layers":2,"conv_kernel_size":5)"));
  for (const ops::DepthwiseConv& conv : All<ops::DepthwiseConv>(light)) EXPECT_EQ(light.info(conv.taps).rows.factor, 5);
  const Program dynamic = EncoderOf(Of("dynamicconv", R"("num_hidden_layers":2,"conv_kernel_size":[3,31])"));
  ASSERT_EQ(All<ops::SpanConv>(dynamic).size(), 2u);
  EXPECT_EQ(All<ops::SpanConv>(dynamic)[0].kernel_size, 3);
  EXPECT_EQ(All<ops::SpanConv>(dynamic)[1].kernel_size, 31);
  for (const char* sizes : {"4", "[3]", "[3,5,7]", "[3,4]", "[3,\"5\"]", "[3,-1]", "[3,99999999999]", "{}"}) {
    ExpectError(Of("lightconv", R"("num_hidden_layers":2,"conv_kernel_size":)" + std::string(sizes)),
                StatusCode::kMalformedFile, "conv_kernel_size");
  }
}

TEST(ConfigTest, PosAttTypeInEverySpelling) {
  // Content-to-position, position-to-content, and the number of further terms in the scale.
  const auto terms = [](const std::string& value) {
    const ops::Attention attention =
        All<ops::Attention>(EncoderOf(Of("deberta", "\"relative_attention\":true,\"pos_att_type\":" + value))).at(0);
    const float kinds = 1 / (attention.scale * attention.scale * 64) - 1;
    return std::tuple(attention.position_key.valid(), attention.position_query.valid(),
                      static_cast<int>(std::lround(kinds)));
  };
  EXPECT_EQ(terms(R"("c2p|p2c")"), std::tuple(true, true, 2));
  EXPECT_EQ(terms(R"(" P2C | c2p ")"), std::tuple(true, true, 2));
  EXPECT_EQ(terms(R"(["c2p"])"), std::tuple(true, false, 1));
  EXPECT_EQ(terms(R"("none")"), std::tuple(false, false, 1));
  EXPECT_EQ(terms("null"), std::tuple(false, false, 0));
  ExpectError(Of("deberta", R"("pos_att_type":3)"), StatusCode::kMalformedFile, "pos_att_type");
  ExpectError(Of("deberta", R"("pos_att_type":[3])"), StatusCode::kMalformedFile, "pos_att_type");
  std::string endless = R"("c2p)";
  for (int i = 0; i < 100000; ++i) endless += "|p2c";
  EXPECT_EQ(std::get<2>(terms(endless + "\"")), 100001);
  const auto norms = [](const std::string& fields) {
    const std::string relative = R"("num_hidden_layers":1,"relative_attention":true,"pos_att_type":"c2p")";
    return All<ops::LayerNorm>(EncoderOf(Of("deberta-v2", relative + fields))).size();
  };
  EXPECT_EQ(norms(R"(,"norm_rel_ebd":"None | Layer_Norm")"), norms("") + 1);
}

TEST(ConfigTest, LengthIsBoundedOnlyWherePositionsAre) {
  const std::string relative = R"("relative_attention":true,"position_biased_input":false,"position_buckets":256)";
  EXPECT_EQ(Parse(Of("deberta-v2", relative)).max_tokens, ModelConfig::kUnlimited);
  EXPECT_EQ(Parse(Of("deberta-v2", R"("relative_attention":true)")).max_tokens, 512);
  // Fewer distances than buckets do not limit the length; if transformers would divide by zero, every text is rejected.
  EXPECT_EQ(Parse(Of("deberta-v2", relative + R"(,"max_position_embeddings":100)")).max_tokens,
            ModelConfig::kUnlimited);
  const std::string positions = relative + R"(,"pos_att_type":"c2p")";
  ExpectError(Of("deberta-v2", positions + R"(,"max_relative_positions":129)"), StatusCode::kUnsupported,
              "max_relative_positions 129");
}

using LabelIds = std::vector<std::pair<std::string, int32_t>>;

TEST(ConfigTest, LabelIds) {
  const std::string names = R"("id2label":{"0":"a","1":"b"},)";
  EXPECT_EQ(Parse(Of("bert", names + R"("label2id":{"B":1,"x":7,"A":0,"y":"0"})")).label2id,
            (LabelIds{{"B", 1}, {"A", 0}}));
  EXPECT_EQ(Parse(Of("bert", names + R"("label2id":{})")).label2id, (LabelIds{{"a", 0}, {"b", 1}}));
  // Without id2label transformers creates both mappings.
  EXPECT_EQ(Parse(Of("bert", R"("label2id":{"entailment":1})")).label2id, (LabelIds{{"LABEL_0", 0}, {"LABEL_1", 1}}));
}

TEST(ConfigTest, Labels) {
  const ModelConfig config = Parse(Of("bert", R"("num_labels":9,"id2label":{"1":"pos","0":"neg"})"));
  EXPECT_EQ(config.id2label, (std::vector<std::string>{"neg", "pos"}));
  EXPECT_EQ(config.label2id, (LabelIds{{"neg", 0}, {"pos", 1}}));
  EXPECT_EQ(Parse(Of("bert", R"("num_labels":3)")).num_labels(), 3);
  EXPECT_EQ(Parse(Of("bert", R"("problem_type":"multi_label_classification")")).problem_type, ProblemType::kMultiLabel);
  for (const char* labels : {R"({"0":"a","0":"b"})", R"({"x":"a"})", R"({" 0":"a"})", R"({"0":null})", R"({"0":true})",
                             R"(["a"])", R"({"0":1e20})", R"({"0":-1e-7})"}) {
    ExpectError(Of("bert", "\"id2label\":" + std::string(labels)), StatusCode::kMalformedFile, "id2label");
  }
  ExpectError(Of("bert", R"("problem_type":"poetry")"), StatusCode::kMalformedFile, "problem_type");
}

// As in transformers, the number of labels is the number of names, regardless of num_labels.
TEST(ConfigTest, ALabelWithoutANameIsCountedAndHasNone) {
  const ModelConfig gap = Parse(Of("bert", R"("num_labels":3,"id2label":{"0":"a","2":"c","1000":"d"})"));
  EXPECT_EQ(gap.id2label, (std::vector<std::string>{"a", "LABEL_1", "c"}));
  EXPECT_EQ(gap.label2id, (LabelIds{{"a", 0}, {"LABEL_1", 1}, {"c", 2}}));
  EXPECT_EQ(gap.nameless, (std::vector<int32_t>{1}));
  EXPECT_EQ(LabelName(gap, 2).value(), "c");
  EXPECT_EQ(LabelName(gap, 1).status().message(), "config.json: id2label has no name for label 1");
  EXPECT_EQ(Parse(Of("bert", R"("id2label":{"1":"a","2":"b"})")).id2label, (std::vector<std::string>{"LABEL_0", "a"}));
  EXPECT_EQ(Parse(Of("bert", R"("id2label":{"-1":"a","0":"b"})")).id2label, (std::vector<std::string>{"b", "LABEL_1"}));
  EXPECT_EQ(Parse(Of("bert", R"("id2label":{},"num_labels":3)")).num_labels(), 0);
  EXPECT_EQ(Parse(Of("bert", R"("num_labels":3)")).nameless.size(), 0u);
}

// tests/reference/make_config_goldens.py writes configs.json.
TEST(ConfigTest, MeansWhatTheReferenceMakesOfIt) {
  const JsonDocument goldens = JsonDocument::Parse(testing::ReadFixture("configs.json")).value();
  EXPECT_GT(goldens.root().size(), 40u);
  for (const JsonValue golden : goldens.root()) {
    SCOPED_TRACE(golden.ToString());
    const std::string_view config = *golden.FindMember("config").GetString();
    const Result<ConfiguredFamily> read = ReadFamily(config);
    const bool has_choices = config.find("ForMultipleChoice") != std::string_view::npos;
    const bool ok = read.ok() && (!has_choices || read->family->MultipleChoice(read->config).ok());
    EXPECT_EQ(ok, !golden.FindMember("refused").exists());
    if (!ok) continue;
    if (const auto type = golden.FindMember("model_type").GetString()) EXPECT_EQ(read->config.model_type, *type);
    const JsonValue labels = golden.FindMember("labels");
    if (labels.exists()) EXPECT_EQ(read->config.id2label.size(), labels.size());
    for (size_t i = 0; i < labels.size(); ++i) {
      const Result<std::string_view> name = LabelName(read->config, i);
      EXPECT_EQ(name.ok(), labels[i].IsString());  // null makes transformers' pipeline raise KeyError
      if (name.ok()) EXPECT_EQ(*name, labels[i].GetString());
    }
  }
}

TEST(ConfigTest, OneFunctionHasSeveralNames) {
  for (const char* name : {"gelu_new", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_accurate"}) {
    EXPECT_EQ(Parse(Of("bert", "\"hidden_act\":\"" + std::string(name) + "\"")).hidden_act, Activation::kGeluTanh)
        << name;
  }
}

TEST(ConfigTest, WhatIsNotSupportedIsNamed) {
  ExpectError(Of("gpt2", ""), StatusCode::kUnsupported, "\"gpt2\"");
  ExpectError(Of("bert", R"("is_decoder":true)"), StatusCode::kUnsupported, "is_decoder");
  ExpectError(Of("bert", R"("is_causal":true)"), StatusCode::kUnsupported, "is_causal");
  ExpectError(Of("bert", R"("quantization_config":{"quant_method":"bitsandbytes"})"), StatusCode::kUnsupported,
              "\"bitsandbytes\"");
  ExpectError(Of("bert", R"("layer_norm_eps":"1e-12")"), StatusCode::kMalformedFile, "layer_norm_eps");
  ExpectError("{}", StatusCode::kMalformedFile, "no model_type");
  ExpectError(R"({"architectures":["BertGenerationEncoder"]})", StatusCode::kMalformedFile, "no model_type");
  ExpectError(Of("bert", R"("hidden_act":"swiglu")"), StatusCode::kUnsupported, "\"swiglu\"");
  ExpectError(Of("bert", R"("position_embedding_type":"rotary")"), StatusCode::kUnsupported, "\"rotary\"");
  ExpectError(Of("deberta", R"("talking_head":true)"), StatusCode::kUnsupported, "talking_head");
}

// Python writes NaN and Infinity. In a field that is not read they change nothing.
TEST(ConfigTest, NumbersThatAreNotFinite) {
  Parse(Of("bert", R"("router_jitter":NaN,"limits":[-Infinity,Infinity])"));
  for (const char* value : {"NaN", "Infinity", "-Infinity"}) {
    ExpectError(Of("bert", "\"layer_norm_eps\":" + std::string(value)), StatusCode::kMalformedFile, "layer_norm_eps");
    ExpectError(Of("bert", "\"hidden_size\":" + std::string(value)), StatusCode::kMalformedFile, "hidden_size");
  }
}

TEST(ConfigTest, NumbersOutOfRangeAreRefused) {
  for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                            "intermediate_size", "max_position_embeddings"}) {
    for (const char* value : {"0", "-1", "1.5", "\"8\"", "99999999999", "1e99", "[1]", "true"}) {
      ExpectError(Of("bert", "\"" + std::string(field) + "\":" + value), StatusCode::kMalformedFile, field);
    }
  }
  ExpectError(Of("bert", R"("layer_norm_eps":-1)"), StatusCode::kMalformedFile, "layer_norm_eps");
  ExpectError(Of("bert", R"("num_attention_heads":7)"), StatusCode::kMalformedFile, "num_attention_heads");
  ExpectError(Of("deberta-v2", R"("attention_head_size":65)"), StatusCode::kMalformedFile, "size 65");
  ExpectError(Of("deberta-v2", R"("conv_kernel_size":2)"), StatusCode::kMalformedFile, "conv_kernel_size");
  ExpectError(Of("deberta-v2", R"("conv_kernel_size":3,"conv_groups":7)"), StatusCode::kMalformedFile, "conv_groups");
}

TEST(ConfigTest, FieldsOfAnotherKindAreRefused) {
  ExpectError(Of("bert", R"("is_decoder":"no")"), StatusCode::kMalformedFile, "is_decoder");
  ExpectError(Of("deberta-v2", R"("relative_attention":1)"), StatusCode::kMalformedFile,
              "relative_attention is 1; it must be true or false");
  ExpectError(Of("bert", R"("hidden_act":["gelu"])"), StatusCode::kMalformedFile, "name of an activation function");
  ExpectError(Of("bert", R"("problem_type":1)"), StatusCode::kMalformedFile, "problem_type");
  ExpectError(Of("bert", R"("id2label":["a"])"), StatusCode::kMalformedFile, "id2label");
}

TEST(ConfigTest, FieldsThatContradictEachOtherAreRefused) {
  ExpectError(Of("roberta", R"("pad_token_id":9,"max_position_embeddings":10)"), StatusCode::kMalformedFile,
              "no position after pad_token_id 9");
  ExpectError(Of("mpnet", R"("max_position_embeddings":2)"), StatusCode::kMalformedFile,
              "no position after the padding token");
  ExpectError(Of("deberta-v2", R"("pooler_hidden_size":64)"), StatusCode::kMalformedFile,
              "pooler_hidden_size is 64; it must equal hidden_size 1536");
  std::string names = "\"id2label\":{\"0\":\"a\"";
  for (int i = 1; i <= 100000; ++i) names += ",\"" + std::to_string(i) + "\":\"a\"";
  ExpectError(Of("bert", names + "}"), StatusCode::kMalformedFile, "more than");
}

TEST(ConfigTest, ModernBertsOptionsThatPeruseLacksAreRefused) {
  for (const auto& [fields, what] : {
           std::pair{R"("classifier_pooling":"max")", "classifier_pooling"},
           {R"("layer_types":["full_attention","chunked_attention"],"num_hidden_layers":2)", "layer_types"},
           {R"("rope_scaling":{"rope_type":"yarn"})", "rope_scaling"},
           {R"("rope_scaling":{"rope_type":"default","rope_theta":10})", "rope_scaling"},
           {R"("rope_parameters":{"full_attention":{"rope_type":"longrope","rope_theta":10000}})", "rope_type"},
           {R"("head_dim":32)", "head_dim"},
       }) {
    ExpectError(Of("modernbert", fields), StatusCode::kUnsupported, what);
  }
  for (const auto& [fields, what] : {
           std::pair{R"("layer_types":["full_attention"])", "layer_types"},
           {R"("rope_parameters":{"rope_type":"default"})", "rope_parameters"},
           {R"("num_attention_heads":256)", "heads of odd width"},
           {R"("local_attention":-1)", "local_attention"},
       }) {
    ExpectError(Of("modernbert", fields), StatusCode::kMalformedFile, what);
  }
}

TEST(ConfigTest, AlbertsDefaultsAndOptionsThatPeruseLacks) {
  const ModelConfig config = Parse(Of("albert", ""));
  EXPECT_EQ(config.hidden_size, 4096);
  EXPECT_EQ(config.embedding_size, 128);
  EXPECT_EQ(config.hidden_act, Activation::kGeluTanh);
  ExpectError(Of("albert", R"("inner_group_num":2)"), StatusCode::kUnsupported, "inner_group_num");
  ExpectError(Of("albert", R"("position_embedding_type":"relative_key")"), StatusCode::kUnsupported,
              "position_embedding_type");
  ExpectError(Of("albert", R"("num_hidden_groups":13)"), StatusCode::kMalformedFile, "num_hidden_groups");
}

TEST(ConfigTest, NomicBertsOptionsThatPeruseLacksAreRefused) {
  const auto with = [](const std::string& activation_and_more) {
    return Of("nomic_bert", R"("n_embd":768,"rotary_emb_fraction":1.0,"activation_function":)" + activation_and_more);
  };
  const ModelConfig config = Parse(with(R"("swiglu","n_inner":3000,"vocab_size":30522,"pad_vocab_size_multiple":64)"));
  EXPECT_EQ(config.intermediate_size, 3072);
  EXPECT_EQ(config.vocab_size, 30528);
  EXPECT_EQ(config.max_tokens, ModelConfig::kUnlimited);
  EXPECT_EQ(Parse(with(R"("swiglu")")).intermediate_size, 2048);
  EXPECT_EQ(Parse(with(R"("swiglu","rotary_scaling_factor":2)")).max_tokens, 2048);
  EXPECT_EQ(Parse(with(R"("gelu")")).intermediate_size, 3072);
  EXPECT_EQ(Parse(with(R"("gelu","n_inner":1000)")).intermediate_size, 1000);
  const std::string mixture = R"("gelu","moe_every_n_layers":2,"num_experts":8,"moe_top_k":)";
  Parse(with(mixture + "2"));
  for (const auto& [fields, what] : {
           std::pair{std::string(R"("swiglu","prenorm":true)"), "prenorm"},
           {R"("swiglu","parallel_block":true)", "parallel_block"},
           {R"("swiglu","rotary_emb_interleaved":true)", "rotary_emb_interleaved"},
           {R"("swiglu","rotary_emb_scale_base":512)", "rotary_emb_scale_base"},
           {R"("swiglu","use_rms_norm":true)", "use_rms_norm"},
           {R"("swiglu","causal":true)", "causal"},
           {R"("swiglu","num_heads_kv":3)", "num_heads_kv"},
           {R"("swiglu","moe_every_n_layers":2)", "activation_function"},
           {R"("gelu_new")", "activation_function"},
           {mixture + "9", "moe_top_k"},
           {mixture + R"(2,"n_inner":1000)", "n_inner"},
           {mixture + R"(2,"num_shared_experts":1)", "num_shared_experts"},
           {mixture + R"(2,"ffn_div":2)", "ffn_div"},
           {mixture + R"(2,"moe_normalize_expert_weights":true)", "moe_normalize_expert_weights"},
           {mixture + R"(2,"expert_choice_router":true)", "expert_choice_router"},
       }) {
    ExpectError(with(fields), StatusCode::kUnsupported, what);
  }
  ExpectError(Of("nomic_bert", R"("n_embd":768,"activation_function":"swiglu")"), StatusCode::kUnsupported,
              "rotary_emb_fraction");
  ExpectError(Of("nomic_bert", R"("rope_parameters":{"rope_type":"longrope","factor":2})"), StatusCode::kUnsupported,
              "rope_type");
}

// Compared with NomicBertModel and ModernBertModel of transformers 5.16.1.
TEST(ConfigTest, OlderNamesOfRotaryPositions) {
  const auto angles = [](const std::string& type, const std::string& fields) {
    return All<ops::RotaryAngles>(EncoderOf(Of(type, fields))).at(0);
  };
  const ops::RotaryAngles linear = angles("nomic_bert", R"("rope_scaling":{"type":"linear","factor":2.0})");
  EXPECT_EQ(linear.scaling.factor, 2);
  EXPECT_EQ(linear.theta, 1000);
  const ops::RotaryAngles both = angles(
      "nomic_bert",
      R"("rope_scaling":{"rope_type":"linear","factor":4},"rope_parameters":{"rope_theta":5,"rope_type":"default"})");
  EXPECT_EQ(both.scaling.factor, 4);
  EXPECT_EQ(both.theta, 1000);
  ExpectError(Of("nomic_bert", R"("rope_scaling":{"rope_type":"longrope"})"), StatusCode::kUnsupported, "rope_type");
  for (const char* fields : {R"("rope_theta":5)", R"("rope_scaling":{"rope_type":"default"})",
                             R"("rope_scaling":{"type":"default"})", R"("rope_scaling":null)"}) {
    EXPECT_EQ(angles("modernbert", fields).theta, 160000) << fields;
  }
}

TEST(ConfigTest, GtesOptionsThatPeruseLacksAreRefused) {
  for (const char* type : {"new", "gte"}) {
    for (const auto& [fields, what] : {
             std::pair{R"("position_embedding_type":"absolute")", "position_embedding_type"},
             {R"("layer_norm_type":"rms_norm")", "layer_norm_type"},
             {R"("logn_attention_scale":true)", "logn_attention_scale"},
             {R"("rope_scaling":{"type":"ntk","factor":8,"mixed_b":0.6})", "mixed_b"},
             {R"("rope_scaling":{"type":"longrope","factor":8})", "rope_type"},
         }) {
      ExpectError(Of(type, fields), StatusCode::kUnsupported, what);
    }
    ExpectError(Of(type, R"("num_attention_heads":256)"), StatusCode::kMalformedFile, "heads of odd width");
  }
}

TEST(ConfigTest, FamiliesThatPeruseLacksAreRefusedWithAReasonAndAnAlternative) {
  for (const auto& [type, reason] : {
           std::pair{"ultrabert", "RMS norms, and heads that share keys and values; use a ModernBERT"},
           {"neobert", "rotates neighbouring columns; use a ModernBERT"},
           {"t5", "an encoder with a decoder, with RMS norms; use a DeBERTa"},
           {"mt5", "use an mDeBERTa"},
           {"umt5", "use an mDeBERTa"},
           {"qwen2", "causal language model"},
           {"gpt2", "use an encoder"},
           {"longformer", "; these are: convbert, deberta"},
       }) {
    ExpectError(Of(type, ""), StatusCode::kUnsupported, reason);
    ExpectError(Of(type, ""), StatusCode::kUnsupported, std::string("model_type \"") + type + "\" is not supported");
  }
  ExpectError(Of("smollm3", R"("architectures":["SmolLM3ForCausalLM"])"), StatusCode::kUnsupported,
              "causal language model");
}

// Jina v3 has the type of another family.
TEST(ConfigTest, JinaV3sTasks) {
  const std::string rotary = R"("position_embedding_type":"rotary","lora_adaptations":["separation","text-matching"])";
  EXPECT_EQ(Parse(Of("xlm-roberta", rotary)).model_type, "jina_embeddings_v3");
  EXPECT_EQ(Parse(Of("xlm-roberta", rotary + R"(,"lora_task":"separation")")).lora_task, "separation");
  ExpectError(Of("xlm-roberta", rotary + R"(,"lora_task":"x")"), StatusCode::kInvalidArgument,
              "option lora_task is \"x\", and the model's tasks are separation, text-matching");
  ExpectError(Of("jina_embeddings_v3", R"("lora_task":"x")"), StatusCode::kInvalidArgument,
              "the model's tasks are none");
  ExpectError(Of("bert", R"("lora_task":"x")"), StatusCode::kInvalidArgument, "models with adapters for tasks");
  const std::string flash = R"("auto_map":{"AutoModel":"jinaai/xlm-roberta-flash-implementation--modeling.Model"})";
  EXPECT_EQ(Parse(Of("xlm-roberta", flash)).model_type, "jina_embeddings_v3");
  EXPECT_EQ(Parse(Of("xlm-roberta-flash", R"("max_position_embeddings":20)")).max_tokens, 18);
  EXPECT_EQ(Parse(Of("xlm-roberta", R"("position_embedding_type":"absolute")")).model_type, "xlm-roberta");
  ExpectError(Of("xlm-roberta-flash", R"("position_embedding_type":"alibi")"), StatusCode::kUnsupported,
              "position_embedding_type \"alibi\"");
}

// Jina's BERT calls itself a BERT; its biases of attention tell them apart.
TEST(ConfigTest, LinearBiasesAreJinas) {
  const std::string alibi = R"("position_embedding_type":"alibi")";
  const std::string gated = alibi + R"(,"feed_forward_type":"geglu")";
  EXPECT_EQ(Parse(Of("bert", gated)).model_type, "jina_bert");
  EXPECT_EQ(Parse(Of("bert", gated + R"(,"max_position_embeddings":8192)")).max_tokens, 8192);
  const auto linears = [](const std::string& fields) { return EncoderOf(Of("bert", fields)).linears; };
  EXPECT_TRUE(linears(alibi) ==
              linears(alibi + R"(,"feed_forward_type":"original")"));  // the default of JinaBertConfig
  EXPECT_FALSE(linears(alibi) == linears(gated));
  ExpectError(Of("bert", alibi + R"(,"feed_forward_type":"swiglu")"), StatusCode::kUnsupported,
              "feed_forward_type \"swiglu\"");
  ExpectError(Of("bert", gated + R"(,"max_position_embeddings":1000000,"num_attention_heads":64)"),
              StatusCode::kMalformedFile, "max_position_embeddings");
  const std::string norms =
      R"(,"auto_map":{"AutoModel":"jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"})";
  EXPECT_EQ(All<ops::LayerNorm>(EncoderOf(Of("bert", gated))).size(), 25u);
  EXPECT_EQ(All<ops::LayerNorm>(EncoderOf(Of("bert", gated + norms))).size(), 61u);
  ExpectError(Of("bert", alibi + norms + R"(,"feed_forward_type":"original")"), StatusCode::kUnsupported,
              "feed_forward_type \"original\"");
}

TEST(ConfigTest, ProblemTypes) {
  for (const auto& [name, type] : {std::pair{"regression", ProblemType::kRegression},
                                   {"single_label_classification", ProblemType::kSingleLabel},
                                   {"multi_label_classification", ProblemType::kMultiLabel}}) {
    EXPECT_EQ(Parse(Of("bert", "\"problem_type\":\"" + std::string(name) + "\"")).problem_type, type) << name;
  }
}

TEST(ConfigTest, BadJson) {
  ExpectError("", StatusCode::kMalformedFile, "config.json");
  ExpectError("[]", StatusCode::kMalformedFile, "config.json");
  ExpectError(R"({"model_type":)", StatusCode::kMalformedFile, "config.json");
  ExpectError(R"({"model_type":3})", StatusCode::kMalformedFile, "model_type");
  ExpectError(std::string(100000, '['), StatusCode::kMalformedFile, "config.json");
}

}  // namespace
}  // namespace peruse::testing
