import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Select } from '../../../ui/form/Select.tsx';

const ACTIVE = {
  entityFilterRequest: {
    limit: 100,
    orderByField: 'title',
    orderByDirection: 'asc' as const,
    statuses: ['active'],
  },
};

/** The project that a container belongs to, if any; nothing where there is none to choose. */
export function ProjectSelect({ onChange, ...bound }: FieldProps) {
  const t = useT();
  const maySee = useHasPermission('PROJECT', 'PROJECT_MANAGEMENT');
  const { data } = useQuery({ ...q(api.projects.list, ACTIVE, { quiet: true }), enabled: maySee });
  if (!data || data.entities.length === 0) return null;
  return (
    <Select
      label={t('Project')}
      optional
      mayBeEmpty
      description={t('It is deleted together with its project.')}
      options={data.entities.map(({ id, title }) => ({ value: String(id), label: title }))}
      data-testid="container-project"
      {...bound}
      onChange={(id: string | null) => onChange(id ?? '')}
    />
  );
}
