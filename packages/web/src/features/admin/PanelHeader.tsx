import type { DisabledState } from '@stagi/contract/adminReason.ts';
import { type Action, ActionButton } from '../../ui/actions.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import classes from './Admin.module.css';
import { DisabledNote } from './DisabledNote.tsx';

interface Props {
  state: string;
  disabled: DisabledState;
  actions: readonly Action[];
}

/** The state of a user or a workspace, the reason, and the actions. */
export function PanelHeader({ state, disabled, actions }: Props) {
  return (
    <>
      <div className={classes.top}>
        <StatusBadge status={state} prominent />
        <div className={classes.actions}>
          {actions.map(({ label, danger, testId, ...action }) => (
            <ActionButton key={label} {...action} tone={danger ? 'danger' : 'default'} testId={`panel-${testId}`}>
              {label}
            </ActionButton>
          ))}
        </div>
      </div>
      <DisabledNote disabled={state === 'disabled' ? disabled : null} />
    </>
  );
}
