import { CloseButton, Popover, type PopoverProps, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconCalendar } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { Button } from '../Button.tsx';
import { Dialog } from '../dialogs/Dialog.tsx';
import classes from './DateRange.module.css';
import { QUICK_LINKS } from './quickLinks.ts';
import { browserTimeZone, rangeLabel, resolvedRangeLabel } from './rangeLabels.ts';
import type { DateRange } from './resolve.ts';

interface Props {
  value: DateRange | null;
  onChange(value: DateRange | null): void;
  /** What the range is for, said before what is chosen. */
  label?: string;
  links?: readonly DateRange[];
  /** Days, weeks and months are those of this zone; the reader's own by default. */
  timeZone?: string;
  /** Whether a chosen range can be taken back. */
  clearable?: boolean;
  disabled?: boolean;
}

/** Fetched when it is first opened, with the calendar. */
const RangePanel = lazyComponent(async () => (await import('./RangePanel.tsx')).RangePanel);

/** Where there is no room beside the button the choice comes up from the edge of the screen. */
const NARROW = '(max-width: 560px)';

const EDGE_PX = 8;

/** Where the screen is low the choice scrolls; its buttons stay in sight. */
const fitting: NonNullable<PopoverProps['middlewares']>['size'] = {
  padding: EDGE_PX,
  apply: ({ availableHeight, elements }) => {
    elements.floating.style.maxHeight = `${Math.max(LEAST_HEIGHT_PX, availableHeight)}px`;
  },
};
const LEAST_HEIGHT_PX = 240;

/** A button that says which stretch of time is chosen, and opens the choice. */
export function DateRangePicker({
  value,
  onChange,
  label,
  links = QUICK_LINKS,
  timeZone = browserTimeZone(),
  clearable = false,
  disabled = false,
}: Props) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  const narrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const panel = (
    <Suspense fallback={<div className={classes.opening} aria-busy="true" />}>
      <RangePanel
        value={value}
        links={links}
        timeZone={timeZone}
        roomy={narrow}
        onCancel={close}
        onApply={(range) => {
          onChange(range);
          close();
        }}
      />
    </Suspense>
  );
  const button = (
    <Button
      color="gray"
      className={classes.button}
      icon={<IconCalendar size={16} />}
      disabled={disabled}
      aria-label={label && `${label}: ${rangeLabel(value, t)}`}
      aria-haspopup="dialog"
      aria-expanded={opened}
      data-clearable={(clearable && value !== null) || undefined}
      data-testid="date-range"
      onClick={() => setOpened(!opened)}
    >
      {rangeLabel(value, t)}
    </Button>
  );
  const hint = value && value.unit !== 'range' && !opened ? resolvedRangeLabel(value, timeZone, t) : null;
  const title = label ?? t('Date range');
  return (
    <span className={classes.picker}>
      {narrow ? (
        <>
          {button}
          <Dialog opened={opened} onClose={close} title={title} withClose={false}>
            {panel}
          </Dialog>
        </>
      ) : (
        <Popover
          opened={opened}
          onChange={setOpened}
          position="bottom-start"
          trapFocus
          returnFocus
          middlewares={{ flip: true, shift: { padding: EDGE_PX }, size: fitting }}
        >
          <Popover.Target>
            {/* Always rendered: a tooltip that comes and goes would replace the button, and the focus could not return to it. */}
            <Tooltip label={hint} disabled={hint === null}>
              {button}
            </Tooltip>
          </Popover.Target>
          <Popover.Dropdown className={classes.dropdown} aria-label={title}>
            {panel}
          </Popover.Dropdown>
        </Popover>
      )}
      {clearable && value && !disabled && (
        <CloseButton
          size="sm"
          className={classes.clear}
          aria-label={t('Clear the dates')}
          onClick={() => onChange(null)}
        />
      )}
    </span>
  );
}
