import type { Db } from '../db/schema.ts';
import { endRightsOfApp } from '../rights/endRights.ts';
import { revokeSessionsQuery } from '../sessions/sessions.ts';

/** Ends the session of an app, with the access keys and links that it made. False: it had ended before. */
export async function shutOut(trx: Db, sessionId: string, reason: string): Promise<boolean> {
  await endRightsOfApp(trx, sessionId);
  const { numUpdatedRows } = await revokeSessionsQuery(trx, reason).where('id', '=', sessionId).executeTakeFirst();
  return numUpdatedRows > 0n;
}
