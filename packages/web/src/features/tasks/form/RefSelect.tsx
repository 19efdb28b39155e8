import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { useOptionSearch } from '../../../lists/useOptionSearch.ts';
import { Select } from '../../../ui/form/Select.tsx';

interface Props {
  projectId: number;
  name: string;
  kind: 'branch' | 'tag';
  onChange(ref: { name: string; kind: 'branch' | 'tag' }): void;
}

/** A branch or tag of a project, found by a part of its name. */
export function RefSelect({ projectId, name, kind, onChange }: Props) {
  const t = useT();
  const { entityFilterRequest, query, found } = useOptionSearch();
  const { queryString, limit } = entityFilterRequest;
  const ask = (of: 'branch' | 'tag') => ({
    ...q(api.projectCode.refs, { id: projectId, kind: of, limit, ...(queryString && { query: queryString }) }, QUIET),
    ...query,
  });
  const branches = useQuery(ask('branch'));
  const tags = useQuery(ask('tag'));
  const options = [...(branches.data?.refs ?? []), ...(tags.data?.refs ?? [])].map((ref) => ({
    value: `${ref.kind} ${ref.name}`,
    label: ref.name,
    group: ref.kind === 'branch' ? t('Branches') : t('Tags'),
  }));
  const error = branches.error ?? tags.error;
  return (
    <Select
      label={t('Branch or tag')}
      options={options}
      value={name === '' ? null : `${kind} ${name}`}
      mayBeEmpty
      onChange={(value: string | null) => {
        if (value !== null) onChange(refOf(value));
      }}
      error={error && errorText(error)}
      data-testid="commit-ref"
      found={{
        ...found(branches.data ? tags : branches),
        hint: t('A part of the name'),
        chosenLabel: name,
      }}
    />
  );
}

const QUIET = { quiet: true };

/** From the value of an option: a name has no space, and neither has a kind. */
function refOf(value: string): { name: string; kind: 'branch' | 'tag' } {
  const at = value.indexOf(' ');
  return { kind: value.startsWith('tag ') ? 'tag' : 'branch', name: value.slice(at + 1) };
}
