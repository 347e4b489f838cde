/** A browser with one page. */
export interface OtherBrowser {
  version: string;
  goto(url: string): Promise<void>;
  /** Returns the value of the expression or of its promise, as JSON. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}
