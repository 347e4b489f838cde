// A server component: the model runs in Node.
import { pipeline } from 'peruse';

export const dynamic = 'force-dynamic';

export default async function Page() {
  const classify = await pipeline('text-classification', './public/models/classifier');
  const [{ label }] = await classify('t1 t2');
  await classify.dispose();
  return <p id="label">{label}</p>;
}
