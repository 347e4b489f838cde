// Strings on their way into the engine.

/**
 * Replaces each lone surrogate by U+FFFD. One UTF-16 unit becomes one UTF-16 unit, so indices into the result are indices
 * into the caller's string; and the result has an exact UTF-8 form.
 */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
