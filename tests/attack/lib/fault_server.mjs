import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const kFaults = {
  nothing: () => {},
  reset: (_, response) => response.destroy(),
  'status 404': (_, response) => response.writeHead(404).end('no'),
  'status 500': (_, response) => response.writeHead(500).end('no'),
  'status 503': (_, response) => response.writeHead(503, { 'retry-after': '0' }).end(),
  'status 429': (_, response) => response.writeHead(429, { 'retry-after': '99999' }).end(),
  'status 401': (_, response) => response.writeHead(401).end(),
  'status 204': (_, response) => response.writeHead(204).end(),
  'a page': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  'a page as JSON': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html></html>'),
  'redirect to itself': (_, response) => response.writeHead(302, { location: '' }).end(),
  'redirect to nonsense': (_, response) => response.writeHead(302, { location: 'http://[' }).end(),
  'redirect elsewhere': (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/x' }).end(),
  'too short': (body, response) => cut(response, body, body.length),
  'reset midway': (body, response) => {
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, body.length >> 1), () => response.destroy());
  },
  'stops midway': (body, response) => {
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, body.length >> 1));
  },
  'no length': (body, response) => {
    response.writeHead(200);
    response.write(body.subarray(0, 10));
    response.end(body.subarray(10));
  },
  gzip: (body, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
  'gzip that is none': (body, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
  'damaged gzip': (body, response, random) => {
    const zipped = gzipSync(body);
    zipped[10 + random.below(zipped.length - 10)] ^= 0x40;
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped);
  },
  'a wrong hash': (body, response) => response.writeHead(200, { etag: `"${'0'.repeat(64)}"` }).end(body),
  'one bit': (body, response, random) => {
    const wrong = Buffer.from(body);
    wrong[random.below(wrong.length)] ^= 1 << random.below(8);
    response.writeHead(200).end(wrong);
  },
  'byte by byte': (body, response) => {
    response.writeHead(200, { 'content-length': body.length });
    for (const byte of body.subarray(0, 200)) response.write(Buffer.of(byte));
    response.end(body.subarray(200));
  },
  'strange headers': (body, response) =>
    response
      .writeHead(200, { etag: 'W/"\u00e9', 'last-modified': 'never', 'content-type': '', 'x-linked-etag': 'x'.repeat(5000) })
      .end(body),
};

function cut(response, body, announced) {
  response.writeHead(200, { 'content-length': announced });
  response.write(body.subarray(0, body.length - 1), () => response.socket?.end());
}

export async function startFaultServer(random) {
  let files = {};
  let probability = 0;
  const counts = {};
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url.split('?')[0].split('/').pop());
    const body = files[name] && Buffer.from(files[name]);
    if (random.chance(probability)) {
      const fault = random.pick(Object.keys(kFaults));
      counts[fault] = (counts[fault] ?? 0) + 1;
      return void kFaults[fault](typeof body === 'object' ? body : Buffer.from('{}'), response, random);
    }
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-length': body.length, 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT' });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    counts,
    serve: (nextFiles, nextProbability) => {
      files = nextFiles;
      probability = nextProbability;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
