import { useT } from '../../../i18n/i18n.ts';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { formatNumber } from '../../../ui/format.ts';
import type { EntryFormProps } from './entryFormProps.ts';
import { Shipped } from './Shipped.tsx';

interface Props extends EntryFormProps {
  path: string;
  label: string;
  optional?: boolean;
  description?: string;
}

/** A count that may be pasted in groups of three. The field's name in files stands in its tooltip. */
export function NumberText({ calls, shipped, path, label, optional, description }: Props) {
  const t = useT();
  return (
    <div>
      <TextInput
        label={label}
        title={path}
        optional={optional}
        description={description}
        inputMode="numeric"
        autoComplete="off"
        name={path}
        {...calls.field(path)}
      />
      <Shipped
        calls={calls}
        shipped={shipped}
        path={path}
        label={t(label)}
        show={(value) => formatNumber(Number(value), 0)}
      />
    </div>
  );
}
