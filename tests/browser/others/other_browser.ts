export interface OtherBrowser {
  version: string;
  goto(url: string): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}
