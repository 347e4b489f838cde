"""The list of tiny reference models. Each case: name, what it shows, classes, configuration, storage type.

Input lengths are chosen by `make_tiny_models.py`; `long` is the length of the longest text of the case.
"""

from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    about: str
    model: str  # class name in transformers
    config: dict
    dtype: str = "float16"  # storage type; half the size of float32 and no less of a test
    long: int = 34
    extra_head: str = ""  # a pre-training head without a class in transformers
    choices: int = 0  # multiple choice only
    transformers: int = 4  # major version whose class computes the case
    published: dict = field(default_factory=dict)  # fields of config.json as the hub's files have them, in place of the class's
    tags: list = field(default_factory=list)


SMALL = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 48}
CONVBERT = SMALL | {"embedding_size": 16, "max_position_embeddings": 64, "type_vocab_size": 2, "head_ratio": 2,
                    "conv_kernel_size": 9, "num_groups": 1, "pad_token_id": 0}
DEBERTA = SMALL | {"max_position_embeddings": 32, "type_vocab_size": 0, "relative_attention": True,
                   "position_biased_input": False, "pos_att_type": "p2c|c2p", "pad_token_id": 0}
V2 = DEBERTA | {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}
V1 = DEBERTA | {"pos_att_type": ["c2p", "p2c"]}
BERT = SMALL | {"max_position_embeddings": 64, "type_vocab_size": 2}
ELECTRA = BERT | {"embedding_size": 16}
LABELS = {"num_labels": 3}


