export const FEEDBACK_TOPICS = ['Report an issue', 'Suggest a feature', 'Ask a question', 'Something else'] as const;
