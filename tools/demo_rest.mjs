#!/usr/bin/env node
// Builds what the demo page does not need first, into the site that demo.mjs serves. At the end that site is the one of `npm run site`, but
// its documentation is that of `npm run docs`.
import { buildVariants } from './build.mjs';
import { bundle } from './bundle.mjs';
import { buildDocs } from './docs.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { step } from './setup/step.mjs';
import { buildSite, putPackage } from './site.mjs';
import { kFirstVariants, kVariants } from './variants.mjs';

await runAsProgram(import.meta.url, async () => {
  const made = [...kFirstVariants];
  for (const variant of kVariants.filter((one) => !kFirstVariants.includes(one))) {
    await buildVariants([variant]);
    made.push(variant);
    putPackage(made);
  }
  await step('bundles', () => bundle());
  await step('demo page with 8-bit models', () => buildSite({ pages: { docs: 'link' } }));
  // Not fatal: the page works without documentation.
  await buildDocs().catch((error) => console.warn(`The documentation could not be made: ${error.message}`));
});
