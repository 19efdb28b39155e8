import type { CatalogueModel } from '@stagi/perf/catalogue.ts';
import { useT } from '../../../i18n/i18n.ts';
import classes from './Facts.module.css';
import { OutsideLink } from './links.tsx';
import { sourceNote } from './sourceNotes.ts';

type Sources = CatalogueModel['source'];
type Source = Exclude<Sources, string>[number];

interface Props {
  source: Sources;
  /** What the sources leave open, as their reader wrote it down. */
  doubts?: string;
}

/** Where the numbers above come from, folded away. */
export function SourceList({ source, doubts }: Props) {
  const t = useT();
  return (
    <details className={classes.sources}>
      <summary>{doubts ? t('Sources and doubts') : t('Sources')}</summary>
      <SourceLines source={source} />
      {doubts && (
        <p>
          <strong>{t('Doubts')}:</strong> <span lang="en">{doubts}</span>
        </p>
      )}
    </details>
  );
}

/** Notes that are not common, and paths, stand as they were written down: in English. */
export function SourceLines({ source }: { source: Sources }) {
  const t = useT();
  if (typeof source === 'string') return <p>{t('The data sheet of its vendor')}</p>;
  return (
    <ul>
      {source.map((one) => (
        <li key={JSON.stringify(one)}>
          <SourceLine source={one} />
        </li>
      ))}
    </ul>
  );
}

function SourceLine({ source }: { source: Source }) {
  const t = useT();
  if ('computed' in source)
    return (
      <>
        {t('Computed')}: <span lang="en">{source.computed}</span>
      </>
    );
  const told = sourceNote(t, source.note);
  const note = told ?? <span lang="en">{source.note}</span>;
  if ('url' in source)
    return (
      <>
        <OutsideLink to={source.url}>{source.url.replace(/^https:\/\//, '')}</OutsideLink> — {note}
      </>
    );
  const at = source.commit ? `@${source.commit.slice(0, 7)}` : '';
  return (
    <>
      <span className="mono">
        {source.repo}
        {at} {source.path}
      </span>{' '}
      — {note}
    </>
  );
}
