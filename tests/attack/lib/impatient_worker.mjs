// How a worker starts whose waits are shorter (patience.mjs).
import { begin } from './patience.mjs';

await begin();
