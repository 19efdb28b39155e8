/** What a new user wants to do, from the questions after the sign-up. */
export const PURPOSES = ['training', 'inference', 'research', 'learning', 'other'] as const;
export type Purpose = (typeof PURPOSES)[number];
