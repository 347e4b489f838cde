#!/usr/bin/env node
// Sets up, builds, and serves the demo page: node tools/demo.mjs [port].
import { buildTypeScript, buildVariants } from './build.mjs';
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
  const { serveFolders } = await import('../web/dist/cli/static_server.js');  // Was built just now.
  const { url } = await serveFolders({ '/': site }, { port: Number(process.argv[2] ?? 8000) });
  console.log(`\nThe demo is at ${url} (Ctrl-C ends it)`);
});
