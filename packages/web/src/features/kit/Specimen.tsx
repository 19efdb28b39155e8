import type { ReactNode } from 'react';
import classes from './Kit.module.css';

/** A named state of a control. `id` is what stories look for. */
export function Specimen({ id, title, wide, children }: SpecimenProps) {
  return (
    <section className={classes.specimen} data-wide={wide || undefined} data-testid={id} aria-label={title}>
      <h2 className={classes.specimenTitle}>{title}</h2>
      <div className={classes.specimenBody}>{children}</div>
    </section>
  );
}

interface SpecimenProps {
  id: string;
  title: string;
  /** Takes the whole row. */
  wide?: boolean;
  children: ReactNode;
}

/** The specimens of a section, as many beside each other as there is room for. */
export function Specimens({ children }: { children: ReactNode }) {
  return <div className={classes.specimens}>{children}</div>;
}
