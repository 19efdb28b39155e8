import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './ChartTable.module.css';

interface Props {
  /** Of the chart. */
  label: string;
  columns: readonly string[];
  rows: readonly { key: string; cells: readonly string[] }[];
}

/** The figures of a chart in words, for those who cannot see or point at it. */
export function ChartTable({ label, columns, rows }: Props) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  return (
    <details className={classes.details} onToggle={({ currentTarget }) => setOpened(currentTarget.open)}>
      <summary>{t('Show as table')}</summary>
      {opened && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        <section className={classes.scroll} aria-label={label} tabIndex={0}>
          <table className={classes.table}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, cells }) => (
                <tr key={key}>
                  {cells.map((cell, n) => (
                    <td key={columns[n]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
