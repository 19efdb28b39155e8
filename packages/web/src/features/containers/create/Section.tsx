import type { ReactNode } from 'react';
import classes from './Create.module.css';

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      <div className={classes.fields}>{children}</div>
    </section>
  );
}
