import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OtherBrowser } from './other_browser.js';

export const kFirefoxPath = process.env.PERUSE_FIREFOX ?? '/usr/bin/firefox-esr';

const kSettings = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'remote.prefs.recommended': true,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

interface Answer {
  id?: number;
  type: 'success' | 'error' | 'event';
  result?: Record<string, unknown>;
  message?: string;
}

class Bidi {
  private nextId_ = 1;
  private readonly waiting_ = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }>();

  constructor(private readonly socket_: WebSocket) {
    socket_.onmessage = (event) => {
      const answer = JSON.parse(String(event.data)) as Answer;
      const waiting = this.waiting_.get(answer.id ?? 0);
      if (answer.type === 'error') waiting?.reject(new Error(answer.message));
      else waiting?.resolve(answer.result ?? {});
    };
  }

  send(method: string, params: object): Promise<Record<string, unknown>> {
    const id = this.nextId_++;
    this.socket_.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.waiting_.set(id, { resolve, reject }));
  }
}

async function connect(url: string): Promise<Bidi> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`${url} does not answer`));
  });
  return new Bidi(socket);
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let words = '';
    child.stderr!.on('data', (some) => {
      words += some;
      const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(words) ?? [];
      if (url !== undefined) resolve(`${url}/session`);
    });
    child.once('exit', (code) => reject(new Error(`Firefox ended with ${code}: ${words}`)));
  });
}

export async function startFirefox(): Promise<OtherBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'peruse-firefox-'));
  const lines = Object.entries(kSettings).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
  await writeFile(join(profile, 'user.js'), lines.join('\n'));
  const args = ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile, 'about:blank'];
  const child = spawn(kFirefoxPath, args, { env: { ...process.env, HOME: profile, MOZ_HEADLESS: '1' } });
  const bidi = await connect(await addressOf(child));
  const session = await bidi.send('session.new', { capabilities: {} });
  const { context } = await bidi.send('browsingContext.create', { type: 'tab' });
  return {
    version: (session.capabilities as { browserVersion: string }).browserVersion,
    goto: async (url) => {
      await bidi.send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    evaluate: async (expression) => {
      const asked = { expression: `(async () => JSON.stringify(await (${expression})))()`, target: { context }, awaitPromise: true };
      const { type, result, exceptionDetails } = await bidi.send('script.evaluate', asked);
      if (type !== 'success') throw new Error((exceptionDetails as { text: string }).text);
      return JSON.parse((result as { value: string }).value) as unknown;
    },
    perform: async (actions) => {
      await bidi.send('input.performActions', { context, actions });
    },
    resize: async (width, height) => {
      await bidi.send('browsingContext.setViewport', { context, viewport: { width, height } });
    },
    screenshot: async () => {
      const { data } = await bidi.send('browsingContext.captureScreenshot', { context });
      return Buffer.from(data as string, 'base64');
    },
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
      await rm(profile, { recursive: true, force: true });
    },
  };
}