def labels(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


def convbert_cases():
    def case(name, about, head="SequenceClassification", dtype="float16", **config):
        return Case(f"convbert-{name}", f"ConvBERT, {about}", f"ConvBertFor{head}", CONVBERT | config, dtype)

    yield case("sequence", "embedding projection, one group, kernel 9", **LABELS)
    yield case("sequence-f32", "the same kind stored as F32", dtype="float32", **LABELS)
    yield case("sequence-bf16", "the same kind stored as BF16", dtype="bfloat16", **LABELS)
    yield case("groups2", "two feed-forward groups, kernel 5", num_groups=2, conv_kernel_size=5, **LABELS)
    yield case("groups4", "four feed-forward groups", num_groups=4, **LABELS)
    yield case("no-projection", "embedding_size equal to hidden_size, kernel 3", embedding_size=32,
               conv_kernel_size=3, **LABELS)
    yield case("ratio4", "head_ratio 4: one wide head", head_ratio=4, **LABELS)
    yield case("ratio8", "head_ratio above the head count: one head", head_ratio=8, conv_kernel_size=5, **LABELS)
    yield case("heads6", "six nominal heads, D 48, GELU by tanh", hidden_size=48,
               num_attention_heads=6, intermediate_size=96, hidden_act="gelu_new",
               layer_norm_eps=1e-6, **LABELS)
    yield case("kernel1", "kernel 1, relu", conv_kernel_size=1, hidden_act="relu", **LABELS)
    yield case("question", "question answering", head="QuestionAnswering")
    yield case("question-groups2-bf16", "question answering, two groups, kernel 3, BF16", head="QuestionAnswering",
               dtype="bfloat16", num_groups=2, conv_kernel_size=3)
    yield case("token", "token classification", head="TokenClassification", **labels("O", "B-PER", "I-PER"))
    yield case("masked-lm", "masked language model, tied output", head="MaskedLM")
    yield case("masked-lm-untied", "masked language model, own output matrix", head="MaskedLM",
               tie_word_embeddings=False)
    yield Case("convbert-choice", "ConvBERT, multiple choice with the default summary (last position)",
               "ConvBertForMultipleChoice", CONVBERT, choices=2)
    yield Case("convbert-choice-summary", "ConvBERT, multiple choice, first position, projection and tanh",
               "ConvBertForMultipleChoice", CONVBERT | {"summary_type": "first", "summary_use_proj": True,
               "summary_activation": "tanh", "summary_last_dropout": 0.0}, choices=2)
    yield Case("convbert-bare", "ConvBERT encoder without a head and without a name prefix", "ConvBertModel",
               CONVBERT)


def deberta_v2_cases():
    def case(name, about, head="SequenceClassification", dtype="float16", long=34, extra_head="", **config):
        return Case(f"deberta-v2-{name}", f"DeBERTa v2/v3, {about}", f"DebertaV2For{head}", V2 | config, dtype, long,
                    extra_head)

    yield case("question", "v3 structure: 8 buckets of range 32, shared keys, normalised table; question answering",
               head="QuestionAnswering")
    yield case("question-f32", "the same kind stored as F32", head="QuestionAnswering", dtype="float32")
    yield case("sequence-bf16", "sequence classification, BF16", dtype="bfloat16", **LABELS)
    yield case("sequence", "sequence classification, pos_att_type as a list", pos_att_type=["p2c", "c2p"], **LABELS)
    yield case("long", "text of 130 tokens, far beyond the bucket range", long=130, head="QuestionAnswering")
    yield case("buckets64", "64 buckets of range 128, text of 140 tokens", long=140, position_buckets=64,
               max_position_embeddings=128, head="QuestionAnswering")
    yield case("max-relative", "max_relative_positions 16 differs from max_position_embeddings",
               max_relative_positions=16, **LABELS)
    yield case("no-buckets", "position_buckets -1: exact distances, clamped", position_buckets=-1,
               max_relative_positions=12, **LABELS)
    yield case("c2p", "content to position only", pos_att_type="c2p", **LABELS)
    yield case("p2c", "position to content only, as a list", pos_att_type=["p2c"], **LABELS)
    yield case("no-pos-att", "relative attention without any position term", pos_att_type=None, **LABELS)
    yield case("own-keys", "share_att_key false: own position projections", share_att_key=False, **LABELS)
    yield case("own-keys-c2p", "share_att_key false, content to position only", share_att_key=False,
               pos_att_type="c2p", **LABELS)
    yield case("own-keys-p2c", "share_att_key false, position to content only", share_att_key=False,
               pos_att_type="p2c", **LABELS)
    yield case("plain-table", "norm_rel_ebd none", norm_rel_ebd="none", **LABELS)
    yield case("conv", "convolution layer of 3 after layer 0, gelu", conv_kernel_size=3, conv_act="gelu", **LABELS)
    yield case("conv-groups", "convolution layer of 5 in 4 groups, default tanh", conv_kernel_size=5,
               conv_groups=4, **LABELS)
    yield case("head-size", "explicit attention_head_size, two heads of 16", num_attention_heads=2,
               attention_head_size=16, **LABELS)
    yield case("embed-proj", "embedding_size 16 with projection", embedding_size=16, **LABELS)
    yield case("types", "type_vocab_size 2, absolute positions too", type_vocab_size=2, position_biased_input=True,
               max_position_embeddings=64, **LABELS)
    yield case("absolute", "relative_attention false, absolute positions", relative_attention=False,
               position_biased_input=True, max_position_embeddings=64, **LABELS)
    yield case("absolute-factor", "relative_attention false and no pos_att_type", relative_attention=False,
               position_biased_input=True, max_position_embeddings=64, pos_att_type=None, **LABELS)
    yield case("heads6", "D 48, six heads, eps 1e-5, tanh pooler", hidden_size=48,
               num_attention_heads=6, intermediate_size=96, layer_norm_eps=1e-5,
               pooler_hidden_size=48, pooler_hidden_act="tanh", **LABELS)
    yield case("token", "token classification", head="TokenClassification", **labels("O", "B-PER", "I-PER"))
    yield case("masked-lm", "masked language model, legacy head", head="MaskedLM")
    yield case("masked-lm-embed-proj", "masked language model, legacy head, embedding_size 16", head="MaskedLM",
               embedding_size=16)
    yield case("masked-lm-original", "masked language model, original head (lm_predictions)", head="MaskedLM",
               legacy=False)
    yield case("masked-lm-emd", "original head behind the enhanced mask decoder", head="MaskedLM", long=30,
               legacy=False, extra_head="enhanced-mask-decoder")
    yield case("rtd", "replaced-token detection (mask_predictions)", head="MaskedLM", legacy=False,
               extra_head="replaced-token-detection")
    yield Case("deberta-v2-choice", "DeBERTa v2/v3, multiple choice", "DebertaV2ForMultipleChoice", V2, choices=2)
    yield Case("deberta-v2-bare", "DeBERTa v2/v3 encoder without a head and without a name prefix",
               "DebertaV2Model", V2)


def deberta_v1_cases():
    def case(name, about, head="SequenceClassification", dtype="float16", long=34, **config):
        return Case(f"deberta-v1-{name}", f"DeBERTa v1, {about}", f"DebertaFor{head}", V1 | config, dtype, long)

    yield case("sequence", "both position terms, table of 2 x 32, text beyond it, F32", dtype="float32", **LABELS)
    yield case("clip", "max_relative_positions 4, clipped distances", max_relative_positions=4, **LABELS)
    yield case("c2p", "content to position only, as a string", pos_att_type="c2p", **LABELS)
    yield case("p2c", "position to content only", pos_att_type="p2c", **LABELS)
    yield case("absolute-too", "absolute and relative positions, token types", position_biased_input=True,
               type_vocab_size=2, max_position_embeddings=64, **LABELS)
    yield case("absolute", "relative_attention false", relative_attention=False, position_biased_input=True,
               max_position_embeddings=64, **LABELS)
    yield case("embed-proj", "embedding_size 16 with projection", embedding_size=16, **LABELS)
    yield case("talking-heads", "talking_head true", talking_head=True, **LABELS)
    yield case("question-bf16", "question answering, BF16", head="QuestionAnswering", dtype="bfloat16")
    yield case("token", "token classification", head="TokenClassification", **labels("O", "B-PER", "I-PER"))
    yield case("masked-lm", "masked language model, legacy head", head="MaskedLM")
    yield case("masked-lm-original", "masked language model, original head", head="MaskedLM", legacy=False)


def bert_cases():
    def bert(name, about, head, dtype="float16", choices=0, **config):
        return Case(f"bert-{name}", f"BERT, {about}", head, BERT | config, dtype, choices=choices)

    def electra(name, about, head, dtype="float16", choices=0, **config):
        return Case(f"electra-{name}", f"ELECTRA, {about}", head, ELECTRA | config, dtype, choices=choices)

    yield bert("sequence", "sequence classification", "BertForSequenceClassification", **LABELS)
    yield bert("sequence-f32", "sequence classification, F32", "BertForSequenceClassification", "float32",
               **LABELS)
    yield bert("question", "question answering, tanh GELU", "BertForQuestionAnswering", hidden_act="gelu_new")
    yield bert("token", "token classification", "BertForTokenClassification", **labels("O", "B-PER", "I-PER"))
    yield bert("masked-lm", "masked language model", "BertForMaskedLM")
    yield bert("choice", "multiple choice", "BertForMultipleChoice", choices=2)
    yield bert("relative-key", "relative_key positions", "BertForSequenceClassification",
               position_embedding_type="relative_key", **LABELS)
    yield bert("relative-key-query", "relative_key_query positions", "BertForSequenceClassification",
               position_embedding_type="relative_key_query", **LABELS)
    yield electra("sequence", "sequence classification", "ElectraForSequenceClassification", **LABELS)
    yield electra("sequence-bf16", "sequence classification, relu, BF16", "ElectraForSequenceClassification",
                  "bfloat16", hidden_act="relu", **LABELS)
    yield electra("question", "question answering, no projection", "ElectraForQuestionAnswering", embedding_size=32)
    yield electra("token", "token classification", "ElectraForTokenClassification", **labels("O", "B-PER", "I-PER"))
    yield electra("rtd", "replaced-token detection", "ElectraForPreTraining")
    yield electra("masked-lm", "masked language model", "ElectraForMaskedLM")
    yield electra("choice", "multiple choice", "ElectraForMultipleChoice", choices=2)


def roberta_cases():
    """Texts hold the padding token (1) here and there: its position is the padding's, and the next count on."""
    small = SMALL | {"max_position_embeddings": 40, "type_vocab_size": 1, "pad_token_id": 1}
    distil = {"vocab_size": 48, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 40}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, model, config=small, choices=0, **more):
        return Case(name, about, model, config | more, choices=choices)

    yield case("roberta-sequence", "RoBERTa, sequence classification", "RobertaForSequenceClassification", **LABELS)
    yield case("roberta-masked-lm", "RoBERTa, masked language model", "RobertaForMaskedLM")
    yield case("roberta-choice", "RoBERTa, multiple choice", "RobertaForMultipleChoice", choices=2)
    yield case("roberta-relative-key", "RoBERTa, relative_key positions", "RobertaForTokenClassification",
               position_embedding_type="relative_key", **tags)
    yield case("xlm-roberta-token", "XLM-RoBERTa, token classification, padding token 0, two segments",
               "XLMRobertaForTokenClassification", pad_token_id=0, type_vocab_size=2, **tags)
    yield case("camembert-sequence", "CamemBERT, sequence classification", "CamembertForSequenceClassification", **LABELS)
    yield case("camembert-masked-lm", "CamemBERT, masked language model", "CamembertForMaskedLM")
    yield case("xlm-roberta-question", "XLM-RoBERTa, question answering", "XLMRobertaForQuestionAnswering")
    yield case("distilbert-sequence", "DistilBERT, sequence classification", "DistilBertForSequenceClassification",
               distil, **LABELS)
    yield case("distilbert-question", "DistilBERT, question answering, relu", "DistilBertForQuestionAnswering", distil,
               activation="relu")
    yield case("distilbert-token", "DistilBERT, token classification, sinusoidal positions",
               "DistilBertForTokenClassification", distil, sinusoidal_pos_embds=True, **tags)
    yield case("distilbert-masked-lm", "DistilBERT, masked language model", "DistilBertForMaskedLM", distil)
    yield case("distilbert-choice", "DistilBERT, multiple choice", "DistilBertForMultipleChoice", distil, choices=2)


