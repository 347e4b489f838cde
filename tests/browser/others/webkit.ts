// Drives WebKitGTK by WebDriver, on a virtual screen (Xvfb).
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OtherBrowser } from './other_browser.js';

export const kWebKitDriver = process.env.PERUSE_WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

export async function startScreen(): Promise<{ display: string; child: ChildProcess }> {
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    child.stdio[3]!.once('data', (words) => resolve(String(words).trim()));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
  });
  return { display: `:${number}`, child };
}

async function command(base: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const init = { method, headers: { 'content-type': 'application/json' }, ...(body && { body: JSON.stringify(body) }) };
  const { value } = (await (await fetch(base + path, init)).json()) as { value: { error?: string; message?: string } | null };
  if (value?.error !== undefined) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

async function answering(base: string): Promise<void> {
  for (let attempt = 0; ; ++attempt) {
    try {
      await fetch(`${base}status`);
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

export function webKitEnvironment(display: string, home: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DISPLAY: display,
    GDK_BACKEND: 'x11',
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_DATA_HOME: join(home, 'data'),
    LIBGL_ALWAYS_SOFTWARE: '1',
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', // containers allow no namespaces
  };
}

export async function startWebKit(): Promise<OtherBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'peruse-webkit-'));
  const screen = await startScreen();
  const port = await freePort();
  const env = webKitEnvironment(screen.display, home);
  const driver = spawn(kWebKitDriver, [`--port=${port}`, '--host=127.0.0.1'], { env, stdio: 'ignore' });
  const base = `http://127.0.0.1:${port}/`;
  await answering(base);
  const { sessionId, capabilities } = (await command(base, 'POST', 'session', { capabilities: { alwaysMatch: {} } })) as {
    sessionId: string;
    capabilities: { browserVersion: string };
  };
  const session = `session/${sessionId}/`;
  await command(base, 'POST', `${session}timeouts`, { script: 120_000, pageLoad: 60_000 });
  return {
    version: capabilities.browserVersion,
    goto: async (url) => {
      await command(base, 'POST', `${session}url`, { url });
    },
    evaluate: async (expression) => {
      const script = `const done = arguments[0];
        (async () => JSON.stringify(await (${expression})))().then((text) => done({ text }), (error) => done({ error: String(error) }));`;
      const { text, error } = (await command(base, 'POST', `${session}execute/async`, { script, args: [] })) as {
        text: string;
        error?: string;
      };
      if (error !== undefined) throw new Error(error);
      return JSON.parse(text) as unknown;
    },
    perform: async (actions) => {
      await command(base, 'POST', `${session}actions`, { actions });
    },
    resize: async (width, height) => {
      await command(base, 'POST', `${session}window/rect`, { width, height });
    },
    screenshot: async () => Buffer.from((await command(base, 'GET', `${session}screenshot`)) as string, 'base64'),
    close: async () => {
      await command(base, 'DELETE', `session/${sessionId}`).catch(() => {});
      driver.kill();
      screen.child.kill();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
