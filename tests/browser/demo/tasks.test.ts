import { readFile } from 'node:fs/promises';
import type { Locator, Route } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SentimentFixture } from '../../node/support/demo_cases.js';
import { tinyNli, tinyTagger } from './checkpoints.js';
import { answered, chooseFiles, type Demo, openDrawer, startDemo, trained, type Visit } from './demo.js';

let demo: Demo;
let visit: Visit;
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

async function openTab(tab: string): Promise<Locator> {
  visit = await demo.visit({ at: tab });
  visits.push(visit);
  const panel = visit.page.locator(`#${tab.split('?')[0]}`);
  await answered(panel);
  return panel;
}

const percentages = (text: string[]) => text.map((score) => Number.parseFloat(score));

describe('the redaction tab', () => {
  it('opens with a message and its redaction: the model\u2019s names, and what rules find', async () => {
    visit = await demo.visit();
    visits.push(visit);
    const redact = visit.page.locator('#redact');
    await answered(redact);
    expect(await redact.locator('.redacted').textContent()).toBe(
      'Hello, my name is [PER_1] and I live in [LOC_1]. My order has not arrived. You can reach me at [EMAIL_1] or on [PHONE_1]. ' +
        'I paid with my card, [CARD_1].',
    );
    expect(await redact.locator('.headline strong').textContent()).toBe('5');
    if (!(await redact.locator('.found .label').first().isVisible())) await redact.locator('.found summary').click();
    expect(await redact.locator('.found .label').allTextContents()).toContain('Thomas Miller');
    expect(await redact.locator('.restored mark').allTextContents()).toEqual(['Thomas Miller', 'Boston', 'thomas.miller@example.org']);
  });

  it('shows what rules find while the model is on its way, with nothing to copy yet', async () => {
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    const hold = (route: Route) => held.then(() => route.continue());
    visit = await demo.visit({
      before: async (context) => {
        await context.route('**/model.safetensors', hold);
      },
    });
    visits.push(visit);
    const redact = visit.page.locator('#redact');
    await redact.locator('.redacted mark').first().waitFor();
    expect(await redact.locator('.redacted mark').allTextContents()).toEqual(['[EMAIL_1]', '[PHONE_1]', '[CARD_1]']);
    expect(await redact.locator('.headline').textContent()).toContain('3 by rules');
    for (const later of ['.copy-text', '.back']) expect(await redact.locator(later).isVisible(), later).toBe(false);
    expect(await redact.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(true);
    release();
    await answered(redact);
    expect(await redact.locator('.redacted mark').first().textContent()).toBe('[PER_1]');
    for (const later of ['.copy-text', '.back']) expect(await redact.locator(later).isVisible(), later).toBe(true);
  });

  it('puts the words back into a pasted answer, however it writes the placeholders, and says which stand for nothing', async () => {
    const panel = await openTab('redact');
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
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
    expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toContain('Dear Mary Johnson');
  });

  it('copies the redacted message, and the same words get the same placeholder', async () => {
    const panel = await openTab('redact');
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('#redact-text').fill('Write to a@example.com, not b@example.com. I said a@example.com. On 2024-05-17 too.');
    await panel.locator('.redacted', { hasText: '[EMAIL_2]' }).waitFor();
    await panel.locator('.copy-text').click();
    await panel.getByText('Copied').waitFor();
    expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toBe(
      'Write to [EMAIL_1], not [EMAIL_2]. I said [EMAIL_1]. On [DATE_1] too.',
    );
  });
});

/** Opens the sorting tab with the reviews, and the labels of a trained model. */
async function openReviews(): Promise<Locator> {
  const panel = await openTab('sort');
  await trained(panel);
  return panel;
}

it('marks what the model is not sure of, and lets a person decide', async () => {
  const panel = await openTab('redact');
  await chooseFiles(panel, await tinyTagger());
  await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
  await panel.locator('#redact-text').fill('a, b. c, d. e, f. mary@example.org');
  await panel.locator('.redacted', { hasText: '[EMAIL_1]' }).waitFor();
  await answered(panel);
  expect(await panel.locator('.headline').textContent()).toContain('uncertain');
  const marks = panel.locator('.redacted mark.unsure');
  const before = await marks.count();
  expect(before).toBeGreaterThan(0);
  expect(await panel.locator('.redacted mark:not(.unsure)').allTextContents()).toEqual(['[EMAIL_1]']);
  const row = panel.locator('.found li', { has: panel.page().getByRole('button', { name: 'Not private' }) }).first();
  const words = (await row.locator('.label').textContent())!;
  await row.getByRole('button', { name: 'Not private' }).click();
  await expect.poll(() => marks.count()).toBe(before - 1);
  expect(await panel.locator('.redacted').textContent()).toContain(words);
  await openDrawer(panel, 'code');
  expect(await panel.locator('.code code').textContent()).toContain(`!${JSON.stringify([words])}.includes(text)`);
  await panel.getByRole('button', { name: 'Hide again' }).click();
  await expect.poll(() => marks.count()).toBe(before);
});

describe('the sorting tab, with the model of praise and complaint', () => {
  it('answers while one types: label, bars that add up, time', async () => {
    const panel = await openReviews();
    expect(await panel.locator('.sorted mark').allTextContents()).toEqual(['POSITIVE', 'NEGATIVE', 'POSITIVE', 'NEGATIVE']);
    expect(await panel.locator('#sort-labels').isVisible(), 'the model takes no labels').toBe(false);
    await panel.locator('#sort-text').fill('');
    expect(await panel.locator('.details').isVisible()).toBe(false);
    await panel.locator('#sort-text').pressSequentially('Dull, stupid and far too long.');
    await panel.locator('.headline strong', { hasText: 'NEGATIVE' }).waitFor();
    await answered(panel);
    const scores = percentages(await panel.locator('.details .bars .score').allTextContents());
    expect(scores).toHaveLength(2);
    expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(100, 0);
    expect(await panel.locator('.timing').textContent()).toMatch(/^[\d.,]+\sm?s · \d+ tokens · [\d,]+ tokens\/s · [\d.]+\sMB of memory$/);
  });

  it('is not sure of a text whose labels are about equal', async () => {
    const { cases } = JSON.parse(
      await readFile(new URL('../../fixtures/demo/sentiment.json', import.meta.url), 'utf8'),
    ) as SentimentFixture;
    const best = ({ labels }: SentimentFixture['cases'][number]) => labels[0]!.score;
    const { text } = cases.filter((one) => /^[a-z .,'-]+$/.test(one.text)).sort((a, b) => best(a) - best(b))[0]!;
    const panel = await openReviews();
    await panel.locator('#sort-text').fill(text);
    await panel.locator('.headline strong', { hasText: 'Not sure' }).waitFor();
    expect(await panel.locator('.headline').textContent()).toMatch(/^Not sure \((POSITIVE|NEGATIVE), [56]\d(\.\d)?\s%\)$/);
    await answered(panel);
  });

  it('tints each word by what leaving it out changes', async () => {
    const panel = await openReviews();
    await panel.locator('#sort-text').fill('A dull film.');
    const words = panel.locator('.influence blockquote .word');
    await panel.locator('.influence-title', { hasText: 'NEGATIVE' }).waitFor();
    expect(await words.allTextContents()).toEqual(['A', 'dull', 'film', '.']);
    const shares = await words.evaluateAll((all) => all.map((word) => Number(word.style.getPropertyValue('--share'))));
    expect(shares[1]).toBe(1);
    expect(await words.nth(1).getAttribute('class')).toBe('word for');
    expect(await words.nth(1).getAttribute('title')).toMatch(/^without it: \u2212[\d.]+\s%$/);
    expect(await visit.page.locator('.proof .since').textContent()).toBe('0');
  });

  it('reads a review that is longer than the model in parts, all of it', async () => {
    const panel = await openReviews();
    await panel.locator('#sort-text').fill(`${'A dull and stupid scene follows another. '.repeat(150)}Wonderful!`);
    await panel.locator('.headline', { hasText: /^NEGATIVE [\d.]+\s%$/ }).waitFor();
    expect(await panel.locator('.error').textContent()).toBe('');
  });

  it('says how it computes in words that everybody knows', async () => {
    const panel = await openReviews();
    await openDrawer(panel, 'model-drawer');
    const runtime = await panel.locator('.runtime').textContent();
    expect(runtime).toMatch(/on [1-9] threads? of the CPU, by WebAssembly/); // As many as the measurement of a layer chose.
    expect(runtime).toMatch(/^[\d.]+\sMB, loaded in /);
    expect(runtime).not.toContain('relaxed-threads');
  });
});

describe('the sorting tab', () => {
  it('gives each line its label', async () => {
    const panel = await openTab('sort');
    expect(await panel.locator('.sorted mark').allTextContents()).toEqual(['delivery', 'payment', 'account', 'praise']);
    expect(await panel.locator('.headline').textContent()).toBe('4 lines under 4 labels');
    await panel.locator('.sorted button').nth(1).click();
    expect(await panel.locator('.details .bars .label').first().textContent()).toBe('payment');
  });

  it('scores labels of one\u2019s own with a model of one\u2019s own', async () => {
    const panel = await openTab('sort');
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
    const panel = await openTab('ask');
    const first = panel.locator('.passages li').first();
    expect(await first.textContent()).toBe('The bins are emptied on Thursday mornings.');
    expect(await first.locator('mark').textContent()).toBe('Thursday mornings');
    await panel.locator('#ask-question').fill('Where is the password written?');
    await first.filter({ hasText: 'on the back of the router' }).waitFor();
    await panel.getByRole('button', { name: 'How much is the cleaning fee?' }).click();
    await panel.locator('.headline strong', { hasText: 'forty pounds' }).waitFor();
  });

  it('reads a document that is longer than the model, all of it', async () => {
    const panel = await openTab('ask');
    await panel.locator('#ask-document').fill(`${'The weather was fine and they walked on. '.repeat(150)}The code of the gate is 5512.`);
    await panel.locator('#ask-question').fill('What is the code of the gate?');
    await panel.locator('.passages li').first().filter({ hasText: '5512' }).waitFor();
  });

  it('shows where other answers stand, on demand', async () => {
    const panel = await openLighthouse();
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

  it('marks the right place after characters outside the basic plane', async () => {
    const panel = await openLighthouse();
    const passage = '\u{1F600}\u{1F600} caf\u00e9 \u{1D4D0}: The last keeper, Jonas Berg, left in 1874.';
    await panel.locator('#ask-document').fill(passage);
    await panel.locator('.whole', { hasText: passage }).waitFor({ state: 'attached' });
    await answered(panel);
    expect(await panel.locator('.whole mark').textContent()).toBe(await panel.locator('.headline strong').textContent());
    expect(await panel.locator('.whole').textContent()).toBe(passage);
  });

  it('never leaves an answer standing under another document', async () => {
    const panel = await openLighthouse();
    await panel.locator('#ask-document').fill('The last keeper was Maria Holm, who loved the sea.');
    await panel.locator('.passages mark', { hasText: 'Maria Holm' }).waitFor();
    expect(await panel.locator('.headline strong').textContent()).toBe('Maria Holm');
    await panel.locator('#ask-document').fill('');
    expect(await panel.locator('.details').isVisible()).toBe(false);
    expect(await panel.locator('.headline').textContent()).toBe('The words that answer will appear here.');
    await panel.getByRole('button', { name: 'The kettle' }).click();
    await panel.getByRole('button', { name: 'What is the weak point?' }).click();
    await panel.locator('.passages', { hasText: 'weak point' }).waitFor();
    await answered(panel);
    expect(await panel.locator('.headline strong').textContent()).toBe('The lid');
  });

  it('says that the answer is not in the text, marks nothing, and has its guesses on demand', async () => {
    const panel = await openTab('ask');
    const rules = 'House rules: Smoking is forbidden. The rent is due on the first of each month.';
    await panel.locator('#ask-document').fill(rules);
    await panel.locator('#ask-question').fill('Can I have a dog?');
    await panel.locator('.headline strong', { hasText: 'Not in the text' }).waitFor();
    await answered(panel);
    expect(await panel.locator('.whole').textContent()).toBe(rules);
    expect(await panel.locator('.details mark').count()).toBe(0);
    await panel.locator('.candidates summary').click();
    const guesses = panel.locator('.candidates button');
    expect((await guesses.locator('.label').allTextContents()).every((words) => words !== '' && rules.includes(words))).toBe(true);
    await guesses.first().click();
    expect(await panel.locator('.whole mark').textContent()).toBe(await guesses.first().locator('.label').textContent());
  });
});

async function openLighthouse(): Promise<Locator> {
  const panel = await openTab('ask');
  await panel.getByRole('button', { name: 'The lighthouse' }).click();
  await panel.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
  await answered(panel);
  return panel;
}

describe('names in a message', () => {
  it('marks each, with its kind and its score in a list', async () => {
    const panel = await openTab('redact');
    const marks = await panel
      .locator('.redacted mark')
      .evaluateAll((all) => all.map((mark) => [mark.textContent, (mark as HTMLElement).title]));
    expect(marks[0]).toEqual(['[PER_1]', expect.stringMatching(/^person/)]);
    if (!(await panel.locator('.found li').first().isVisible())) await panel.locator('.found summary').click();
    expect(await panel.locator('.found .kind').first().textContent()).toBe('[PER_1] person');
    for (const score of await panel.locator('.found .score').allTextContents()) expect(score).toMatch(/^([\d.]+\s%|a rule)$/);
  });

  it('shows text as text', async () => {
    const panel = await openTab('redact');
    const text = '<img src=x onerror=alert(1)> & good \u{1F600}';
    await panel.locator('#redact-answer').fill(`${text} [LOC_1]`);
    expect(await panel.locator('.restored').textContent()).toBe(`${text} Boston`);
    await panel.locator('#redact-text').fill('5 <b>is</b> less than 6 & good \u{1F600}');
    await panel.locator('.redacted', { hasText: 'less than 6' }).waitFor();
    expect(await panel.locator('.redacted').textContent()).toBe('5 <b>is</b> less than 6 & good \u{1F600}');
    expect(await panel.locator('img, b').count()).toBe(0);
  });

  it('reads a text that is longer than the model, all of it', async () => {
    const panel = await openTab('redact');
    await panel.locator('#redact-text').fill(`${'The weather was fine and they walked on. '.repeat(100)}Then they came to New York.`);
    await panel.locator('.found .label', { hasText: 'New York' }).waitFor({ state: 'attached' });
  });
});

describe('taking it along', () => {
  /** Runs the copied code in Node, with the model from the page's site. */
  async function resultOfCode(panel: Locator): Promise<unknown> {
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openDrawer(panel, 'code');
    await panel.locator('.copy-code').click();
    await panel.locator('.copy-code', { hasText: 'Copied' }).waitFor();
    const code = await visit.page.evaluate(() => navigator.clipboard.readText());
    expect(code).toContain("import { pipeline } from 'peruse';");
    const { pipeline } = await import('../../../web/dist/index_node.js');
    const body = code.replace(/^import.*$/m, '').replace('console.log(result)', 'return result');
    const run = new Function('pipeline', `return (async () => { ${body} })()`) as (p: typeof pipeline) => Promise<unknown>;
    return run(pipeline);
  }
  const percentOf = (score: number) => `${(100 * score).toFixed(1)}\u00a0%`;

  it('gives the redaction as code that does what the page did', async () => {
    const panel = await openTab('redact');
    await panel.locator('#redact-text').fill('It\u2019s "Mary Johnson", mary@example.org,\nfrom Oslo. Ask Priya.');
    await panel.locator('.redacted', { hasText: '[EMAIL_1]' }).waitFor();
    await answered(panel);
    const { text } = (await resultOfCode(panel)) as { text: string };
    expect(await panel.locator('.redacted').textContent()).toBe(text);
  });

  it('gives the sorting as code that does what the page did, with labels of one\u2019s own', async () => {
    const panel = await openTab('sort');
    await panel.locator('.more summary').click();
    await panel.locator('[name=multi]').check();
    await answered(panel);
    const results = (await resultOfCode(panel)) as { labels: string[]; scores: number[] }[];
    expect(await panel.locator('.sorted .tag').allTextContents()).toEqual(
      results.map(({ labels, scores }) => `${labels[0]} ${percentOf(scores[0]!)}`),
    );
  });

  it('gives the sorting as code that does what the page did, with the model of praise and complaint', async () => {
    const panel = await openReviews();
    await panel.locator('#sort-text').fill("It's a \u201cgem\u201d, really wonderful.");
    await answered(panel);
    const [[best]] = (await resultOfCode(panel)) as [[{ label: string; score: number }]];
    expect(await panel.locator('.headline').textContent()).toBe(`${best.label} ${percentOf(best.score)}`);
  });

  it('gives the question as code that does what the page did', async () => {
    const panel = await openTab('ask');
    const [best] = (await resultOfCode(panel)) as [{ answer: string; score: number }];
    expect(await panel.locator('.headline').textContent()).toBe(`${best.answer} ${percentOf(best.score)}`);
  });

  it('gives a link that carries the text, and opens such a link', async () => {
    const panel = await openTab('sort');
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('[name=text]').fill('Will it snow & rain in Oslo?');
    await panel.locator('[name=labels]').fill('weather, music');
    await panel.locator('.copy-link').click();
    await panel.getByText('Copied').waitFor();
    const link = await visit.page.evaluate(() => navigator.clipboard.readText());
    expect(link.startsWith(`${demo.url}#sort?`)).toBe(true);

    const other = await openTab(link.slice(demo.url.length + 1));
    expect(await other.locator('[name=text]').inputValue()).toBe('Will it snow & rain in Oslo?');
    expect(await other.locator('.headline strong').textContent()).toBe('weather');
    expect(visit.requests.some((address) => address.includes('Oslo'))).toBe(false);
  });

  it('gives a link to the redacted message, never to the message itself', async () => {
    const panel = await openTab('redact');
    await visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('[name=text]').fill('Mary Johnson: mary@example.org, card 4111\u00a01111\u00a01111\u00a01111.');
    await panel.locator('.redacted mark', { hasText: 'CARD_1' }).waitFor();
    await panel.locator('.copy-link').click();
    await panel.getByText('Copied').waitFor();
    const link = decodeURIComponent((await visit.page.evaluate(() => navigator.clipboard.readText())).replaceAll('+', ' '));
    expect(link).toContain('#redact?text=[PER_1]: [EMAIL_1], card [CARD_1].');
    expect(link).not.toMatch(/Mary|example|4111/);
  });
});

it('can be used by keyboard alone', async () => {
  visit = await demo.visit();
  visits.push(visit);
  const { page } = visit;
  const panel = page.locator('#redact');
  await answered(panel);
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('tab-redact');
  await page.keyboard.press('ArrowRight');
  expect(await focus()).toBe('tab-sort');
  expect(await panel.isVisible()).toBe(false);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-inside');
  await page.keyboard.press('Home');
  expect(await focus()).toBe('tab-redact');
  await page.keyboard.press('End');
  expect(await focus()).toBe('tab-inside');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-teach');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-ask');
  const ask = page.locator('#ask');
  await answered(ask);

  while ((await focus()) !== 'The lighthouse') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await ask.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
  await answered(ask);
  while ((await focus()) !== 'ask-document') await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('ask-question');
  while ((await focus()) !== 'What did the lamp burn until 1902?') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await ask.locator('.passages mark', { hasText: 'whale oil' }).waitFor();
  await answered(ask);
  while ((await focus()) !== 'Other answers, and where they stand') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await ask.locator('.candidates button').nth(1).getAttribute('aria-pressed')).toBe('true');
});
