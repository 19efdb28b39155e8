import type { ReactNode } from 'react';
import classes from './LaunchForm.module.css';

/** A part of a long form, with its title beside it. */
export function FormSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      <div className={classes.fields}>{children}</div>
    </section>
  );
}
