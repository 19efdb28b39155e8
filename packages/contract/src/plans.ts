import type { Seats } from './invites.ts';
import type { Plan } from './user.ts';

/** Seats: how many members a workspace may have; `null`: unlimited. */
export const SEATS: Record<Plan, number | null> = { Free: 2, Individual: 3, Team: 8, Enterprise: null };

/** Whether no seat is free. */
export const isFull = ({ used, limit }: Pick<Seats, 'used' | 'limit'>): boolean => limit !== null && used >= limit;
