#!/usr/bin/env node
// Builds what the demo page's first visitor did not need, into the site that is served meanwhile (demo.mjs).
import { buildVariants } from './build.mjs';
import { bundle } from './bundle.mjs';
import { buildDocs } from './docs.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { step } from './setup/step.mjs';
import { putPackage } from './site.mjs';
import { kFirstVariants, kVariants } from './variants.mjs';

await runAsProgram(import.meta.url, async () => {
  const made = [...kFirstVariants];
  for (const variant of kVariants.filter((one) => !kFirstVariants.includes(one))) {
    await buildVariants([variant]);
    made.push(variant);
    putPackage(made);
  }
  await step('bundles', () => bundle());
  putPackage();
  // The page works without the documentation, so a failure to install TypeDoc is not fatal.
  await buildDocs().catch((error) => console.warn(`The documentation could not be made: ${error.message}`));
});
