import type { Member } from '@stagi/contract/clients.ts';
import { text } from '@stagi/contract/text.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';

const HOLD_REASONS: Record<NonNullable<Member['hold']>, string> = {
  'more-power': text('Their role has permissions that yours does not'),
  'last-owner': text('A workspace needs an owner. Make somebody else its owner first.'),
};

/** Whether a membership may be changed or ended by whoever asks, and why not. */
export const memberVerdict = ({ hold }: Pick<Member, 'hold'>): Verdict =>
  hold === null ? { allowed: true } : { allowed: false, reason: HOLD_REASONS[hold] };
