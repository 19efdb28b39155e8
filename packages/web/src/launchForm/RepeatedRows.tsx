import { IconPlus, IconX } from '@tabler/icons-react';
import { type ReactNode, useRef } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { FormItem } from '../ui/form/FormItem.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import classes from './LaunchForm.module.css';

interface Props {
  label: string;
  hint?: string;
  addLabel: string;
  rows: readonly { key: string }[];
  /** The inputs of one row. */
  children(index: number): ReactNode;
  /** A note about one row. */
  beneath?(index: number): ReactNode;
  onAdd(): void;
  onRemove(index: number): void;
  error?: ReactNode;
  testId: string;
}

/** Repeated inputs: one line each, with buttons to add and to remove one. */
export function RepeatedRows({
  label,
  hint,
  addLabel,
  rows,
  children,
  beneath,
  onAdd,
  onRemove,
  error,
  testId,
}: Props) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);

  function add(): void {
    onAdd();
    requestAnimationFrame(() => list.current?.lastElementChild?.querySelector('input')?.focus());
  }

  return (
    <FormItem label={label} description={hint} error={error} group="group">
      <div ref={list} className={`${classes.rows} ${classes.list}`}>
        {rows.map((row, index) => (
          <div key={row.key} className={classes.rows}>
            <div className={classes.row}>
              {children(index)}
              <IconButton
                size="s"
                label={t('Remove line {{number}}', { number: index + 1 })}
                onClick={() => onRemove(index)}
              >
                <IconX size={16} />
              </IconButton>
            </div>
            {beneath?.(index)}
          </div>
        ))}
      </div>
      <Button color="gray" size="xs" icon={<IconPlus size={14} />} onClick={add} data-testid={testId}>
        {addLabel}
      </Button>
    </FormItem>
  );
}
