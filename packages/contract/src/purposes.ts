/** What somebody wants to do here, as they said at the start. */
export const PURPOSES = ['training', 'inference', 'research', 'learning', 'other'] as const;
export type Purpose = (typeof PURPOSES)[number];
