import type { KeyboardEvent, MouseEvent } from 'react';

const CONTROLS = 'a, button, input, label, select, textarea, [role="button"]';
const ROW_LINK = '[data-row-link] a';
const ROW_CHECK = 'input[type="checkbox"]';

/** Texts that answer to the pointer lie over the row's link; a click on them is one on the row all the same. */
export function onRowClick(event: MouseEvent<HTMLElement>): void {
  const pressed = event.target as Element;
  const row = event.currentTarget.contains(pressed) ? pressed.closest('tr') : null;
  if (!row || pressed.closest(CONTROLS) || !window.getSelection()?.isCollapsed) return;
  const { ctrlKey, metaKey, shiftKey, altKey } = event;
  const click = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, altKey };
  row.querySelector(ROW_LINK)?.dispatchEvent(new window.MouseEvent('click', click));
}

/** Arrows, Home and End go from row to row, Enter opens (the link's own doing), Space selects. */
export function onRowKey(event: KeyboardEvent<HTMLElement>, selectable: boolean): void {
  const at = event.target as Element;
  const kind = at.matches(ROW_LINK) ? ROW_LINK : at.matches(ROW_CHECK) ? ROW_CHECK : null;
  const row = at.closest('tr');
  if (!kind || !row || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && kind === ROW_LINK && selectable) {
    event.preventDefault();
    row.querySelector<HTMLInputElement>(ROW_CHECK)?.click();
    return;
  }
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('tr:not([data-gone])')];
  const next = target(event.key, rows.indexOf(row), rows.length);
  if (next === null) return;
  event.preventDefault();
  rows[next]?.querySelector<HTMLElement>(kind)?.focus();
}

function target(key: string, row: number, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(row + 1, count - 1);
    case 'ArrowUp':
      return Math.max(row - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
