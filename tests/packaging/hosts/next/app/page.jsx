'use client';
import '../main.js';

export default function Page() {
  return <h1>Peruse in Next.js</h1>;
}
