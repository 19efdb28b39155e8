import type { Seats } from './invites.ts';
import type { Plan } from './user.ts';

/** Members that a workspace may have; `null`: as many as one likes. */
export const SEATS: Record<Plan, number | null> = { Free: 2, Individual: 3, Team: 8, Enterprise: null };

/** Whether nobody more may join. */
export const isFull = ({ used, limit }: Pick<Seats, 'used' | 'limit'>): boolean => limit !== null && used >= limit;
