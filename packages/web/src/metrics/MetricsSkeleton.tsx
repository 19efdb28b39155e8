import { Skeleton } from '@mantine/core';
import classes from './Metrics.module.css';

/** As high as the charts, while they load. */
export function MetricsSkeleton() {
  return (
    <div className={classes.charts} aria-busy="true">
      {['cpu', 'memory', 'network', 'disk'].map((name) => (
        <Skeleton key={name} height={232} />
      ))}
    </div>
  );
}
