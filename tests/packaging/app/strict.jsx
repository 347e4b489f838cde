// A React app in strict mode: while it is developed, React mounts, unmounts and mounts every component again.
import { pipeline } from 'peruse';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { work } from './work.js';

globalThis.seen = { mounted: 0, aborted: 0, others: [] };

function Label() {
  const [label, setLabel] = useState('');
  useEffect(() => {
    const { seen } = globalThis;
    seen.mounted += 1;
    const controller = new AbortController();
    let classify;
    pipeline('text-classification', './models/classifier/', { signal: controller.signal })
      .then(async (loaded) => {
        classify = loaded;
        setLabel((await classify('t1 t2'))[0].label);
      })
      .catch((error) => {
        if (error.code === 'aborted') seen.aborted += 1;
        else seen.others.push(String(error));
      });
    return () => {
      controller.abort();
      classify?.dispose();
    };
  }, []);
  return <p id="label">{label}</p>;
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <StrictMode>
    <Label />
  </StrictMode>,
);

globalThis.work = async () => {
  while (document.getElementById('label').textContent === '') await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...(await work(pipeline)), ...globalThis.seen };
};