def mpnet_cases():
    """The padding token is 1 whatever the file says; a long text reaches past the last bucket of distances."""
    small = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
             "max_position_embeddings": 40}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, model, config=small, choices=0, long=None, **more):
        return Case("mpnet-" + name, "MPNet, " + about, model, config | more, choices=choices, **({"long": long} if long else {}))

    yield case("sequence", "sequence classification", "MPNetForSequenceClassification", **LABELS)
    yield case("masked-lm", "masked language model, 40 buckets of which 32 are used", "MPNetForMaskedLM",
               relative_attention_num_buckets=40)
    yield case("choice", "multiple choice", "MPNetForMultipleChoice", choices=2)
    yield case("token", "token classification", "MPNetForTokenClassification", **tags)
    yield case("question", "question answering, 150 tokens", "MPNetForQuestionAnswering", long=150, max_position_embeddings=160,
               hidden_size=16, num_attention_heads=2, vocab_size=32)


def modernbert_cases():
    """Windows of a few keys, which all texts but the shortest exceed."""
    small = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 24,
             "local_attention": 8, "pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2, "sep_token_id": 2}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, head="SequenceClassification", choices=0, transformers=4, **more):
        return Case("modernbert-" + name, "ModernBERT, " + about, "ModernBert" + ("For" + head if head else "Model"), small | more,
                    choices=choices, transformers=transformers)

    yield case("sequence", "sequence classification, global every third layer", **LABELS)
    yield case("sequence-mean", "mean pooling, window 9 // 2, global every second layer", classifier_pooling="mean",
               local_attention=9, global_attn_every_n_layers=2, **LABELS)
    yield case("biases", "every bias there is", norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True,
               num_hidden_layers=2, **LABELS)
    yield case("all-global", "all layers global, equal thetas, silu, tanh in the head", global_attn_every_n_layers=1,
               local_rope_theta=160000.0, hidden_activation="silu", classifier_activation="tanh", num_hidden_layers=2, **LABELS)
    yield case("token", "token classification", "TokenClassification", num_hidden_layers=2, **tags)
    yield case("question", "question answering", "QuestionAnswering", num_hidden_layers=2)
    yield case("masked-lm", "masked language model", "MaskedLM", num_hidden_layers=2)
    yield case("masked-lm-untied", "masked language model, own output matrix without a bias", "MaskedLM", num_hidden_layers=2,
               tie_word_embeddings=False, decoder_bias=False)
    yield case("choice", "multiple choice, mean pooling", "MultipleChoice", choices=2, num_hidden_layers=2,
               classifier_pooling="mean")
    yield case("bare", "encoder without a head and without a name prefix", head="")
    yield case("layer-types", "transformers 5: layer_types in no order, rope_parameters", transformers=5,
               layer_types=["sliding_attention", "full_attention", "full_attention", "sliding_attention"],
               rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                "sliding_attention": {"rope_type": "default", "rope_theta": 80.0}}, **LABELS)
    yield case("sliding-window", "transformers 5: sliding_window as a key", transformers=5, sliding_window=3, **LABELS)
    yield case("linear", "transformers 5: linear scaling of the positions of global layers", transformers=5, num_hidden_layers=2,
               rope_parameters={"full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0},
                                "sliding_attention": {"rope_type": "default", "rope_theta": 80.0}}, **LABELS)


