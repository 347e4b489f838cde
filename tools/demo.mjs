#!/usr/bin/env node
// Sets up, builds, and serves the demo page: node tools/demo.mjs [port].
import { buildLibrary } from './build.mjs';
import { buildDocs, docsIfMade } from './docs.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';
import { buildSite } from './site.mjs';

await runAsProgram(import.meta.url, async () => {
  await setup();
  await buildLibrary();
  let site;
  await step('demo page', () => {
    site = buildSite();
  });
  // The page does not need it: without a registry to install TypeDoc from, it goes on.
  await buildDocs().catch((error) => console.warn(`The documentation could not be made: ${error.message}`));
  const { serveFolders } = await import('../web/dist/cli/static_server.js'); // Was built just now.
  const { url } = await serveFolders({ '/': site, ...docsIfMade() }, { port: Number(process.argv[2] ?? 8000) });
  console.log(`\nThe demo is at ${url}, the documentation at ${url}docs/ (Ctrl-C ends it)`);
});
