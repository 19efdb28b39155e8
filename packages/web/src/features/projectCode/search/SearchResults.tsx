import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { NoMatches } from '../../../ui/table/NoMatches.tsx';
import { codePaths } from '../codeAddress.ts';
import { useQueryLink } from '../codePlace.ts';
import { readAt } from '../codeReads.ts';
import classes from '../ProjectCode.module.css';
import { Highlit } from './Highlit.tsx';
import results from './Search.module.css';

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  /** The folder that is searched. */
  path: string;
  query: string;
}

const SHORTEST = 2;
/** Characters, as the call allows. */
const LONGEST = 200;

/** Files whose name has a text, and lines that have it. */
export function SearchResults({ projectId, branch, sha, path, query }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const queryLink = useQueryLink();
  const [search] = useSearchParams();
  const matchCase = search.get('case') === '1';
  const input = { id: projectId, ...readAt({ branch, sha }), path, query, matchCase };
  const isPossible = query.length >= SHORTEST && query.length <= LONGEST;
  const { data, error, refetch, isFetching, isPlaceholderData } = useQuery({
    ...q(api.projectCode.search, input, { quiet: true }),
    enabled: isPossible,
    placeholderData: keepPreviousData,
  });
  const clear = () => void navigate(queryLink({ search: null, case: null }));
  if (query.length < SHORTEST) return <p className="muted">{t('Type at least 2 characters')}</p>;
  if (!isPossible) return <p className="muted">{t('Search for at most 200 characters')}</p>;
  if (error && !data)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={240} />;
  const linkTo = (file: string, line?: number) =>
    codePaths.tree(projectId, { branch, sha: sha ?? data.commit?.sha ?? null, path: file }) +
    (line === undefined ? '' : `#L${line}`);
  const isEmpty = data.paths.length === 0 && data.files.length === 0;
  return (
    <div aria-busy={isPlaceholderData} data-testid="search-results">
      <div className={results.bar}>
        <span role="status">
          {isEmpty
            ? ''
            : t('{{files}} files with such a line, {{paths}} with such a name', {
                files: data.files.length,
                paths: data.paths.length,
              })}
        </span>
        <Checkbox
          label={t('Match case')}
          checked={matchCase}
          onChange={({ currentTarget }) =>
            void navigate(queryLink({ case: currentTarget.checked ? '1' : null }), { replace: true })
          }
        />
      </div>
      {isEmpty && (
        <NoMatches title={t('Nothing has this text')} onClear={clear}>
          {path === '' ? undefined : t('Only {{path}} was searched.', { path })}
        </NoMatches>
      )}
      {data.paths.length > 0 && (
        <section className={classes.card} aria-label={t('Names')}>
          <ul className={results.paths}>
            {data.paths.map((file) => (
              <li key={file}>
                <Link to={linkTo(file)} className="mono" data-testid="search-path">
                  <Highlit text={file} query={query} matchCase={matchCase} />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {data.files.map(({ path: file, lines, isMore }) => (
        <section key={file} className={classes.card} aria-label={file} data-testid="search-file">
          <div className={classes.head}>
            <Link to={linkTo(file, lines[0]?.line)} className="mono">
              {file}
            </Link>
          </div>
          <ol className={results.lines}>
            {lines.map(({ line, text }) => (
              <li key={line}>
                <Link to={linkTo(file, line)} className={results.line} data-testid="search-line">
                  <span className={results.number}>{line}</span>
                  <code>
                    <Highlit text={text} query={query} matchCase={matchCase} />
                  </code>
                </Link>
              </li>
            ))}
          </ol>
          {isMore && <p className={classes.foot}>{t('This file has more such lines.')}</p>}
        </section>
      ))}
      {data.isMore && <p className="muted">{t('There may be more: make the text longer or search a folder.')}</p>}
    </div>
  );
}
