import { existsSync } from 'node:fs';
import { which } from './exec.mjs';

export function findChromium() {
  const path = process.env.CHROME_PATH || which('chromium') || which('chromium-browser') || which('google-chrome');
  const icd = ['/usr/lib/chromium/vk_swiftshader_icd.json', '/usr/share/chromium/vk_swiftshader_icd.json'].find(existsSync);
  return { path: path ?? null, swiftshaderIcd: icd ?? null };
}
