'use client';
// A client component, mounted, unmounted and mounted again by React's strict mode while it is developed.
import { pipeline } from 'peruse';
import { useEffect, useState } from 'react';
import { work } from '../work.js';

export default function Page() {
  const [label, setLabel] = useState('');
  useEffect(() => {
    globalThis.work = () => work(pipeline);
    const controller = new AbortController();
    let classify;
    pipeline('text-classification', '/models/classifier/', { signal: controller.signal })
      .then(async (loaded) => {
        classify = loaded;
        setLabel((await classify('t1 t2'))[0].label);
      })
      .catch((error) => {
        if (error.code !== 'aborted') throw error;
      });
    return () => {
      controller.abort();
      classify?.dispose();
    };
  }, []);
  return <p id="label">{label}</p>;
}