def albert_cases():
    """Layers that share weights, and embeddings narrower than the layers."""
    small = {"vocab_size": 48, "hidden_size": 32, "embedding_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4,
             "intermediate_size": 48, "max_position_embeddings": 40}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, head="SequenceClassification", choices=0, transformers=4, **more):
        return Case("albert-" + name, "ALBERT, " + about, "Albert" + ("For" + head if head else "Model"), small | more, choices=choices,
                    transformers=transformers)

    yield case("sequence", "sequence classification, one layer three times", **LABELS)
    yield case("groups", "five layers of two groups, exact GELU", num_hidden_layers=5, num_hidden_groups=2, hidden_act="gelu", **LABELS)
    yield case("wide", "embedding_size equal to hidden_size, which has its projection too", "TokenClassification", embedding_size=32, **tags)
    yield case("token", "token classification, two groups", "TokenClassification", num_hidden_layers=4, num_hidden_groups=2, **tags)
    yield case("question", "question answering, relu", "QuestionAnswering", hidden_act="relu")
    yield case("masked-lm", "masked language model", "MaskedLM")
    yield case("masked-lm-untied", "masked language model, own output matrix, of transformers 5", "MaskedLM", transformers=5,
               tie_word_embeddings=False)
    yield case("choice", "multiple choice", "MultipleChoice", choices=2)
    yield case("bare", "encoder without a head and without a name prefix", head="")
    yield case("sequence-5", "sequence classification, of transformers 5", transformers=5, num_hidden_layers=2, **LABELS)


