import { make, withDirection } from './dom.js';
import { percent } from './format.js';

export function bars(labels: readonly { label: string; score: number }[]): HTMLElement[] {
  return labels.map(({ label, score }) => {
    const fill = make('span', 'fill');
    fill.style.setProperty('--score', String(score));
    const track = make('span', 'track', fill);
    track.setAttribute('aria-hidden', 'true');
    return make('li', '', withDirection(make('span', 'label', label)), track, make('span', 'score', percent(score)));
  });
}
