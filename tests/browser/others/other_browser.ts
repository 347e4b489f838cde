/** Actions of an input device, as WebDriver's "Perform Actions" takes them. */
export type Actions = readonly Readonly<Record<string, unknown>>[];

export interface OtherBrowser {
  version: string;
  goto(url: string): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
  perform(actions: Actions): Promise<void>;
  /** Sets the size of the page's viewport, or of the window that contains it. */
  resize(width: number, height: number): Promise<void>;
  /** Returns a PNG of the viewport. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Keys by their names in WebDriver. */
export const kKeys = { Enter: '\uE007', Right: '\uE014' } as const;

export function keyPresses(keys: readonly string[]): Actions {
  const actions = keys.flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
  return [{ type: 'key', id: 'keyboard', actions }];
}

export function mouseClick(x: number, y: number): Actions {
  const at = { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 };
  const buttons = ['pointerDown', 'pointerUp'].map((type) => ({ type, button: 0 }));
  return [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [at, ...buttons] }];
}
