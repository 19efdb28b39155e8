import { api } from '@stagi/contract/api.ts';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import classes from './Refs.module.css';

interface Props {
  projectId: number;
  branch: string;
  linkTo(name: string): string;
  onChosen(): void;
}

const SHOWN = 30;
type Kind = 'branch' | 'tag';

/** Branches or tags, with search. */
export function RefList({ projectId, branch, linkTo, onChosen }: Props) {
  const t = useT();
  const [kind, setKind] = useState<Kind>('branch');
  const [query, setQuery] = useState('');
  const input = { id: projectId, kind, limit: SHOWN, ...(query === '' ? {} : { query }) };
  const { data, error } = useQuery({
    ...q(api.projectCode.refs, input, { quiet: true }),
    // Branches are not shown as tags while these are read.
    placeholderData: (before, query) => (query?.queryKey[1].kind === kind ? before : undefined),
  });
  const kinds: readonly { key: Kind; label: string }[] = [
    { key: 'branch', label: t('Branches') },
    { key: 'tag', label: t('Tags') },
  ];
  const more = data ? data.totalCount - data.refs.length : 0;
  return (
    <div className={classes.list} data-testid="ref-list">
      <fieldset className={classes.kinds} aria-label={t('What to choose from')}>
        {kinds.map(({ key, label }) => (
          <button
            key={key}
            type="button"
            className={classes.kind}
            aria-pressed={kind === key}
            onClick={() => setKind(key)}
            data-testid={`refs-${key}`}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <SearchBox
        value={query}
        onChange={setQuery}
        width="100%"
        placeholder={kind === 'branch' ? t('Find a branch') : t('Find a tag')}
      />
      {error && !data && <p role="alert">{errorText(error)}</p>}
      {data?.refs.length === 0 && (
        <p className="muted">{query === '' && kind === 'tag' ? t('There are no tags') : t('No matches')}</p>
      )}
      <ul className={classes.refs}>
        {data?.refs.map((ref) => (
          <li key={`${ref.kind} ${ref.name}`}>
            <Link
              to={linkTo(ref.name)}
              className={classes.ref}
              aria-current={ref.name === branch ? 'true' : undefined}
              onClick={onChosen}
              data-testid="ref-row"
            >
              <span className={classes.mark}>{ref.name === branch && <IconCheck size={14} aria-hidden="true" />}</span>
              <CutText className={`mono ${classes.name}`}>{ref.name}</CutText>
              {ref.isDefault && <Tag>{t('default')}</Tag>}
              <span className={classes.when}>
                <TimeAgo at={ref.commit.committer.at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="muted">{t('and {{count}} more: type a part of the name', { count: more })}</p>}
    </div>
  );
}
