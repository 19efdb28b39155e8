/** Whether an action is possible now, and why not. The reason is an English text that the app translates. */
export type Verdict = { allowed: true } | { allowed: false; reason: string };

export const yes: Verdict = { allowed: true };
export const no = (reason: string): Verdict => ({ allowed: false, reason });
