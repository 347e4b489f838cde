// What the training engine computes for an explanation (core/train/session/teach_session.h).

export type GradientRequest = (
  | { text: string; pair?: string; label?: string; entailment?: boolean }
  | { question: string; context: string; answer: { start: number; end: number } }
) & { steps?: number };

export interface GradientResult {
  value: number;
  baseline_value: number;
  tokens: { start: number; end: number; sequence: 0 | 1 | null; score: number }[];
}

export type ExplainGradient = (request: GradientRequest, signal?: AbortSignal) => Promise<GradientResult>;
