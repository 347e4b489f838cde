// The chat template of a ranker, as the engine reads it (core/api/ranking_reader.h).
import type { Job, Located } from './checkpoint.js';
import { isObject, parseObject, textOf } from './json.js';
import { kChatTemplate, kModules, kSentenceConfigs, modulesOf } from './model_files.js';
import { type ImportOnnx, loadOnnxPart } from './onnx_part.js';
import { type NamedFile, readThoseThere } from './read_files.js';

const kTokens = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** A template, or the one called "default" of several. */
function templateIn(config: Record<string, unknown>): string {
  const { chat_template: template } = config;
  if (!Array.isArray(template)) return textOf(template);
  return textOf(template.find((one) => isObject(one) && one.name === 'default')?.template);
}

function tokenNames(config: Record<string, unknown>): Record<string, string> {
  const named = kTokens.map((name) => [name, textOf(isObject(config[name]) ? config[name].content : config[name])]);
  return Object.fromEntries(named.filter(([, text]) => text !== ''));
}

/** Whether a causal language model scores pairs: by its modules, or because it has none. */
function scoresByTokens(modules: readonly NamedFile[], config: NamedFile): boolean {
  if (modules.length > 0) return modulesOf(modules).at(-1)?.type === 'LogitScore';
  const { architectures } = parseObject(config.name, config.content);
  return textOf([architectures].flat()[0]).endsWith('ForCausalLM');
}

/** The file that the engine takes for the template; none if the model does not rank by a template. `texts` are the model's other files. */
export async function readPairTemplate(
  job: Job,
  located: Located<Job>,
  texts: readonly NamedFile[],
  importOnnx: ImportOnnx | undefined,
): Promise<NamedFile[]> {
  const modules = texts.filter(({ name }) => name === kModules);
  if (!job.task.readsTemplate || !scoresByTokens(modules, located.config)) return [];
  const parsed = (name: string) => texts.filter((file) => file.name.endsWith(name)).map((file) => parseObject(name, file.content))[0] ?? {};
  const [file] = await readThoseThere(located.job, [kChatTemplate]);
  const tokenizer = parsed('tokenizer_config.json');
  const template = file ? new TextDecoder().decode(file.content) : templateIn(tokenizer);
  if (template === '') return [];
  const { modality_config: modalities } = parsed(kSentenceConfigs[0]!);
  const message = isObject(modalities) ? modalities.message : undefined;
  const { pairTemplate } = await loadOnnxPart(importOnnx, job.name);
  const parts = pairTemplate(template, isObject(message) ? textOf(message.format) : undefined, tokenNames(tokenizer));
  return [{ name: 'pair_template.json', content: new TextEncoder().encode(JSON.stringify(parts)) }];
}
