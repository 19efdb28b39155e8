import { z } from 'zod';
import { call } from './call.ts';
import { oneOf } from './page.ts';

/**
 * The ways in which a mail server fails. `unreachable`: no connection; `silent`: no answer; `tls`: no secure connection,
 * or a certificate that is not accepted; `sign-in`: it refuses user or password; `refused`: it refuses the connection
 * itself; `sender`: it refuses the address of `MAIL_FROM`.
 */
export const MAIL_FAILURE_REASONS = ['unreachable', 'silent', 'tls', 'sign-in', 'refused', 'sender'] as const;
export type MailFailureReason = (typeof MAIL_FAILURE_REASONS)[number];

const SystemMail = z.object({
  /**
   * `none`: no mail server is configured, and nothing is sent; `outbox`: the same, and the mails are shown to developers;
   * `unchecked`: no process has looked for some minutes.
   */
  state: z.enum(['working', 'failing', 'unchecked', 'none', 'outbox']),
  reason: z.enum(MAIL_FAILURE_REASONS).nullable(),
  /** The words of the mail server, or of the system. */
  detail: z.string().nullable(),
  /** The start of this state. */
  since: z.string().nullable(),
  checkedAt: z.string().nullable(),
  /** Mails that were not tried yet, and those whose last try failed; each counted up to 10,000. */
  waiting: z.number().int(),
  failed: z.number().int(),
  /** The age of the oldest that waits. */
  oldestSeconds: z.number(),
});

const SystemState = z.object({ mail: SystemMail });
export type SystemState = z.infer<typeof SystemState>;

export const adminSystem = {
  view: call({
    path: 'admin/system/view',
    summary: 'The state of the platform itself: of its mail server, and of the mails that it has not sent yet.',
    auth: ['EMPLOYEE'],
    input: z.object({}),
    output: oneOf(SystemState),
  }),
};
