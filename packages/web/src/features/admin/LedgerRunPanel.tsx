import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { RightPanel } from '../../ui/dialogs/RightPanel.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatNumber } from '../../ui/format.ts';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Admin.module.css';

/** What a run looked at, by the names of the counts. */
const COUNTS: Record<string, string> = {
  journals: text('Journals'),
  postings: text('Postings'),
  accounts: text('Accounts'),
  holds: text('Holds'),
  seals: text('Seals'),
  workspaces: text('Workspaces'),
  transactions: text('Transactions shown'),
  segments: text('Segments'),
  charges: text('Charges'),
  refunds: text('Refunds'),
  problems: text('Problems'),
};

/** In the order above; counts that this page does not know come last. */
const inOrder = (counts: LedgerRun['counts']): [string, number][] =>
  [...new Set([...Object.keys(COUNTS), ...Object.keys(counts)])].flatMap((name) => {
    const count = counts[name];
    return count === undefined ? [] : [[name, count] as [string, number]];
  });

/** What a verification looked at and found. */
export function LedgerRunPanel({ run: opened, onClose }: { run: LedgerRun | null; onClose(): void }) {
  const t = useT();
  return (
    <RightPanel of={opened} onClose={onClose} title={t('Verification')} testId="ledger-panel">
      {(run) => (
        <>
          <div className={classes.top}>
            <StatusBadge status={run.state} prominent />
          </div>
          {run.findings.length > 0 && (
            <section>
              <h3 className={classes.title}>{t('Discrepancies')}</h3>
              <ul className={classes.rows}>
                {run.findings.map(({ about, id, problem }) => (
                  <li key={`${about} ${id} ${problem}`}>
                    <span className={classes.row}>
                      <span className="mono">
                        {about} {id}
                      </span>
                      <span className={classes.small} lang="en">
                        {problem}
                      </span>
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <FactList
            facts={[
              { label: t('Started at'), value: <DateTime at={run.createdAt} /> },
              { label: t('Ended'), value: run.endedAt && <DateTime at={run.endedAt} /> },
              ...inOrder(run.counts).map(([name, count]) => ({
                label: t(COUNTS[name] ?? name),
                value: formatNumber(count),
                mono: true,
              })),
              ...(run.error ? [{ label: t('Error'), value: run.error, mono: true }] : []),
            ]}
          />
        </>
      )}
    </RightPanel>
  );
}
