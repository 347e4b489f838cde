// Secrets: API keys by the prefixes of the usual providers, signed tokens, private keys, and passwords after a cue.
import type { TextRange } from '../text_folding.js';
import { rangesOf } from './cues.js';
import { kNoValue } from './fields.js';

const kForms = [
  'sk-[\\w-]{20,}', // OpenAI, Anthropic, OpenRouter
  '(?:sk|pk|rk)_(?:live|test)_\\w{16,}', // Stripe
  'whsec_[\\w+/=]{20,}',
  '(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|AIPA)[A-Z\\d]{16}', // Amazon
  'gh[opsur]_\\w{30,}', // GitHub
  'github_pat_\\w{40,}',
  'gl(?:pat|dt|rt|ptt|cbt)-[\\w-]{20,}', // GitLab
  'AIza[\\w-]{35}', // Google
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'xox[abeoprs]-[\\w-]{10,}', // Slack
  'xapp-[\\w-]{20,}',
  '(?:hf|npm|gsk|r8)_[A-Za-z\\d]{30,}', // Hugging Face, npm, Groq, Replicate
  'pypi-[\\w-]{40,}',
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}', // SendGrid
  'key-[\\da-f]{32}', // Mailgun
  '(?:AC|SK)[\\da-f]{32}', // Twilio
  'do[opr]_v1_[\\da-f]{64}', // DigitalOcean
  'shp(?:at|ca|pa|ss)_[\\da-fA-F]{32}', // Shopify
  'sq0[a-z]{3}-[\\w-]{22,}', // Square
  'dapi[\\da-f]{32}', // Databricks
  '(?:xai|pplx)-\\w{40,}', // xAI, Perplexity
  'lin_api_\\w{32,}', // Linear
  '(?:ntn|secret)_[A-Za-z\\d]{40,}', // Notion
  'ATATT3[\\w=-]{20,}', // Atlassian
  '\\d{8,10}:AA[\\w-]{33}', // Telegram
  'eyJ[\\w-]{10,}\\.[\\w-]{10,}(?:\\.[\\w-]*)?', // JSON web tokens
];
const kKeys = new RegExp(`(?<![A-Za-z\\d-])(?:${kForms.join('|')})(?![A-Za-z\\d-])`, 'gd');

const kPrivateKey = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?/dg;

const kSecretName =
  '(?:(?:api|access|secret|auth|private|client|account|bearer|session)[ _-]?(?:key|token|secret|id)|secret|token|pass(?:word|wd|phrase|code)|pwd?|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|hasło|heslo)';
/** 'password: hunter2', 'API_KEY=...'. After 'is' the value must contain a digit or a sign, because ordinary words may follow. */
const kAfterCue = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:\\w{1,30}_)?${kSecretName}["']?(?: ?[:=]+ ?["']?(?<detail>[^\\s"',;]{4,200})|(?: is| ist| est| es)[: ]+["']?(?=\\S{0,100}[\\d!#$%&*+@_])(?<said>[^\\s"',;]{4,200}))`,
  'giud',
);

const kNamesOnly = new RegExp(`^${kSecretName}$`, 'iu');
/** Names of values in the help of programs, in capitals: '--password=PASS', 'MOT_DE_PASSE'. Other words in capitals may be passwords. */
const kMetavariable = new RegExp(
  `^(?:(?:your|my|new|old|user|db) )?(?:${kSecretName}|pass|pin|key|file|path|string|value|name|text|fichier|datei|archivo|fichero|clave|cadena)$`,
  'iu',
);

export function findKeys(text: string): TextRange[] {
  const cued = [...text.matchAll(kAfterCue)].map(({ indices }) => {
    const [start, end] = indices!.groups!.detail ?? indices!.groups!.said!;
    return { start, end: end - (text.slice(start, end).match(/[.!?)\]]+$/)?.[0].length ?? 0) };
  });
  const secrets = cued.filter(({ start, end }) => end - start >= 4 && isSecret(text.slice(start, end)));
  return [...rangesOf(text, kPrivateKey), ...rangesOf(text, kKeys), ...secrets];
}

/** Words of programs are not secrets: types, calls, the names of the variables themselves. */
function isSecret(value: string): boolean {
  if (kNoValue.test(value) || kNamesOnly.test(value) || /^[a-z_.]+\(/i.test(value)) return false;
  return value !== value.toUpperCase() || !kMetavariable.test(value.replaceAll(/[_-]/g, ' '));
}
