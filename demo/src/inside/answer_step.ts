// The last step of "Look inside" for questions: where the answer may begin and end, and how it changes when words are hidden.
import type { QuestionAnsweringCall, TextPair } from '../../peruse/peruse.js';
import { make } from '../dom.js';
import { percent } from '../format.js';
import { HideView } from './hide_view.js';
import type { LastStep, Say } from './inside.js';
import { kSpans, spanChart } from './span_chart.js';

export async function answerStep(answer: QuestionAnsweringCall, { text, text_pair }: TextPair): Promise<LastStep> {
  const answers = await answer(text, text_pair, { top_k: kSpans, align_to_words: false });
  const say: Say = async (words, heads) => {
    const best = await answer(text, words, { ...heads });
    return `${best.answer}, ${percent(best.score)}`;
  };
  const hide = new HideView(text_pair, say);
  return {
    sentence: 'Every word gets a chance to begin the answer and one to end it; the best pair is the answer. Hide words and see it move.',
    element: make('div', 'inside-column', spanChart(text_pair, answers), hide.element),
    text: text_pair,
    say,
  };
}
