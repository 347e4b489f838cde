// The main path of each tab. The rest: details.test.ts.
import type { Locator, Route } from 'playwright';
import { describe, expect, it } from 'vitest';
import { tinyNli } from './checkpoints.js';
import { answered, chooseFiles, openDrawer } from './demo.js';
import { percentages, useTabs } from './tabs.js';

const tabs = useTabs();

describe('the redaction tab', () => {
  it('opens with a message and its redaction: the model\u2019s names, and what rules find', async () => {
    const { page } = await tabs.open();
    const redact = page.locator('#redact');
    await answered(redact);
    expect(await redact.locator('.redacted').textContent()).toBe(
      'Hello, my name is [PER_1] and I live in [LOC_1]. My order has not arrived. You can reach me at [EMAIL_1] or on [PHONE_1]. ' +
        'I paid with my card, [CARD_1].',
    );
    expect(await redact.locator('.headline strong').textContent()).toBe('5');
    expect(await redact.locator('.found .label').allTextContents()).toContain('Thomas Miller');
    expect(await redact.locator('.restored mark').allTextContents()).toEqual(['Thomas Miller', 'Boston', 'thomas.miller@example.org']);
  });

  it('shows what rules find while the model is on its way, with nothing to copy yet', async () => {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    const hold = (route: Route) => held.then(() => route.continue());
    const { page } = await tabs.open({
      before: async (context) => {
        await context.route('**/model.safetensors.gzip', hold);
      },
    });
    const redact = page.locator('#redact');
    await redact.locator('.redacted mark').first().waitFor();
    expect(await redact.locator('.redacted mark').allTextContents()).toEqual(['[PER_1]', '[EMAIL_1]', '[PHONE_1]', '[CARD_1]']);
    expect(await redact.locator('.headline').textContent()).toContain('4 by rules');
    for (const later of ['.copy-text', '.back']) expect(await redact.locator(later).isVisible(), later).toBe(false);
    expect(await redact.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(true);
    release();
    await answered(redact);
    expect(await redact.locator('.redacted mark').first().textContent()).toBe('[PER_1]');
    for (const later of ['.copy-text', '.back']) expect(await redact.locator(later).isVisible(), later).toBe(true);
  });

  it('puts the words back into a pasted answer, however it writes the placeholders, and says which stand for nothing', async () => {
    const panel = await tabs.openTab('redact');
    await tabs.visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('#redact-text').fill('Mary Johnson: write to mary@example.org.');
    await panel.locator('.redacted', { hasText: '[PER_1]: write to [EMAIL_1].' }).waitFor();
    expect(await panel.locator('#redact-answer').inputValue(), 'the answer to the example is gone').toBe('');
    expect(await panel.locator('.restored').isVisible()).toBe(false);
    await panel.locator('#redact-answer').fill('Dear [PER_1], I wrote to EMAIL_1 and to [EMAIL_7].');
    expect(await panel.locator('.restored').textContent()).toBe('Dear Mary Johnson, I wrote to mary@example.org and to [EMAIL_7].');
    expect(await panel.locator('.restored mark').allTextContents()).toEqual(['Mary Johnson', 'mary@example.org']);
    expect(await panel.locator('.unrestored').textContent()).toContain('[EMAIL_7]');
    await panel.locator('.copy-restored').click();
    await panel.getByText('Copied').waitFor();
    expect(await tabs.visit.page.evaluate(() => navigator.clipboard.readText())).toContain('Dear Mary Johnson');
  });
});

describe('the sorting tab, with the model of praise and complaint', () => {
  it('answers while one types: label, bars that add up, time', async () => {
    const panel = await tabs.openReviews();
    const trays = panel.locator('.sorted .tray');
    expect(await trays.locator('mark').allTextContents()).toEqual(['Complaint', 'Praise']);
    expect(await trays.first().locator('.label').allTextContents()).toEqual([
      'Two hours of noise and not one idea worth remembering.',
      'Flimsy hinges, slow menus, and support that never answers.',
    ]);
    expect(await panel.locator('#sort-labels').isVisible(), 'the model takes no labels').toBe(false);
    await panel.locator('#sort-text').fill('');
    expect(await panel.locator('.details').isVisible()).toBe(false);
    await panel.locator('#sort-text').pressSequentially('Dull, stupid and far too long.');
    await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
    await answered(panel);
    const scores = percentages(await panel.locator('.details .bars .score').allTextContents());
    expect(scores).toHaveLength(2);
    expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(100, 0);
    expect(await panel.locator('.timing').textContent()).toMatch(/^[\d.,]+\sm?s · \d+ tokens · [\d,]+ tokens\/s · [\d.]+\sMB of memory$/);
  });
});

describe('the sorting tab', () => {
  it('gives each line its label', async () => {
    const panel = await tabs.openTab('sort');
    expect(await panel.locator('.sorted mark').allTextContents()).toEqual(['delivery', 'payment', 'account', 'praise']);
    expect(await panel.locator('.headline').textContent()).toBe('4 lines under 4 labels');
    await panel.locator('.sorted button').nth(1).click();
    expect(await panel.locator('.details .bars .label').first().textContent()).toBe('payment');
  });

  it('scores labels of one\u2019s own with a model of one\u2019s own', async () => {
    const panel = await tabs.openTab('sort');
    await panel.locator('[name=text]').fill('a b c');
    await panel.locator('[name=labels]').fill('d, e, f g');
    await panel.locator('.more summary').click();
    await panel.locator('[name=template]').fill('a {} b');
    expect(await panel.locator('.template-preview').textContent()).toBe('For example: \u201ca d b\u201d');
    await chooseFiles(panel, await tinyNli());
    await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
    await answered(panel);
    const bars = panel.locator('.details .bars');
    const scores = percentages(await bars.locator('.score').allTextContents());
    expect((await bars.locator('.label').allTextContents()).sort()).toEqual(['d', 'e', 'f g']);
    expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(100, 0);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));

    await panel.getByLabel('Several labels may fit one line').check();
    await answered(panel);
    await expect.poll(async () => percentages(await bars.locator('.score').allTextContents())).not.toEqual(scores);
  });
});

