import type { Selectable } from 'kysely';
import type { Context } from '../context.ts';
import type { MailTable } from '../db/schema.ts';
import type { MailText } from './layout.ts';

type MailContext = Pick<Context, 'secrets'>;

/** Encrypts a mail for storage, as it may have a code: reading the database must not be enough to use it. */
export function sealMail({ secrets }: MailContext, recipient: string, mail: MailText): string {
  return secrets.seal(JSON.stringify(mail), placeOf(recipient));
}

/** Decrypts a stored mail. Once it is sent its content is deleted. */
export function openMail({ secrets }: MailContext, row: Selectable<MailTable>): MailText {
  if (row.content_sealed !== null)
    return JSON.parse(secrets.open(row.content_sealed, placeOf(row.recipient))) as MailText;
  return { subject: row.subject ?? '', text: row.text_body ?? '', html: row.html_body ?? '' };
}

const placeOf = (recipient: string): string => `mail|content|${recipient}`;
