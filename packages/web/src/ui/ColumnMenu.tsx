import { Menu } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { IconButton } from './IconButton.tsx';
import type { ColumnChoice } from './useColumnChoice.ts';

/** Which columns are shown, behind a small button. */
export function ColumnMenu<Row>({ choice }: { choice: ColumnChoice<Row> }) {
  const t = useT();
  if (!choice.options || choice.options.length === 0) return null;
  return (
    <Menu position="bottom-end" withinPortal closeOnItemClick={false}>
      <Menu.Target>
        <IconButton label={t('Columns')} data-testid="table-columns">
          <IconColumns3 size={16} />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {choice.options.map((column) => (
          <Menu.CheckboxItem key={column.key} checked={choice.isShown(column)} onChange={() => choice.toggle(column)}>
            {column.title}
          </Menu.CheckboxItem>
        ))}
        {choice.reset && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={choice.reset}>{t('Show the usual columns')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
