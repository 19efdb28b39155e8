import type { RawFiles } from '@stagi/contract/projectCode.ts';
import { useMemo } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Note } from '../../../ui/Note.tsx';
import { CodeFence } from '../blob/CodeFence.tsx';
import { languageNamed } from '../highlight/languageOf.ts';
import { MarkdownView } from '../markdown/MarkdownView.tsx';
import classes from './Notebook.module.css';
import { type NotebookCell, type NotebookOutput, parseNotebook } from './parseNotebook.ts';

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  path: string;
  raw: RawFiles | null;
  source: string;
}

/** A Jupyter notebook with its outputs as text and pictures. Nothing in it runs. */
export function NotebookView({ source, ...place }: Props) {
  const t = useT();
  const notebook = useMemo(() => parseNotebook(source), [source]);
  if (notebook === null)
    return (
      <>
        <Note tone="warn">{t('This file is no notebook of a known version.')}</Note>
        <CodeFence text={source} language="json" />
      </>
    );
  const language = languageNamed(notebook.language);
  return (
    <div className={classes.notebook} data-testid="notebook">
      {notebook.cells.map((cell, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
        <section key={at} className={classes.cell} aria-label={t('Cell {{number}}', { number: at + 1 })}>
          <Cell cell={cell} place={place} language={language} />
        </section>
      ))}
      {notebook.hiddenCells > 0 && (
        <Note>{t('{{count}} more cells are not shown.', { count: notebook.hiddenCells })}</Note>
      )}
    </div>
  );
}

interface CellProps {
  cell: NotebookCell;
  place: Omit<Props, 'source'>;
  language: ReturnType<typeof languageNamed>;
}

function Cell({ cell, place, language }: CellProps) {
  if (cell.kind === 'markdown') return <MarkdownView {...place} text={cell.text} />;
  if (cell.kind === 'raw') return <pre className={classes.output}>{cell.text}</pre>;
  return (
    <>
      <span className={`mono ${classes.count}`} aria-hidden="true">
        [{cell.count ?? ' '}]
      </span>
      <CodeFence text={cell.text} language={language} />
      {cell.outputs.map((output, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an output is its place
        <Output key={at} output={output} />
      ))}
    </>
  );
}

function Output({ output }: { output: NotebookOutput }) {
  const t = useT();
  switch (output.kind) {
    case 'png':
      return (
        <img
          src={`data:image/png;base64,${output.data}`}
          alt={t('Picture that the cell made')}
          className={classes.picture}
        />
      );
    case 'other':
      return <p className="muted">{t('An output of the type {{type}} is not shown.', { type: output.type })}</p>;
    case 'html':
    case 'text':
      return (
        <>
          {output.kind === 'html' && <p className={classes.kind}>{t('HTML, shown as text')}</p>}
          <pre
            className={classes.output}
            data-error={(output.kind === 'text' && output.isError) || undefined}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
            tabIndex={0}
          >
            {output.text}
          </pre>
          {output.isCut && <p className="muted">{t('This output is longer: its beginning is shown.')}</p>}
        </>
      );
  }
}
