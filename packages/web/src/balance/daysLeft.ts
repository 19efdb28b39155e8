/** The indicator is for the last two weeks only. */
export const DAYS_LEFT_SHOWN_AT = 14;

export type DaysLeft = { is: 'under a day' } | { is: 'none' } | { is: 'days'; count: number };

/** What the days-left indicator says (specification section 9); null when it is not shown. */
export function daysLeft(days: number | null, balanceUsd: string): DaysLeft | null {
  if (days === null) return null;
  const whole = Math.floor(days);
  if (whole > DAYS_LEFT_SHOWN_AT) return null;
  if (whole > 0) return { is: 'days', count: whole };
  return Number(balanceUsd) > 0 ? { is: 'under a day' } : { is: 'none' };
}
