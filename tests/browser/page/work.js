// Loads, calls and disposes of two models.
export async function work(pipeline, options = {}) {
  const classify = await pipeline('text-classification', './models/classifier/', options);
  const labels = await classify('t1 t2 t3');
  const answer = await pipeline('question-answering', new URL('/models/reader', location.href), options);
  const best = await answer('t1 t2', 't5 t6 t7 t8');
  const { variant, threads, device, reason, worker } = classify.info;
  await classify.dispose();
  await answer.dispose();
  return { labels, best, variant, threads, device, reason, worker };
}
