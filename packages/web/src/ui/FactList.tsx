import type { ReactNode } from 'react';
import { CopyButton } from './CopyButton.tsx';
import classes from './FactList.module.css';

export interface Fact {
  label: string;
  /** Nothing known is shown as a dash. */
  value: ReactNode;
  mono?: boolean;
  /** A text to copy beside the value. */
  copy?: string;
}

/** Fact lists beside each other, below each other where there is no room. */
export function FactPanels({ children }: { children: ReactNode }) {
  return <div className={classes.panels}>{children}</div>;
}

/** What is known of one thing: names, and values beside them. */
export function FactList({ facts, title }: { facts: readonly Fact[]; title?: string }) {
  return (
    <section className={classes.panel}>
      {title && <h2 className={classes.title}>{title}</h2>}
      <dl className={classes.list}>
        {facts.map((fact) => (
          <div key={fact.label} className={classes.fact}>
            <dt>{fact.label}</dt>
            <dd className={fact.mono ? 'mono' : undefined}>
              <span className={classes.value}>
                {fact.value === null || fact.value === '' ? '—' : (fact.value ?? '—')}
              </span>
              {fact.copy && <CopyButton value={fact.copy} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
