/** A browser with one page, whatever drives it. */
export interface OtherBrowser {
  version: string;
  goto(url: string): Promise<void>;
  /** What the expression, or its promise, gives, as JSON takes it. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}
