'use client';
// A field whose text a worker classifies at each input, as programs for transformers.js do.
import { useEffect, useRef, useState } from 'react';

export default function Feedback() {
  const worker = useRef(null);
  const [isReady, setReady] = useState(false);
  const [answer, setAnswer] = useState(null);
  useEffect(() => {
    worker.current ??= new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    const show = ({ data }) => data.status === 'complete' && setAnswer(data);
    worker.current.addEventListener('message', show);
    setReady(true);
    return () => worker.current.removeEventListener('message', show);
  }, []);
  return (
    <main>
      <input id="opinion" disabled={!isReady} onInput={(event) => worker.current.postMessage({ text: event.target.value })} />
      <pre id="answer">{JSON.stringify(answer)}</pre>
    </main>
  );
}
