// Recognises answers with status 200 that are not the requested file: what proxies, portals and overloaded servers send in its place.
import { isObject } from './json.js';

/** Bytes of a file that are looked at. A longer one is no short message of a server. */
export const kLookedAt = 4096;

/** What a server may send instead of a file. */
export interface BadAnswer {
  /** Whether it is a web page, which many servers send for unknown addresses. */
  isPage: boolean;
  /** What it is, for messages. */
  what: string;
}

const kPage = /^<(!doctype html|html|head|body|meta|title|script|!--)/i;
const kXml = /^<(\?xml|error\b|errorresponse\b|listbucketresult\b)/i;
const kPointer = /^version https:\/\/git-lfs\.github\.com\/spec\//;
/** Members of an object that only reports a failure, and those that may accompany them. */
const kFailures = ['error', 'errors', 'message', 'detail', 'reason', 'description', 'error_description', 'error_message'];
const kCompanions = ['status', 'statusCode', 'status_code', 'code', 'type', 'title', 'path', 'success', 'ok', 'timestamp', 'requestId'];
const kMoreCompanions = [
  'request_id',
  'documentation_url',
  'hint',
  'help',
  'url',
  'instance',
  'traceId',
  'error_code',
  'errorCode',
  'name',
];
const kOfFailures = new Set([...kFailures, ...kCompanions, ...kMoreCompanions]);

/** Judges a file by its first bytes. `isWhole` means that they are all of it. Returns undefined for a possible file. */
export function badAnswer(start: Uint8Array, isWhole: boolean): BadAnswer | undefined {
  if (start.length === 0) return isWhole ? { isPage: false, what: 'an empty file' } : undefined;
  const text = new TextDecoder('utf-8').decode(start.subarray(0, kLookedAt)).trimStart();
  if (kPage.test(text)) return { isPage: true, what: 'an HTML page' };
  if (kXml.test(text)) return { isPage: false, what: 'an XML document' };
  if (kPointer.test(text)) return { isPage: false, what: 'a pointer of Git LFS' };
  return isWhole && reportsFailure(text) ? { isPage: false, what: 'an error message' } : undefined;
}

/** Whether a text is a JSON object such as {"error": "Rate limit reached"}. */
function reportsFailure(text: string): boolean {
  if (!text.startsWith('{')) return false;
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isObject(said)) return false;
  const names = Object.keys(said);
  const reports = names.some((name) => kFailures.includes(name) && typeof said[name] !== 'number'); // a vocabulary may have such a token
  return reports && names.every((name) => kOfFailures.has(name));
}
