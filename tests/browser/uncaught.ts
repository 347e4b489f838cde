// Records uncaught errors and rejections of pages and workers in Chromium.
import type { BrowserContext, Page } from 'playwright';

const uncaught: string[] = [];

/** Records from now on; no_uncaught.ts fails the running test. */
export function noteUncaught(context: BrowserContext): void {
  const follow = (page: Page) => page.on('pageerror', (error) => uncaught.push(error.stack ?? error.message));
  for (const page of context.pages()) follow(page);
  context.on('page', follow);
}

/** Returns what was recorded since the last call. */
export function takeUncaught(): string[] {
  return uncaught.splice(0);
}
