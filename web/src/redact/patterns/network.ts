// IP addresses (RFC 791, RFC 4291) and MAC addresses (IEEE 802).
import type { TextRange } from '../text_folding.js';
import { isCuedBefore, rangesOf, wordsOf } from './cues.js';

const kIpv4 = /(?<![a-z\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\/\d{1,2})?(?![a-z\d]|\.\d)/dgi;
const kVersion = wordsOf('v', 'ver\\.?', 'version', 'release', 'build', 'section', 'chapter', 'kapitel');
/** A colon before or after the address may end a word ('ip:', '::1: refused'), but not a group of hexadecimal digits. */
const kIpv6 =
  /(?<![a-z\d.]|(?<![a-z\d])[\da-f]{1,4}:|::)(?:[\da-f]{1,4}|(?=::))(?::[\da-f]{0,4}){2,8}(?<!(?<!:):)(?:(?:\.\d{1,3}){3})?(?:%\w{1,16})?(?![a-z\d]|:[a-z\d:]|\.\d)/dgi;

/** Finds IPv4 and IPv6 addresses. Excludes version numbers, as in 'Version 1.2.3.4'. */
export function findIpAddresses(text: string): TextRange[] {
  const v4 = rangesOf(text, kIpv4).filter((range) => !isCuedBefore(text, range, kVersion, 9));
  const v6 = rangesOf(text, kIpv6).filter(({ start, end }) => isIpv6(text.slice(start, end)));
  return [...v4, ...v6];
}

/** Whether the text is eight groups of hexadecimal digits; '::' replaces groups, and an IPv4 address may replace the last two. */
function isIpv6(address: string): boolean {
  const plain = address.replace(/%.*$/, '').replace(/(\d{1,3}\.){3}\d{1,3}$/, '0:0');
  const halves = plain.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (halves.length > 2 || !/\d/.test(plain) || groups.some((group) => !/^[\da-f]{1,4}$/i.test(group))) return false; // 'a::b' is C++
  return halves.length === 2 ? groups.length >= 2 && groups.length < 8 : groups.length === 8;
}

const kMac =
  /(?<![a-z\d]|(?<![a-z\d])[\da-f]{1,4}[:-])(?:[\da-f]{2}(?:(:[\da-f]{2}){5}|(-[\da-f]{2}){5})|[\da-f]{4}\.[\da-f]{4}\.[\da-f]{4})(?![a-z\d]|[:-][a-z\d]|\.\d)/dgi;

export function findMacAddresses(text: string): TextRange[] {
  return rangesOf(text, kMac);
}
