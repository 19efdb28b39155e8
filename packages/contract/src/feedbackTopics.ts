import { text } from './text.ts';
export const FEEDBACK_TOPICS = [
  text('Report an issue'),
  text('Suggest a feature'),
  text('Ask a question'),
  text('Something else'),
] as const;