def rotary_cases():
    """NomicBERT and GTE, whose classes transformers 5 has. `published`: the same model with the configuration and the tensors that files on
    the hub have, which the authors' own code reads."""
    small = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24,
             "max_position_embeddings": 40}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, model, long=34, published=None, **more):
        return Case(name, about, model, small | more, transformers=5, long=long, published=published or {})

    def nomic(name, about, head, **more):
        return case("nomic-bert-" + name, "NomicBERT, " + about, "NomicBert" + head, **more)

    def gte(name, about, head, **more):
        return case("gte-" + name, "GTE, " + about, "Gte" + head, **more)

    yield nomic("sequence", "sequence classification", "ForSequenceClassification", **LABELS)
    yield nomic("token", "token classification, another base and linear scaling of positions", "ForTokenClassification",
                rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 3.0}, **tags)
    yield nomic("masked-lm", "masked language model", "ForMaskedLM")
    yield nomic("dynamic", "encoder, dynamic scaling of a text of 60 tokens", "Model", long=60,
                rope_parameters={"rope_type": "dynamic", "rope_theta": 500.0, "factor": 3.0})
    yield nomic("bare", "encoder without a head and without a name prefix", "Model")
    gpt2 = {"model_type": "nomic_bert", "n_embd": 16, "n_head": 2, "n_layer": 2, "n_inner": 256, "n_positions": 40, "vocab_size": 48,
            "type_vocab_size": 2, "layer_norm_epsilon": 1e-12, "activation_function": "swiglu", "rotary_emb_base": 1000,
            "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "rotary_scaling_factor": None, "prenorm": False,
            "qkv_proj_bias": False, "mlp_fc1_bias": False, "mlp_fc2_bias": False, "use_rms_norm": False, "causal": False}
    tiny = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 256}
    yield nomic("published", "sequence classification, the names of GPT-2", "ForSequenceClassification", published=gpt2, **tiny, **LABELS)
    yield nomic("published-masked-lm", "masked language model, the names of GPT-2, a head without biases", "ForMaskedLM", published=gpt2, **tiny)
    mixture = gpt2 | {"n_embd": 64, "n_head": 4, "n_inner": 64, "layer_norm_epsilon": 1e-5, "activation_function": "gelu", "type_vocab_size": 1,
                      "rotary_emb_base": 10000, "qkv_proj_bias": True, "mlp_fc1_bias": True, "mlp_fc2_bias": True, "moe_every_n_layers": 2}
    yield nomic("experts", "encoder of version 2, the two best of five experts", "Model", published=mixture | {"num_experts": 5, "moe_top_k": 2})
    yield nomic("expert", "encoder of version 2, the best of three experts", "Model", published=mixture | {"num_experts": 3, "moe_top_k": 1})
    yield gte("sequence", "sequence classification", "ForSequenceClassification", **LABELS)
    yield gte("token", "token classification without a table of types, silu", "ForTokenClassification", type_vocab_size=0, hidden_act="silu",
              **tags)
    yield gte("masked-lm", "masked language model", "ForMaskedLM")
    new = {"model_type": "new", "position_embedding_type": "rope", "rope_theta": 20.0, "layer_norm_type": "layer_norm",
           "logn_attention_scale": False, "rope_scaling": {"type": "ntk", "factor": 8.0}}
    ntk = {"rope_parameters": {"rope_type": "linear", "rope_theta": 160.0, "factor": 8.0 ** (2 / 8)}}
    yield gte("published", "sequence classification, NTK scaling", "ForSequenceClassification", published=new | {"pack_qkv": True}, **ntk,
              **LABELS)
    yield gte("published-split", "encoder, queries, keys and values in three tensors", "Model", published=new | {"pack_qkv": False}, **ntk)


