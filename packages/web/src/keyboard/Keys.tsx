import { Kbd } from '@mantine/core';
import classes from './Keys.module.css';

/** Keys to press, at once or one after the other. */
export function Keys({ keys, then }: { keys: readonly string[]; then?: string }) {
  return (
    <span className={classes.keys}>
      {keys.map((key, index) => (
        <span key={key} className={classes.keys}>
          {index > 0 && then && <span className={classes.then}>{then}</span>}
          <Kbd className={classes.key}>{key}</Kbd>
        </span>
      ))}
    </span>
  );
}
