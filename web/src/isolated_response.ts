/** Values of Cross-Origin-Embedder-Policy that isolate. */
export type Embedder = 'require-corp' | 'credentialless';

const kNeedHeaders = ['document', 'iframe', 'frame', 'worker', 'sharedworker'];

export function decidesIsolation({ destination }: Pick<Request, 'destination'>): boolean {
  return kNeedHeaders.includes(destination);
}

/** Adds the headers of isolation. Returns opaque responses unchanged. */
export function isolated(response: Response, embedder: Embedder): Response {
  if (response.status === 0 || response.type === 'opaqueredirect') return response;
  try {
    const headers = new Headers(response.headers);
    headers.set('Cross-Origin-Embedder-Policy', embedder);
    headers.set('Cross-Origin-Opener-Policy', 'same-origin');
    headers.set('Cross-Origin-Resource-Policy', 'same-origin');
    const { status, statusText } = response;
    return new Response([204, 205, 304].includes(status) ? null : response.body, { status, statusText, headers });
  } catch {
    return response;
  }
}
