// Reads the release and the mirror from this machine's apt, and opens other releases.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture, which } from './exec.mjs';

const kRelease = '/etc/os-release';
const kKeyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The first releases whose packages suffice: an LLVM 19, and on Ubuntu also an Emscripten. */
const kOldest = { debian: 12, ubuntu: 25.1 }; // Ubuntu 25.10

/** { id, release } of the text of /etc/os-release, if set-up can install all that a build needs by apt; undefined elsewhere. */
export function aptSystemOf(text) {
  const id = /^ID=(debian|ubuntu)$/m.exec(text)?.[1];
  const release = Number(/^VERSION_ID="?(\d+(?:\.\d+)?)/m.exec(text)?.[1]);
  return release >= kOldest[id] ? { id, release } : undefined;
}

export function aptSystem() {
  return existsSync(kRelease) && which('apt-get') ? aptSystemOf(readFileSync(kRelease, 'utf8')) : undefined;
}

/** Every (address, suite) pair in apt's sources, from one-line `.list` and deb822 `.sources` files. */
export function parseSources(text, isDeb822) {
  const pairs = [];
  if (isDeb822) {
    for (const stanza of text.split(/\n\s*\n/)) {
      const fields = new Map();
      let last = '';
      for (const line of stanza.split('\n')) {
        if (line.startsWith('#')) continue;
        const field = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
        if (field) {
          last = field[1].toLowerCase();
          fields.set(last, field[2].trim());
        } else if (/^\s/.test(line) && last) fields.set(last, `${fields.get(last)} ${line.trim()}`);
      }
      if (/^no$/i.test(fields.get('enabled') ?? '')) continue;
      for (const uri of (fields.get('uris') ?? '').split(/\s+/).filter(Boolean))
        for (const suite of (fields.get('suites') ?? '').split(/\s+/).filter(Boolean)) pairs.push({ uri, suite });
    }
  } else {
    for (const line of text.split('\n')) {
      const entry = /^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/.exec(line);
      if (entry) pairs.push({ uri: entry[1], suite: entry[2] });
    }
  }
  return pairs;
}

/** Whether files of Debian can be downloaded: from the mirror of Debian's own apt, or from the one that PERUSE_DEBIAN_MIRROR names. */
export function hasDebianMirror(system, { PERUSE_DEBIAN_MIRROR: named } = process.env) {
  return system?.id === 'debian' || (system !== undefined && Boolean(named));
}

function debianMirror() {
  const named = process.env.PERUSE_DEBIAN_MIRROR;
  if (named) return named.replace(/\/+$/, '');
  const files = ['/etc/apt/sources.list'];
  const parts = '/etc/apt/sources.list.d';
  if (existsSync(parts))
    files.push(
      ...readdirSync(parts)
        .sort()
        .map((name) => join(parts, name)),
    );
  const codename = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync(kRelease, 'utf8'))?.[1];
  for (const file of files) {
    if (!existsSync(file) || !/\.(list|sources)$/.test(file)) continue;
    for (const { uri, suite } of parseSources(readFileSync(file, 'utf8'), file.endsWith('.sources')))
      if ([codename, 'stable', 'oldstable'].includes(suite) && !/security/.test(uri)) return uri.replace(/\/+$/, '');
  }
  throw new Error(`no Debian mirror for ${codename} in /etc/apt/sources.list or ${parts}`);
}

export function downloadFromPool(poolPath, file, pin) {
  const quoted = poolPath.replaceAll('~', '%7e').replaceAll('+', '%2b');
  capture('/usr/lib/apt/apt-helper', ['download-file', `${debianMirror()}/pool/main/${quoted}`, file, `SHA256:${pin}`]);
}

/** Configures apt for another release, outside the system. Returns a function that downloads its packages and checks signatures. */
export function privateRelease(suite, stateDir) {
  const sources = join(stateDir, `${suite}.sources`);
  for (const folder of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(stateDir, folder), { recursive: true });
  writeFileSync(sources, `Types: deb\nURIs: ${debianMirror()}\nSuites: ${suite}\nComponents: main\nSigned-By: ${kKeyring}\n`);
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(stateDir, 'lists'),
    'Dir::Cache': join(stateDir, 'cache'),
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'Debug::NoLocking': '1',
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  return (packages, folder) => {
    capture('apt-get', [...options, '-q', 'update']);
    capture('apt-get', [...options, '-q', 'download', ...packages], { cwd: folder });
  };
}
