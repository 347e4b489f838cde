// The C and C++ sources that Peruse uses. Each is pinned by the sha256 of Debian's copy, and by the upstream commit for machines without a mirror of Debian.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cachedFolder, flatten, verify } from './cache.mjs';
import { downloadFromPool } from './debian.mjs';
import { capture } from './exec.mjs';

// `pool` is a path under pool/main of a Debian mirror.
export const kSources = [
  {
    name: 'xnnpack',
    pool: 'x/xnnpack/xnnpack_0.0~git20241108.4ea82e5.orig.tar.xz',
    sha256: '90bde2caef0f880f627bab0dc805a86c4b8070cd98e3243db3046ab3f3be1a99',
    git: 'https://github.com/google/XNNPACK.git',
    commit: '4ea82e595b36106653175dcb04b2aa532660d0d8',
  },
  {
    name: 'pthreadpool',
    pool: 'p/pthreadpool/pthreadpool_0.0~git20240616.560c60d.orig.tar.xz',
    sha256: '4cc3cbd933b28131d2a34edc54f76af9fb41bc490af5eae1a5bd3cd07ea90708',
    git: 'https://github.com/google/pthreadpool.git',
    commit: '560c60d342a76076f0557a3946924c6478470044',
  },
  {
    name: 'fp16',
    pool: 'f/fp16/fp16_0.0~git20200514.4dfe081.orig.tar.xz',
    sha256: '7d7782b37b74136e0e12593a2a93ccbe7db831f4374cc408e44623d9b708b54e',
    git: 'https://github.com/Maratyszcza/FP16.git',
    commit: '4dfe081cf6bcd15db339cf2680b9281b8451eeb3',
  },
  {
    name: 'fxdiv',
    pool: 'f/fxdiv/fxdiv_0.0~git20200417.b408327.orig.tar.xz',
    sha256: '7953482badaf4cb34026c3487c257b8e4ab2df061c019bd6fabbbc12ad52c44b',
    git: 'https://github.com/Maratyszcza/FXdiv.git',
    commit: 'b408327ac2a15ec3e43352421954f5b1967701d1',
  },
  {
    name: 'utf8proc',
    pool: 'u/utf8proc/utf8proc_2.8.0.orig.tar.gz',
    sha256: 'a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc',
    git: 'https://github.com/JuliaStrings/utf8proc.git',
    commit: '1cb28a66ca79a0845e99433fd1056257456cef8b', // v2.8.0
  },
  {
    name: 'highway',
    pool: 'h/highway/highway_1.2.0.orig.tar.gz',
    sha256: '7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343',
    git: 'https://github.com/google/highway.git',
    commit: '457c891775a7397bdb0376bb1031e6e027af1c48', // 1.2.0
  },
  {
    // The binary package, because release 1.1.0 does not compile with current compilers.
    name: 'rapidjson',
    pool: 'r/rapidjson/rapidjson-dev_1.1.0+dfsg2-7.4_all.deb',
    sha256: 'bae757b6f8c3bac0cad89877d34f125e5533ec27e61d38dc66559a7b8a0e46bf',
    git: 'https://github.com/Tencent/rapidjson.git',
    commit: '24b5e7a8b27f42fa16b96fc70aade9106cf7102f',
  },
  {
    name: 'googletest',
    pool: 'g/googletest/googletest_1.16.0.orig.tar.gz',
    sha256: '2f54382b5d13d6cd0be2afc524f1e510d37f8ba78c2d439c5bea64ef37e30d01',
    git: 'https://github.com/google/googletest.git',
    commit: '6910c9d9165801d8827d628cb72eb7ea9dd538c5', // v1.16.0
  },
];

function unpackFromDebian(source, folder) {
  const downloads = join(cacheDir, 'downloads');
  mkdirSync(downloads, { recursive: true });
  const archive = join(downloads, source.pool.split('/').at(-1)); // also protected by the lock on `folder`
  downloadFromPool(source.pool, archive, source.sha256);
  verify(archive, source.sha256);
  if (archive.endsWith('.deb')) capture('dpkg', ['-x', archive, folder]);
  else capture('tar', ['-xf', archive, '-C', folder]);
  flatten(folder);
  rmSync(archive);
}

function fetchFromUpstream(source, folder) {
  const git = (...args) => capture('git', ['-C', folder, '-c', 'advice.detachedHead=false', ...args]);
  git('init', '-q');
  git('fetch', '-q', '--depth', '1', source.git, source.commit);
  git('checkout', '-q', 'FETCH_HEAD');
  const head = git('rev-parse', 'HEAD').trim();
  if (head !== source.commit) throw new Error(`${source.git}: got ${head}, not ${source.commit}`);
}

/** Fetches the sources that the cache lacks. Returns { folders: name -> path, fetched: names }. */
export function fetchSources(useDebian) {
  const folders = {};
  const fetched = [];
  for (const source of kSources) {
    const key = useDebian ? source.sha256 : source.commit;
    const { folder, fresh } = cachedFolder(`source/${source.name}`, key, (partial) =>
      useDebian ? unpackFromDebian(source, partial) : fetchFromUpstream(source, partial),
    );
    folders[source.name] = folder;
    if (fresh) fetched.push(source.name);
  }
  return { folders, fetched };
}