describe('the asking tab', () => {
  it('finds the passage that answers, and the words in it', async () => {
    const panel = await tabs.openTab('ask');
    const first = panel.locator('.passages li').first();
    expect(await first.textContent()).toBe('The bins are emptied on Thursday mornings.');
    expect(await first.locator('mark').textContent()).toBe('Thursday mornings');
    await panel.locator('#ask-question').fill('Where is the password written?');
    await first.filter({ hasText: 'on the back of the router' }).waitFor();
    await panel.getByRole('button', { name: 'How much is the cleaning fee?' }).click();
    await panel.locator('.headline strong', { hasText: 'forty pounds' }).waitFor();
  });

  it('shows where other answers stand, on demand', async () => {
    const panel = await tabs.openLighthouse();
    const candidates = panel.locator('.candidates button');
    expect(await candidates.first().isVisible()).toBe(false);
    await panel.locator('.candidates summary').click();
    expect(await panel.locator('.whole mark').textContent()).toBe('Jonas Berg');
    expect(await panel.locator('.whole').textContent()).toBe(await panel.locator('#ask-document').inputValue());
    const scores = percentages(await candidates.locator('.score').allTextContents());
    expect(scores.length).toBeGreaterThan(1);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    await candidates.nth(1).click();
    expect(await panel.locator('.whole mark').textContent()).toBe(await candidates.nth(1).locator('.label').textContent());
    expect(await candidates.nth(1).getAttribute('aria-pressed')).toBe('true');
    expect(await candidates.first().getAttribute('aria-pressed')).toBe('false');
  });

  it('says that the answer is not in the text, marks nothing, and has its guesses on demand', async () => {
    const panel = await tabs.openTab('ask');
    const rules = 'House rules: Smoking is forbidden. The rent is due on the first of each month.';
    await panel.locator('#ask-document').fill(rules);
    await panel.locator('#ask-question').fill('Can I have a dog?');
    await panel.locator('.headline strong', { hasText: 'Not in the text' }).waitFor();
    await answered(panel);
    const nearest = (await panel.locator('.headline em').textContent())!;
    expect(await panel.locator('.headline').textContent()).toBe(`Not in the text. Nearest: ${nearest}`);
    expect(rules).toContain(nearest);
    expect(await panel.locator('.whole').textContent()).toBe(rules);
    expect(await panel.locator('.details mark').count()).toBe(0);
    await panel.locator('.candidates summary').click();
    const guesses = panel.locator('.candidates button');
    expect((await guesses.locator('.label').allTextContents()).every((words) => words !== '' && rules.includes(words))).toBe(true);
    await guesses.first().click();
    expect(await panel.locator('.whole mark').textContent()).toBe(await guesses.first().locator('.label').textContent());
  });
});

