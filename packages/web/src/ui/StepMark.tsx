import { IconCheck } from '@tabler/icons-react';
import classes from './StepMark.module.css';

interface Props {
  state: 'done' | 'now' | 'failed' | 'todo';
  /** Shown until the step is done. */
  number?: number;
  size?: 's' | 'm' | 'l';
}

/** The circle before a step of a list: its number, or a check mark once it is done. Screen readers need words beside it. */
export function StepMark({ state, number, size = 's' }: Props) {
  return (
    <span className={classes.mark} data-state={state} data-size={size} aria-hidden="true">
      {state === 'done' ? <IconCheck size={12} stroke={3} /> : number}
    </span>
  );
}
