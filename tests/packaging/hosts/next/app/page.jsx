'use client';
// A client component, mounted, unmounted and mounted again by React's strict mode while it is developed.
import { pipeline } from 'peruse';
import { useEffect, useState } from 'react';
import '../main.js';

export default function Page() {
  const [label, setLabel] = useState('');
  useEffect(() => {
    const controller = new AbortController();
    const loading = pipeline('text-classification', '/models/classifier/', { signal: controller.signal });
    loading
      .then((classify) => classify('t1 t2'))
      .then(([first]) => setLabel(first.label))
      .catch((error) => {
        if (error.code !== 'aborted') throw error;
      });
    return () => {
      controller.abort();
      loading.then((classify) => classify.dispose()).catch(() => {});
    };
  }, []);
  return <p id="label">{label}</p>;
}
