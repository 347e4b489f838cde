// Errors and rejections that nobody caught, in any page or worker of a Chromium that a test drives.
import type { BrowserContext, Page } from 'playwright';

const uncaught: string[] = [];

/** Notes what the context's pages and their workers throw from now on. no_uncaught.ts fails the test that is running then. */
export function noteUncaught(context: BrowserContext): void {
  const follow = (page: Page) => page.on('pageerror', (error) => uncaught.push(error.stack ?? error.message));
  for (const page of context.pages()) follow(page);
  context.on('page', follow);
}

/** What was noted since the last call. */
export function takeUncaught(): string[] {
  return uncaught.splice(0);
}
