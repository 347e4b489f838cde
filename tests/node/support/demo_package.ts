export async function demoPackage(): Promise<string> {
  const module = new URL('../../../tools/demo_package.mjs', import.meta.url).href;
  const { buildDemoPackage } = (await import(module)) as { buildDemoPackage(): Promise<string> };
  return buildDemoPackage();
}
