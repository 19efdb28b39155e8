import type { Chunk } from 'parse-diff';
import { Fragment, useMemo } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import type { Part } from './changedParts.ts';
import diff from './Diff.module.css';
import { type DiffLine, type DiffRow, splitRows, unifiedRows } from './diffRows.ts';

interface Props {
  chunks: readonly Chunk[];
  path: string;
  isSplit: boolean;
}

/** The changed lines of a file with those around them. */
export function DiffTable({ chunks, path, isSplit }: Props) {
  const t = useT();
  const rows = useMemo(() => (isSplit ? splitRows(chunks) : unifiedRows(chunks)), [chunks, isSplit]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section className={diff.scroll} tabIndex={0} aria-label={t('Changed lines of {{name}}', { name: path })}>
      <table className={diff.table} data-split={isSplit || undefined} data-testid="diff-table">
        {isSplit && (
          <colgroup>
            <col className={diff.numberColumn} />
            <col />
            <col className={diff.numberColumn} />
            <col />
          </colgroup>
        )}
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
            <Fragment key={at}>{isSplit ? <SplitRow row={row} /> : <UnifiedRow row={row} />}</Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function UnifiedRow({ row }: { row: DiffRow }) {
  if (row.kind === 'hunk') return <Hunk text={row.text} columns={3} />;
  const { before, after } = row;
  const line = after ?? before;
  if (!line) return null;
  return (
    <tr data-kind={line.kind}>
      <td className={diff.number}>{before?.number}</td>
      <td className={diff.number}>{after?.number}</td>
      <Line line={line} />
    </tr>
  );
}

function SplitRow({ row }: { row: DiffRow }) {
  if (row.kind === 'hunk') return <Hunk text={row.text} columns={4} />;
  const { before, after } = row;
  return (
    <tr>
      <td className={diff.number} data-kind={before?.kind ?? 'none'}>
        {before?.number}
      </td>
      <Line line={before} />
      <td className={diff.number} data-kind={after?.kind ?? 'none'}>
        {after?.number}
      </td>
      <Line line={after} />
    </tr>
  );
}

function Hunk({ text, columns }: { text: string; columns: number }) {
  return (
    <tr className={diff.hunk}>
      <td colSpan={columns}>{text}</td>
    </tr>
  );
}

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−' };

function Line({ line }: { line: DiffLine | null }) {
  const t = useT();
  if (line === null) return <td className={diff.line} data-kind="none" />;
  return (
    <td className={diff.line} data-kind={line.kind} data-testid={`diff-${line.kind}`}>
      <span className={diff.sign} data-sign={SIGNS[line.kind]} />
      {line.kind !== 'same' && (
        <span className="visually-hidden">{line.kind === 'added' ? t('added') : t('removed')}: </span>
      )}
      <code>{line.parts ? <Parts parts={line.parts} /> : line.text}</code>
      {line.endsOpen && <span className={diff.open}>{t('no line break at the end')}</span>}
    </td>
  );
}

function Parts({ parts }: { parts: readonly Part[] }) {
  return parts.map(({ text, isChanged }, at) =>
    isChanged ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
      <mark key={at} className={diff.changed}>
        {text}
      </mark>
    ) : (
      text
    ),
  );
}