def rms_cases():
    """EuroBERT, Qwen3 and Gemma 3: layers with RMS norms, and heads that share keys and values. Classes of transformers 5.16
    (requirements-encoders.txt)."""
    small = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
             "intermediate_size": 40, "max_position_embeddings": 40}
    tags = labels("O", "B-PER", "I-PER")

    def case(name, about, model, long=34, **more):
        return Case(name, about, model, small | more, transformers=5, long=long)

    def euro(name, about, head, **more):
        return case("eurobert-" + name, "EuroBERT, " + about, "EuroBert" + head, pad_token_id=1, **more)

    def qwen(name, about, head, **more):
        return case("qwen3-" + name, "Qwen3, " + about, "Qwen3" + head, **{"head_dim": 12, "num_attention_heads": 2} | more)

    def gemma(name, about, head, **more):
        two_sided = {"use_bidirectional_attention": True, "head_dim": 12, "num_attention_heads": 4, "sliding_window": 6,
                     "sliding_window_pattern": 2, "query_pre_attn_scalar": 7}
        return case("gemma3-" + name, "Gemma 3, " + about, "Gemma3Text" + head, **two_sided | more)

    yield euro("sequence", "sequence classification, the mean of the logits of all tokens", "ForSequenceClassification", **LABELS)
    yield euro("sequence-bos", "sequence classification by the first token, one pair of keys and values, biases of attention",
               "ForSequenceClassification", num_key_value_heads=1, classifier_pooling="bos", attention_bias=True, **LABELS)
    yield euro("sequence-mean", "sequence classification by the mean of all tokens, as many key heads as query heads, biases of feed-forward layers",
               "ForSequenceClassification", num_key_value_heads=None, classifier_pooling="mean", mlp_bias=True, **LABELS)
    yield euro("token", "token classification, wide heads, another activation and eps, yarn", "ForTokenClassification", head_dim=12,
               hidden_act="gelu", rms_norm_eps=1e-3,
               rope_parameters={"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16,
                                "beta_fast": 4.0}, **tags)
    yield euro("masked-lm", "masked language model with a bias, llama3", "ForMaskedLM", mlp_bias=True,
               rope_parameters={"rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0, "original_max_position_embeddings": 32,
                                "low_freq_factor": 1.0, "high_freq_factor": 4.0})
    yield euro("masked-lm-tied", "masked language model, tied output", "ForMaskedLM", tie_word_embeddings=True)
    yield euro("bare", "encoder without a head and without a name prefix, dynamic scaling of a text of 70 tokens", "Model", long=70,
               rope_parameters={"rope_type": "dynamic", "rope_theta": 500.0, "factor": 2.0})
    yield qwen("bare", "encoder without a head and without a name prefix", "Model")
    yield qwen("sequence", "sequence classification, padding of id 7", "ForSequenceClassification", pad_token_id=7, **LABELS)
    yield qwen("token", "token classification, the second layer with a window of 6 keys, biases", "ForTokenClassification",
               use_sliding_window=True, sliding_window=6, max_window_layers=1, attention_bias=True, **tags)
    yield qwen("question", "question answering, layer types, yarn without rounding, one pair of keys and values", "ForQuestionAnswering",
               use_sliding_window=True, sliding_window=5, layer_types=["sliding_attention", "full_attention"], num_key_value_heads=1,
               rope_parameters={"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16,
                                "truncate": False, "mscale": 0.7, "mscale_all_dim": 0.3})
    yield qwen("both-sides", "encoder that sees both sides by is_causal false, the second layer 4 tokens on each", "Model", is_causal=False,
               use_sliding_window=True, sliding_window=4, max_window_layers=1)
    yield gemma("both-sides", "encoder that sees both sides by is_causal false", "Model", is_causal=False, use_bidirectional_attention=False,
                sliding_window=4)
    yield gemma("both-fields", "encoder that sees both sides by two fields, which widen its window", "Model", is_causal=False)
    yield gemma("bare", "encoder that sees both sides, a window of 3 tokens on each", "Model")
    yield gemma("odd", "encoder that sees both sides, an odd window, linear scaling in full layers", "Model", sliding_window=9,
                num_hidden_layers=3, num_key_value_heads=1, attention_bias=True, rms_norm_eps=1e-3,
                rope_parameters={"full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0},
                                 "sliding_attention": {"rope_type": "default", "rope_theta": 80.0}})
    yield gemma("sequence", "sequence classification, causal, layer types", "ForSequenceClassification", use_bidirectional_attention=False,
                layer_types=["full_attention", "sliding_attention"], **LABELS)


