import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './ProgressSteps.module.css';
import { StepMark } from './StepMark.tsx';
import { DateTime, Elapsed } from './Time.tsx';

export interface ProgressStep {
  label: string;
  /** When it was done; null while it is under way or still to come. */
  at: string | null;
  detail?: ReactNode;
}

/** Long work, step by step: what is done, what happens now and for how long already. */
export function ProgressSteps({
  steps,
  since,
  failed = false,
}: {
  steps: readonly ProgressStep[];
  since: string;
  failed?: boolean;
}) {
  const t = useT();
  const current = steps.findIndex((step) => step.at === null);
  const begun = current > 0 ? (steps[current - 1]?.at ?? since) : since;
  return (
    <ol className={classes.steps}>
      {steps.map((step, index) => {
        const state = step.at !== null ? 'done' : index === current ? (failed ? 'failed' : 'now') : 'todo';
        return (
          <li
            key={step.label}
            className={classes.step}
            data-state={state}
            aria-current={state === 'now' ? 'step' : undefined}
          >
            <StepMark state={state} />
            <span className={classes.label}>
              {step.label}
              <span className="visually-hidden">{stateWord(state)}</span>
            </span>
            <span className={classes.time}>
              {step.at !== null && <DateTime at={step.at} />}
              {state === 'now' && <Elapsed since={begun} />}
            </span>
            {step.detail && state !== 'todo' && <span className={classes.detail}>{step.detail}</span>}
          </li>
        );
      })}
    </ol>
  );

  function stateWord(state: 'done' | 'now' | 'failed' | 'todo'): string {
    switch (state) {
      case 'done':
        return t('Done');
      case 'now':
        return t('In progress');
      case 'failed':
        return t('Failed');
      case 'todo':
        return t('Not started');
    }
  }
}
