/** What a pipeline tells of its work. The difference of two reports is what the calls between them took. */
export interface UsageReport {
  /** Calls that have been answered since loading. */
  calls: number;
  /** Tokens that the model has read for them: special tokens count, and a text counts as often as it was read (windows, labels). */
  tokens: number;
  /** Time that the engine has worked on them, in milliseconds. */
  milliseconds: number;
}
