import { IconColumns3 } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { DropdownMenu, type MenuEntry } from '../DropdownMenu.tsx';
import { IconButton } from '../IconButton.tsx';
import type { ColumnChoice } from './useColumnChoice.ts';

/** Which columns are shown, behind a small button. */
export function ColumnMenu<Row>({ choice }: { choice: ColumnChoice<Row> }) {
  const t = useT();
  if (!choice.options || choice.options.length === 0) return null;
  const items: MenuEntry[] = choice.options.map((column) => ({
    label: column.title,
    checked: choice.isShown(column),
    onToggle: () => choice.toggle(column),
  }));
  if (choice.reset) items.push('divider', { label: t('Reset columns'), onClick: choice.reset });
  return (
    <DropdownMenu items={items} position="bottom-end">
      <IconButton label={t('Columns')} data-testid="table-columns">
        <IconColumns3 size={16} />
      </IconButton>
    </DropdownMenu>
  );
}
