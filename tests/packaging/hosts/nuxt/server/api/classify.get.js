import { pipeline } from 'peruse';

let classify;

export default defineEventHandler(async (event) => {
  const { text, model, worker } = getQuery(event);
  classify ??= pipeline('text-classification', String(model), { worker: worker === 'true' }).catch((error) => {
    classify = undefined;
    throw error;
  });
  const labels = await (await classify)(String(text));
  return { labels, info: (await classify).info };
});
