"""Writes tiny random cross-encoders of sentence-transformers 6, and the logits that the library computes with them.

    python make_ranking_fixtures.py [CASE ...]

tests/fixtures/ranking/<case>: the folder as the library saves it; pairs.json with the logits and scores of pairs, asked for in several ways;
pair_template.json with what the chat template makes of a pair.
Tokenizers are those of tests/fixtures/tokenizer, cut down to the pieces that the texts need.
tests/fixtures/ranking/templates.json: what transformers renders of other chat templates.
Requirements: requirements-encoders.txt.
"""

import json
import shutil
import sys

import torch
import transformers
from make_encoder_fixtures import FIXTURES, SIZES, cut, randomise
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.cross_encoder.modules.logit_score import LogitScore
from sentence_transformers.sentence_transformer.modules import Pooling

FOLDER = FIXTURES / "ranking"
PAIRS = [
    ["how deep is the sea", "Deep-water research at 1200 metres."],
    ["how deep is the sea", "n"],
    ["Caf\u00e9 e\u0301", " 12345\nand <|im_end|> within "],
    ["how deep is the sea", "A text that is cut, because it has more tokens than fit. " * 6],
]
# The template of Qwen/Qwen3-Reranker-0.6B.
QWEN_TEMPLATE = (
    '{%- set instruction = messages | selectattr("role", "eq", "system") | map(attribute="content")'
    ' | first | default("Given a web search query, retrieve relevant passages that answer the query") -%}\n'
    '{%- set query_text = messages | selectattr("role", "eq", "query") | map(attribute="content") | first -%}\n'
    '{%- set document_text = messages | selectattr("role", "eq", "document") | map(attribute="content") | first -%}\n'
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided."
    ' Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n<Instruct>: {{ instruction }}\n<Query>: {{ query_text }}\n<Document>: {{ document_text }}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n\n"
)
# The other way to write one: a loop, blocks on lines of their own, and contents that are lists.
LOOP_TEMPLATE = (
    "{# a comment #}\n{%- for message in messages %}\n    {%- if message['role'] == 'system' %}\n{{ message.content[0]['text'] ~ '!' }}\n"
    "    {%- elif message.role == \"query\" -%}\n    Q: {{ message.content[0].text }}\n    {% else %}\nD: {{ message.content[0].text -}}\n"
    "    {% endif %}\n{%- endfor %}\n{% if not messages %}none{% endif %}Answer:"
)
# Shapes and white space, rendered with contents as texts.
TEMPLATES = [
    QWEN_TEMPLATE,
    "{{ (messages | selectattr('role', 'eq', 'query') | first).content }}\n\n{{ messages[-1]['content'] }}\n\n",
    "question:{{ (messages | selectattr(\"role\", \"eq\", \"query\") | first).content }} \n \n passage:{{ (messages | selectattr(\"role\", \"eq\","
    " \"document\") | first)['content'] }}",
    "{{ messages\n    | selectattr('role', 'eq', 'system') | map(attribute='content')\n    | first\n    | default('none given.')\n}}"
    "<Q>{{ messages | rejectattr('role', 'eq', 'document') | map(attribute='content') | list | last }}<D>{{ messages[1 if false else -1].content }}",
    "  {% set a = 'x' ~ messages[0].content %}\n  {% if a is defined and not b is defined %}\n   {{ a }}\n  {% endif %}\n\n {{- messages[-1].content -}} \n z\n",
    "{% for m in messages %}{% if loop.first %}[{% endif %}{{ loop.index }}{{ m.role }}: {{ m['content'] }}{{ ']' if loop.last }}{% endfor %}",
    "{% for m in messages -%}\n  {%+ if loop.last %}last{% else %}, {%- endif +%}\n<{{ m.role + ':' }}{{ m.content }}>{# gone #}\n\n{% endfor %}\n",
    "a{{ eos_token }}\r\n{% if add_generation_prompt or messages | length == 1 %}b{% elif messages[0].role != 'system' %}c{% endif %}"
    "{{ messages[0].content + '\\t\\'' }}{{ messages[-1].content }}\n",
    "{# was: {{ messages[0].content }} {% if true %} #}{{ messages[0].content }}{#- {% endif %} -#} \n{{ messages[-1].content }}",
]
QWEN = {"tie_word_embeddings": True, "pad_token_id": None}

