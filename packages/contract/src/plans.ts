import type { Seats } from './invites.ts';

/** Whether no seat is free. */
export const isFull = ({ used, limit }: Pick<Seats, 'used' | 'limit'>): boolean => limit !== null && used >= limit;
