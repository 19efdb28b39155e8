import { Skeleton } from '@mantine/core';
import classes from './Calculator.module.css';

/** In the height that the matrix will have. */
export function CalculatorSkeleton() {
  return (
    <div aria-busy="true" className={classes.skeleton}>
      <Skeleton height={28} width={160} />
      <Skeleton height={62} maw={480} />
      <Skeleton height={520} />
    </div>
  );
}
