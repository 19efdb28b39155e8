import { Skeleton } from '@mantine/core';
import classes from './Skeletons.module.css';

/** A detail page while it loads, in the shape it will have. */
export function DetailSkeleton() {
  return (
    <div aria-busy="true">
      <div className={classes.head}>
        <Skeleton height={28} width={240} />
        <Skeleton height={36} width={160} />
      </div>
      <Skeleton height={40} mb={24} />
      <PanelSkeleton rows={6} />
    </div>
  );
}

/** A facts panel while it loads. */
export function PanelSkeleton({ rows = 4 }: { rows?: number }) {
  return (
    <div className={classes.panel} aria-busy="true">
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <div key={row} className={classes.row}>
          <Skeleton height={12} width={96} />
          <Skeleton height={12} width={`${20 + ((row * 13) % 30)}%`} />
        </div>
      ))}
    </div>
  );
}

/** A form while it loads. */
export function FormSkeleton() {
  return <Skeleton height={400} aria-busy="true" />;
}