describe('names in a message', () => {
  it('marks each, with its kind and its score in a list', async () => {
    const panel = await tabs.openTab('redact');
    const marks = await panel
      .locator('.redacted mark')
      .evaluateAll((all) => all.map((mark) => [mark.textContent, (mark as HTMLElement).title]));
    expect(marks[0]).toEqual(['[PER_1]', expect.stringMatching(/^person/)]);
    expect(await panel.locator('.found .kind').first().textContent()).toBe('[PER_1] person');
    for (const score of await panel.locator('.found .score').allTextContents()) expect(score).toMatch(/^([\d.]+\s%|a rule)$/);
  });
});

describe('taking it along', () => {
  /** Runs the copied code in Node, with the model from the page's site. */
  async function resultOfCode(panel: Locator): Promise<unknown> {
    await tabs.visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openDrawer(panel, 'code');
    await panel.locator('.copy-code').click();
    await panel.locator('.copy-code', { hasText: 'Copied' }).waitFor();
    const code = await tabs.visit.page.evaluate(() => navigator.clipboard.readText());
    expect(code).toContain("import { pipeline } from 'peruse';");
    const { pipeline } = await import('../../../web/dist/index_node.js');
    const body = code.replace(/^import.*$/m, '').replace('console.log(result)', 'return result');
    const run = new Function('pipeline', `return (async () => { ${body} })()`) as (p: typeof pipeline) => Promise<unknown>;
    return run(pipeline);
  }
  const percentOf = (score: number) => `${(100 * score).toFixed(1)}\u00a0%`;

  it('gives the redaction as code that does what the page did', async () => {
    const panel = await tabs.openTab('redact');
    await panel.locator('#redact-text').fill('It\u2019s "Mary Johnson", mary@example.org,\nfrom Oslo. Ask Priya.');
    await panel.locator('.redacted', { hasText: '[EMAIL_1]' }).waitFor();
    await answered(panel);
    const { text } = (await resultOfCode(panel)) as { text: string };
    expect(await panel.locator('.redacted').textContent()).toBe(text);
  });

  it('uses the recall of the card of each of its taggers', async () => {
    const panel = await tabs.openTab('redact');
    const showsRecall = (recall: string) =>
      panel.locator('pre', { hasText: new RegExp(`recall: ${recall}\\b`) }).waitFor({ state: 'attached' });
    await answered(panel);
    await showsRecall('0\\.5');
    await openDrawer(panel, 'model-drawer');
    await panel.locator('[name=model]').selectOption({ index: 1 });
    await showsRecall('0\\.55');
  });

  it('gives the sorting as code that does what the page did, with labels of one\u2019s own', async () => {
    const panel = await tabs.openTab('sort');
    await panel.locator('.more summary').click();
    await panel.locator('[name=multi]').check();
    await answered(panel);
    const results = (await resultOfCode(panel)) as { labels: string[]; scores: number[] }[];
    const shown = await panel
      .locator('.sorted .tray')
      .evaluateAll((trays) =>
        trays.flatMap((tray) =>
          [...tray.querySelectorAll('.score')].map((score) => `${tray.querySelector('mark')!.textContent} ${score.textContent}`),
        ),
      );
    expect(shown.sort()).toEqual(results.map(({ labels, scores }) => `${labels[0]} ${percentOf(scores[0]!)}`).sort());
  });

  it('gives the sorting as code that does what the page did, with the model of praise and complaint', async () => {
    const panel = await tabs.openReviews();
    await panel.locator('#sort-text').fill("It's a \u201cgem\u201d, really wonderful.");
    await answered(panel);
    const [[best]] = (await resultOfCode(panel)) as [[{ label: string; score: number }]];
    expect(await panel.locator('.headline').textContent()).toBe(
      `${{ POSITIVE: 'Praise', NEGATIVE: 'Complaint' }[best.label]} ${percentOf(best.score)}`,
    );
  });

  it('gives the question as code that does what the page did', async () => {
    const panel = await tabs.openTab('ask');
    const [best] = (await resultOfCode(panel)) as [{ answer: string; score: number }];
    expect(await panel.locator('.headline').textContent()).toBe(`${best.answer} ${percentOf(best.score)}`);
  });
});
