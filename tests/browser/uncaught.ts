import type { BrowserContext, Page } from 'playwright';

const uncaught: string[] = [];

export function noteUncaught(context: BrowserContext): void {
  const follow = (page: Page) => page.on('pageerror', (error) => uncaught.push(error.stack ?? error.message));
  for (const page of context.pages()) follow(page);
  context.on('page', follow);
}

export function takeUncaught(): string[] {
  return uncaught.splice(0);
}
