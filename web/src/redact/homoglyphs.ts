// Letters of other scripts that look like Latin ones (from Unicode UTS #39, confusables).

const kTwins = [
  // Cyrillic
  'АA ВB СC ЕE НH ІI ЈJ КK ӀI МM ОO РP ЅS ТT УY ҮY ХX ԚQ ԜW',
  'аa ԁd еe һh іi јj кk ӏl оo рp ԛq ѕs сc уy үy ѵv ԝw хx',
  // Greek
  'ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϹC',
  'αa εe ηn ιi κk νv οo ρp τt υu χx γy ϲc ϳj ωw',
  // Armenian
  'ՕO ՍU օo ոn սu հh ցg յj զq',
  // Latin: phonetic letters and small capitals
  'ɑa ɡg ɩi ʟL ᴀA ʙB ᴄC ᴅD ᴇE ꜰF ɢG ʜH ɪI ᴊJ ᴋK ᴍM ɴN ᴏO ᴘP ʀR ꜱS ᴛT ᴜU ᴠV ᴡW ʏY ᴢZ',
];

/** Maps a letter to the Latin letter that it resembles. Each is one UTF-16 unit. */
export const kLatinTwins: ReadonlyMap<string, string> = new Map(
  kTwins.flatMap((line) => line.split(' ').map((pair): [string, string] => [pair[0]!, pair[1]!])),
);

const kScripts = [/\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u];
const kWord = /[\p{L}\p{N}\p{M}]+/gu;
const kNotLatin = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]|[\u0250-\u02af\u1d00-\u1dbf\ua730-\ua731]/gu;

/**
 * Replaces look-alike letters in words that imitate Latin: all their foreign letters have look-alikes, and either they also contain a Latin
 * letter or digit, or no other word of the text uses that script. Keeps the length.
 */
export function replaceHomoglyphs(text: string): string {
  if (!kNotLatin.test(text)) return text;
  kNotLatin.lastIndex = 0;
  const isDisguised = (word: string) => (word.match(kNotLatin) ?? []).every((letter) => kLatinTwins.has(letter));
  const foreign = (text.match(kWord) ?? []).filter((word) => !isDisguised(word)).join(' ');
  const written = kScripts.filter((script) => script.test(foreign));
  return text.replaceAll(kWord, (word) => {
    const isForeign = !/[a-z\d]/i.test(word) && written.some((script) => script.test(word));
    return isForeign || !isDisguised(word) ? word : word.replaceAll(kNotLatin, (letter) => kLatinTwins.get(letter)!);
  });
}
