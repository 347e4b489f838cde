#!/usr/bin/env node
// Sets up, builds, and serves the demo page: node tools/demo.mjs [port].
import { buildTypeScript, buildVariants } from './build.mjs';
import { serve } from './serve.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';
import { buildSite } from './site.mjs';

await runAsProgram(import.meta.url, async () => {
  await setup();
  await buildVariants();
  await buildTypeScript();
  let site;
  await step('demo page', () => void (site = buildSite()));
  const { url } = await serve(site, { port: Number(process.argv[2] ?? 8000) });
  console.log(`\nThe demo is at ${url} (Ctrl-C ends it)`);
});
