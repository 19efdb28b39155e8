import { useT } from '../../i18n/i18n.ts';
import { STATUS } from '../status.ts';
import { FilterMenu } from './FilterMenu.tsx';

interface Props {
  statuses: readonly string[];
  value: readonly string[];
  onChange(values: string[]): void;
}

/** `FilterMenu` over the statuses of one kind of thing. */
export function StatusFilter({ statuses, value, onChange }: Props) {
  const t = useT();
  const options = statuses.map((status) => ({ value: status, label: t(STATUS[status]?.word ?? status) }));
  return <FilterMenu label={t('Status')} options={options} value={value} onChange={onChange} />;
}
