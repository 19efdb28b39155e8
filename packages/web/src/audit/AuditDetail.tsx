import type { AuditEntry } from '@stagi/contract/audit.ts';
import type { Quota } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { Fragment, type ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { QUOTA_WORDS } from '../i18n/quotaWords.ts';
import { DateTime } from '../ui/Time.tsx';
import classes from './Audit.module.css';

/** What figures and choices mean, which by themselves say nothing. */
const MEANS: Record<string, string> = {
  amount: text('Amount'),
  uses: text('Uses'),
  count: text('Count'),
  sshKeyId: text('SSH key'),
  invitedBy: text('Invited by'),
  expiresAt: text('Expires'),
  permissions: text('Permissions'),
  workspaceId: text('Workspace'),
  offerId: text('Offer'),
  app: text('App'),
  plan: text('Plan'),
  quotas: text('Own quotas'),
  dryRun: text('Only asked what would be removed'),
  terminate: text('Servers that cannot stop were terminated'),
  broken: text('Broken at entry'),
  before: text('Before entry'),
  from: text('From'),
  to: text('To'),
  userIds: text('Who'),
  areas: text('About'),
  outcomes: text('Outcome'),
};

const IS_TIME = new Set(['expiresAt', 'from', 'to']);
const IS_ID = new Set(['sshKeyId', 'workspaceId', 'userIds']);

/** Why it was refused, then names and choices of the act that the thing's own name does not say already. */
export function AuditDetail({ detail: { message, names, ...told }, object }: Pick<AuditEntry, 'detail' | 'object'>) {
  const t = useT();
  const named = (names ?? {}) as Record<string, unknown>;
  const parts: ReactNode[] = typeof message === 'string' ? [t(message)] : [];
  for (const [name, value] of Object.entries(told)) {
    const part = value === object?.label ? null : meaning(name, value);
    if (part !== null) parts.push(part);
  }
  if (parts.length === 0) return <span className="muted">—</span>;
  return (
    <span className={classes.detail}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry never changes
        <Fragment key={index}>
          {index > 0 && ' · '}
          {part}
        </Fragment>
      ))}
    </span>
  );

  function limits(value: unknown): string {
    return Object.entries(value as Record<string, number | null>)
      .map(([quota, limit]) => {
        const word = Object.hasOwn(QUOTA_WORDS, quota) ? t(QUOTA_WORDS[quota as Quota]) : quota;
        return `${word} ${limit === null ? t('no limit') : limit}`;
      })
      .join(', ');
  }

  function meaning(name: string, value: unknown): ReactNode {
    const word = MEANS[name] && t(MEANS[name]);
    if (typeof value === 'boolean') return value ? (word ?? name) : null;
    const shown =
      name === 'quotas' ? limits(value) : typeof named[name] === 'string' ? named[name] : plainly(name, value);
    if (shown === '') return null;
    if (name === 'role' || name === 'roleName') return t(shown);
    if (!word) return shown;
    return (
      <>
        {word}: {IS_TIME.has(name) ? <DateTime at={shown} /> : shown}
      </>
    );
  }
}

/** An id whose name is not known any more is marked as one. */
function plainly(name: string, value: unknown): string {
  if (!Array.isArray(value)) return IS_ID.has(name) && typeof value === 'number' ? `#${value}` : String(value ?? '');
  return value.map((one) => plainly(name, one)).join(', ');
}