def privacy_cases():
    """OpenAI's privacy filter. A class of transformers 5.16 (requirements-encoders.txt). Widths are those that the engine's experts need."""
    small = {"vocab_size": 48, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
             "intermediate_size": 64, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 6, "pad_token_id": 0,
             "eos_token_id": 0, "max_position_embeddings": 64}

    def case(name, about, head="ForTokenClassification", long=34, **more):
        return Case("privacy-filter-" + name, "OpenAI's privacy filter, " + about, "OpenAIPrivacyFilter" + head, small | more, transformers=5,
                    long=long)

    yield case("token", "token classification, the class's labels and positions, a window of 6 tokens on each side, two of three experts")
    yield case("bare", "encoder without a head and without a name prefix, one of two experts, as many key heads as query heads, other positions, a "
               "window of 16", "Model", num_local_experts=2, num_experts_per_tok=1, num_key_value_heads=4, sliding_window=16, rms_norm_eps=1e-3,
               rope_parameters={"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16})


def jina_v3_cases():
    """Jina embeddings v3. `published` are configurations of the hub, whose checkpoints have an adapter for each task (publish_adapters)."""
    small = {"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40,
             "max_position_embeddings": 40, "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}
    hub = {"model_type": "xlm-roberta", "position_embedding_type": "rotary", "rotary_emb_base": 500.0, "lora_rank": 4, "lora_alpha": 3,
           "lora_adaptations": ["retrieval.query", "retrieval.passage", "text-matching"]}

    def case(name, about, head, published=None, **more):
        return Case("jina-v3-" + name, "Jina embeddings v3, " + about, "JinaEmbeddingsV3" + head, small | more, transformers=5, long=34,
                    published=published or {})

    yield case("sequence", "sequence classification", "ForSequenceClassification", **LABELS)
    yield case("token", "token classification, another activation, two segments", "ForTokenClassification", hidden_act="relu",
               type_vocab_size=2, **labels("O", "B-PER", "I-PER"))
    yield case("question", "question answering", "ForQuestionAnswering")
    yield case("masked-lm", "masked language model", "ForMaskedLM")
    yield case("bare", "encoder without a head and without a name prefix", "Model")
    yield case("adapter", "encoder, the second of three adapters", "Model", published=hub | {"lora_task": "retrieval.passage"},
               type_vocab_size=2)
    yield case("no-adapter", "encoder, adapters that are not used", "Model", published=hub)
    # The same code with a table of positions (jina-reranker-v2): an XLM-RoBERTa whose tensors have other names (publish_flash).
    table = {"model_type": "xlm-roberta-flash", "position_embedding_type": "absolute", "max_position_embeddings": 40, "pad_token_id": 1}
    plain = {name: value for name, value in small.items() if name != "rope_parameters"} | {"pad_token_id": 1, "layer_norm_eps": 1e-5}
    for name, head, more in [("sequence", "ForSequenceClassification", LABELS), ("bare", "Model", {"type_vocab_size": 2})]:
        yield Case("jina-flash-" + name, "XLM-RoBERTa in the layout of Jina's code, " + ("with a head" if more is LABELS else "without a head"),
                   "XLMRoberta" + head, plain | more, transformers=5, long=34, published=table)


def jina_cases():
    """Jina's BERT (jina_bert.py): the slopes of four heads, of three and of six, every feed-forward layer, and queries and keys with norms."""
    small = {"vocab_size": 48, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20,
             "max_position_embeddings": 40, "position_embedding_type": "alibi", "feed_forward_type": "geglu"}
    normed = {"auto_map": {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"}}

    def case(name, about, head, **more):
        return Case("jina-bert-" + name, "Jina's BERT, " + about, "JinaBert" + head, small | more, long=34)

    yield case("sequence", "sequence classification", "ForSequenceClassification", **LABELS)
    yield case("token", "token classification, three heads, a gate of relu", "ForTokenClassification", num_attention_heads=3,
               feed_forward_type="reglu", **labels("O", "B-PER", "I-PER"))
    yield case("masked-lm", "masked language model, six heads, feed-forward layers without a gate", "ForMaskedLM", num_attention_heads=6,
               feed_forward_type="original", hidden_act="gelu_new")
    yield case("bare", "encoder without a head and without a name prefix", "Model")
    yield case("normed", "encoder with norms of queries and keys", "Model", **normed)
    yield case("normed-question", "question answering, norms of queries and keys", "ForQuestionAnswering", **normed)


def untied_cases():
    """Written with transformers 5 (requirements-transformers5.txt), which saves both biases of an untied head and computes with the
    decoder's; transformers 4 makes one of them."""
    small = {"vocab_size": 24, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
             "max_position_embeddings": 24, "tie_word_embeddings": False}
    v2 = small | {"relative_attention": True, "position_biased_input": False, "pos_att_type": "p2c|c2p", "position_buckets": 8,
                  "type_vocab_size": 0}
    for name, model, config in (("bert", "Bert", small), ("roberta", "Roberta", small | {"pad_token_id": 1}),
                                ("mpnet", "MPNet", small), ("deberta-v2", "DebertaV2", v2)):
        yield Case(f"{name}-masked-lm-untied", f"{model}, masked language model, own output matrix and both biases, of transformers 5",
                   f"{model}ForMaskedLM", config, long=18, transformers=5)


def rare_cases():
    """Fields of config.json that few files have: the smallest models that show them."""
    small = {"vocab_size": 16, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
             "max_position_embeddings": 24}
    v2 = small | {"relative_attention": True, "position_biased_input": False, "pos_att_type": "p2c|c2p", "position_buckets": 8,
                  "type_vocab_size": 0}

    def case(name, about, model, config=small, long=20, choices=0, **more):
        return Case(name, about, model, config | more, long=long, choices=choices)

    for name in ("leaky_relu", "relu2", "laplace"):
        yield case("bert-" + name.replace("_", "-"), f"BERT, hidden_act {name}", "BertForSequenceClassification", hidden_act=name)
    yield case("electra-choice-mean", "ELECTRA, multiple choice, the mean of all tokens, summary_proj_to_labels with as many labels as columns",
               "ElectraForMultipleChoice", choices=2, embedding_size=16, summary_type="mean", summary_proj_to_labels=True, num_labels=16)
    yield case("convbert-choice-mean", "ConvBERT, multiple choice, the mean of all tokens, no projection", "ConvBertForMultipleChoice",
               choices=2, embedding_size=16, summary_type="mean")
    yield case("deberta-v2-falling-buckets", "DeBERTa v2, max_relative_positions 3 below half of the 8 buckets: they fall with distance",
               "DebertaV2ForSequenceClassification", v2, max_relative_positions=3)
    yield case("deberta-v2-one-distance", "DeBERTa v2, max_relative_positions 1", "DebertaV2ForSequenceClassification", v2,
               max_relative_positions=1)


def all_cases():
    return [*convbert_cases(), *deberta_v2_cases(), *deberta_v1_cases(), *bert_cases(), *roberta_cases(), *mpnet_cases(), *modernbert_cases(),
            *albert_cases(), *rotary_cases(), *rms_cases(), *privacy_cases(), *jina_v3_cases(), *jina_cases(), *rare_cases(), *untied_cases()]
