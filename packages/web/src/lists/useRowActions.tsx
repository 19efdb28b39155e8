import type { CallOptions } from '@stagi/contract/apiClient.ts';
import { CallError } from '@stagi/contract/errors.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import type { Icon } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { errorText, failureTitle, toastFailure } from '../api/messages.ts';
import { invalidate } from '../api/query.ts';
import { useT } from '../i18n/i18n.ts';
import type { Action } from '../ui/actions.tsx';
import { ConfirmMany } from '../ui/ConfirmMany.tsx';
import { ConfirmDialog } from '../ui/dialogs/ConfirmDialog.tsx';
import type { BulkAction } from '../ui/table/tableTypes.ts';
import { toast } from '../ui/toasts.ts';

interface ActionBase<Row> {
  /** The end of its test ids: `action-delete` for one row, `bulk-delete` for the selected ones. */
  name: string;
  label: string;
  icon: Icon;
  danger?: boolean;
  /** On the page of one row in the menu behind three dots. */
  seldom?: boolean;
  /** Whether the menu of a row lists it. Left out: that of every row does. */
  shown?(row: Row): boolean;
  /** Whether a row allows it, and why not. Left out: every row does. */
  can?(row: Row): Verdict;
}

/** An action that has a dialog of its own. */
interface DialogAction<Row> extends ActionBase<Row> {
  open(row: Row): void;
}

/** An action that is one call for each row. */
interface CallAction<Row> extends ActionBase<Row> {
  /** Makes the call with these options; rejects with a `CallError` when it is refused. */
  perform(row: Row, options?: CallOptions): Promise<unknown>;
  /** The question asked before. Left out: the call is made at once. */
  confirm?(row: Row): { title: string; text: ReactNode; lost?: readonly string[]; typeSlug?: string } & Answers;
  /** The toast once it is done. */
  success?(row: Row): string;
  onDone?(): void;
  /** For the selected rows of a list. Left out: it is an action for single rows only. */
  many?: {
    /** `names` are listed in the question; `typeWord` has to be typed together with the number of rows. */
    confirm?(
      rows: readonly Row[],
    ): { title: string; text: ReactNode; names: readonly string[]; typeWord?: string } & Answers;
    success(count: number): string;
  };
}

/** The buttons of a question, where the action's own label and “Cancel” would not tell them apart. */
interface Answers {
  confirmLabel?: string;
  cancelLabel?: string;
}

export type RowAction<Row> = DialogAction<Row> | CallAction<Row>;

export interface RowActions<Row> {
  /** For the menu of a row, or the buttons of a detail page. */
  of(row: Row): Action[];
  bulk: BulkAction<Row>[];
  /** To be rendered once on the page: the question before an action. */
  dialog: ReactNode;
}

interface Asked<Row> {
  name: string;
  rows: readonly Row[];
  many: boolean;
}

/** Calls made at the same time for the selected rows, so that the other calls of the page still get their turn. */
const AT_ONCE = 4;

/**
 * What can be done to a row of a list or to the selected ones, with the question before and the toast after.
 * `reload` holds the beginnings of the paths of the calls whose answers change.
 */
export function useRowActions<Row>(actions: readonly RowAction<Row>[], reload: readonly string[]): RowActions<Row> {
  const t = useT();
  const [asked, setAsked] = useState<Asked<Row> | null>(null);
  const [opened, setOpened] = useState(false);
  const [running, setRunning] = useState<string | null>(null);
  const calls = actions.filter((action) => 'perform' in action);

  function ask(name: string, rows: readonly Row[], many: boolean): void {
    setAsked({ name, rows, many });
    setOpened(true);
  }

  async function performOne(action: CallAction<Row>, row: Row): Promise<void> {
    setRunning(action.name);
    const refusal = await refusalOf(action.perform(row)).finally(() => setRunning(null));
    if (refusal) {
      // The client shows every other refusal.
      if (refusal.status === 400) toastFailure(refusal);
      return;
    }
    void invalidate(...reload);
    if (action.success) toast.success(action.success(row));
    // Without a question, the open one is about another action.
    if (action.confirm) setOpened(false);
    action.onDone?.();
  }

  async function performMany(action: CallAction<Row>, rows: readonly Row[]): Promise<void> {
    setRunning(action.name);
    const refusals = await refusalsOf(action, rows).finally(() => setRunning(null));
    void invalidate(...reload);
    const [first] = refusals;
    if (!first) toast.success(action.many?.success(rows.length) ?? '');
    else {
      const counts = { failed: refusals.length, all: rows.length };
      const reason = errorText(first);
      toast.error(t('{{failed}} of {{all}} refused: {{reason}}', { ...counts, reason }), failureTitle(first.path));
    }
    if (action.many?.confirm) setOpened(false);
  }

  return {
    of: (row) =>
      actions
        .filter(({ shown }) => shown?.(row) ?? true)
        .map((action) => ({
          label: action.label,
          icon: <action.icon size={16} />,
          danger: action.danger,
          seldom: action.seldom,
          verdict: action.can?.(row),
          testId: `action-${action.name}`,
          // The dialog shows its own.
          loading: running === action.name && !opened,
          onClick() {
            if ('open' in action) action.open(row);
            else if (action.confirm) ask(action.name, [row], false);
            else void performOne(action, row);
          },
        })),
    bulk: calls
      .filter(({ many }) => many)
      .map((action) => ({
        label: action.label,
        icon: <action.icon size={14} />,
        danger: action.danger,
        testId: `bulk-${action.name}`,
        verdict: (row) => action.can?.(row) ?? { allowed: true },
        onClick(rows) {
          if (action.many?.confirm) ask(action.name, rows, true);
          else void performMany(action, rows);
        },
      })),
    dialog: question(),
  };

  function question(): ReactNode {
    const action = calls.find(({ name }) => name === asked?.name);
    const [row] = asked?.rows ?? [];
    if (!asked || !action || row === undefined) return null;
    const dialog = {
      opened,
      onClose: () => setOpened(false),
      confirmLabel: action.label,
      loading: running === action.name,
    };
    if (asked.many && action.many?.confirm) {
      const { text, ...words } = action.many.confirm(asked.rows);
      return (
        <ConfirmMany
          {...dialog}
          {...words}
          tone={action.danger ? 'danger' : 'primary'}
          onConfirm={() => void performMany(action, asked.rows)}
        >
          {text}
        </ConfirmMany>
      );
    }
    if (!action.confirm) return null;
    const { text, ...words } = action.confirm(row);
    return (
      <ConfirmDialog
        {...dialog}
        {...words}
        variant={action.danger ? 'error' : 'warning'}
        onConfirm={() => void performOne(action, row)}
      >
        {text}
      </ConfirmDialog>
    );
  }
}

async function refusalsOf<Row>({ perform }: CallAction<Row>, rows: readonly Row[]): Promise<CallError[]> {
  const refusals: (CallError | null)[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const calls = rows.slice(at, at + AT_ONCE).map((row) => refusalOf(perform(row, { quiet: true })));
    refusals.push(...(await Promise.all(calls)));
  }
  return refusals.filter((refusal) => refusal !== null);
}

async function refusalOf(call: Promise<unknown>): Promise<CallError | null> {
  try {
    await call;
    return null;
  } catch (cause) {
    if (cause instanceof CallError) return cause;
    throw cause;
  }
}
