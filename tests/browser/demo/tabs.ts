// Tests of the demo page that open one tab: its server and browser, and the check that no page complained.
import type { Locator } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { answered, type Demo, startDemo, trained, type Visit, type VisitOptions } from './demo.js';

export interface Tabs {
  readonly demo: Demo;
  /** The last visit of this test. */
  readonly visit: Visit;
  open(options?: VisitOptions): Promise<Visit>;
  /** Opens the page at a tab, and returns its panel when the first answer is there. */
  openTab(tab: string): Promise<Locator>;
  /** Opens the sorting tab with the reviews, and the labels of a trained model. */
  openReviews(): Promise<Locator>;
  openLighthouse(): Promise<Locator>;
}

/** Adds the hooks of the test file. */
export function useTabs(): Tabs {
  let demo: Demo;
  const visits: Visit[] = [];
  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => demo.close());
  beforeEach(() => {
    visits.length = 0;
  });
  afterEach(async () => {
    for (const each of visits) {
      expect(each.complaints).toEqual([]);
      await each.close();
    }
  });
  const open = async (options?: VisitOptions) => {
    const visit = await demo.visit(options);
    visits.push(visit);
    return visit;
  };
  const openTab = async (tab: string) => {
    const { page } = await open({ at: tab });
    const panel = page.locator(`#${tab.split('?')[0]}`);
    await answered(panel);
    return panel;
  };
  return {
    get demo() {
      return demo;
    },
    get visit() {
      return visits.at(-1)!;
    },
    open,
    openTab,
    openReviews: async () => {
      const panel = await openTab('sort');
      await trained(panel);
      return panel;
    },
    openLighthouse: async () => {
      const panel = await openTab('ask');
      await panel.getByRole('button', { name: 'The lighthouse' }).click();
      await panel.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
      await answered(panel);
      return panel;
    },
  };
}

export const percentages = (text: string[]) => text.map((score) => Number.parseFloat(score));
