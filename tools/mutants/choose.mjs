import { createHash } from 'node:crypto';

/**
 * `count` of the places, in an order that `seed` decides. Each place keeps its rank while its line stays the same, so a change of another line of the
 * sources chooses no other places. A place has a `file` and a `change`, which holds the code.
 */
export function chosen(places, count, seed) {
  const times = new Map();
  const ranked = places.map((place) => {
    const key = `${place.file} ${place.change}`;
    const time = times.get(key) ?? 0; // equal lines of a file
    times.set(key, time + 1);
    return { place, rank: createHash('sha256').update(`${seed} ${key} ${time}`).digest('hex') };
  });
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ place }) => place);
}
