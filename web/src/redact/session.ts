// Sessions: conversations whose texts have common placeholders.
import { checkedChoice } from './options.js';
import { Placeholders, restore, sameWords } from './placeholders.js';
import { redactStream, restoreStream } from './streams.js';
import type { RedactCall, RedactionSession, RedactOptions, SessionOptions } from './types.js';

/** An internal option, which replaces `mapping`: the placeholders of a session's earlier calls. */
export const kPlaceholders = Symbol('placeholders');

export function sessionOf(call: RedactCall): (options?: SessionOptions) => RedactionSession {
  return (options = {}) => {
    const { choice } = checkedChoice(options, {});
    const placeholders = new Placeholders(choice.mapping, sameWords);
    const session: RedactionSession = {
      redact: (texts, given = {}) => call(texts, { ...given, [kPlaceholders]: placeholders } as RedactOptions),
      restore: (text) => restore(text, placeholders.mapping()),
      redactStream: (given = {}) => redactStream((text) => session.redact(text, given)),
      restoreStream: () => restoreStream((text) => restore(text, placeholders.mapping()).text),
      get mapping() {
        return placeholders.mapping();
      },
    };
    return session;
  };
}