CASES = {
    "qwen3-reranker": dict(kind="qwen", template=QWEN_TEMPLATE, fields=QWEN, tokens=("yes", "no"), limit=420,
                           prompts={"query": "Find the answer"}),
    # No tied decoder, one token, a template of another shape, and a limit that leaves room for few tokens of the document.
    "qwen3-true-only": dict(kind="qwen", template=LOOP_TEMPLATE, fields=QWEN | {"tie_word_embeddings": False}, tokens=("yes",),
                            limit=40, activation="torch.nn.modules.linear.Identity"),
    # A model without a template reads a query and a document one after the other, and its tokens are "yes" and "no".
    "qwen3-bare": dict(kind="qwen", template=None, fields=QWEN, tokens=("yes", "no"), limit=40, bare=True),
    "eurobert-dense": dict(kind="llama3", template=None, config=transformers.EuroBertConfig, limit=40,
                           fields={"rope_parameters": {"rope_type": "default", "rope_theta": 250000.0}, "pad_token_id": 0}),
}


def tokenizer_for(kind, limit, template):
    made, _ = cut(kind)
    made.add_tokens(["yes", "no"])
    special = {"qwen": {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
               "llama3": {"bos_token": "<|begin_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": "<|end_of_text|>"}}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=limit, **special[kind])
    tokenizer.chat_template = template
    return tokenizer


def modules_of(folder, tokenizer, tokens, bare):
    if bare:
        return None
    if not tokens:
        width = SIZES["hidden_size"]
        first = Dense(width, 12, activation_function=torch.nn.Tanh())
        last = Dense(12, 1, bias=False, activation_function=torch.nn.Identity(), module_output_name="scores")
        randomise(first, folder.name + "1")
        randomise(last, folder.name + "2")
        return [Transformer(str(folder)), Pooling(width, pooling_mode="mean"), first, last]
    ids = [tokenizer.convert_tokens_to_ids(token) for token in tokens]
    return [Transformer(str(folder), transformer_task="text-generation"), LogitScore(*ids)]


def parts_of(tokenizer, structured, roles):
    """The rendered messages of a pair, with the contents as parts of their own."""
    def content(role):
        marked = "\x01" + role + "\x01"
        return [{"type": "text", "text": marked}] if structured else marked

    text = tokenizer.apply_chat_template([{"role": role, "content": content(role)} for role in roles], tokenize=False)
    return [{"role": part} if part in roles else part for part in text.split("\x01") if part]


def write(case, kind, template, limit, fields, tokens=(), config=transformers.Qwen3Config, prompts=None, activation=None, bare=False):
    folder = FOLDER / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = tokenizer_for(kind, limit, template)
    tokenizer.save_pretrained(folder)
    kinds = transformers.AutoModelForCausalLM if tokens else transformers.AutoModel
    model = kinds.from_config(config(vocab_size=len(tokenizer), max_position_embeddings=512, **SIZES, **fields)).eval()
    randomise(model, case)
    model.save_pretrained(folder)
    modules = modules_of(folder, tokenizer, tokens, bare)
    if modules:
        function = getattr(torch.nn, activation.rsplit(".", 1)[1])() if activation else None
        CrossEncoder(modules=modules, prompts=prompts, activation_fn=function, device="cpu").save(str(folder), create_model_card=False)
    library = CrossEncoder(str(folder), device="cpu")
    ways = [{}] + [{"prompt": "c d "}] + [{"prompt_name": name} for name in prompts or {}]
    asked = []
    for pair in PAIRS:
        for way in ways:
            logit = library.predict([tuple(pair)], activation_fn=torch.nn.Identity(), **way)[0]
            score = library.predict([tuple(pair)], **way)[0]
            asked.append({"query": pair[0], "document": pair[1], "options": way, "logit": float(logit), "score": float(score)})
    (folder / "pairs.json").write_text(json.dumps(asked, indent=1) + "\n")
    if template:
        structured = template == LOOP_TEMPLATE
        parts = {"plain": parts_of(tokenizer, structured, ["query", "document"]),
                 "prompted": parts_of(tokenizer, structured, ["system", "query", "document"])}
        (folder / "pair_template.json").write_text(json.dumps(parts, indent=1) + "\n")
    for name in ("README.md", ".gitattributes", "generation_config.json"):
        (folder / name).unlink(missing_ok=True)
    print(case, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), [round(one["logit"], 4) for one in asked])


def write_templates():
    tokenizer = tokenizer_for("qwen", 40, None)
    rendered = []
    for template in TEMPLATES:
        tokenizer.chat_template = template
        rendered.append({"template": template, "plain": parts_of(tokenizer, False, ["query", "document"]),
                         "prompted": parts_of(tokenizer, False, ["system", "query", "document"])})
    (FOLDER / "templates.json").write_text(json.dumps(rendered, indent=1) + "\n")


def main():
    for case, options in CASES.items():
        if not sys.argv[1:] or case in sys.argv[1:]:
            write(case, **options)
    write_templates()


if __name__ == "__main__":
    main()
