import type { Selectable } from 'kysely';
import type { Context } from '../context.ts';
import type { MailTable } from '../db/schema.ts';
import type { MailText } from './layout.ts';

type Ground = Pick<Context, 'secrets'>;

/** A mail as it is stored: who reads the database must not be able to finish somebody's sign-up. */
export function sealMail({ secrets }: Ground, recipient: string, mail: MailText): string {
  return secrets.seal(JSON.stringify(mail), placeOf(recipient));
}

/** A stored mail that has not been sent; a sent one has no content any more. */
export function openMail({ secrets }: Ground, row: Selectable<MailTable>): MailText {
  if (row.content_sealed !== null)
    return JSON.parse(secrets.open(row.content_sealed, placeOf(row.recipient))) as MailText;
  return { subject: row.subject ?? '', text: row.text_body ?? '', html: row.html_body ?? '' };
}

const placeOf = (recipient: string): string => `mail|content|${recipient}`;
