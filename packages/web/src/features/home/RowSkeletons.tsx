import classes from './LivePrices.module.css';

/** Rows of the height that they will have. */
export function RowSkeletons({ rows }: { rows: number }) {
  return (
    <div aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <div key={row} className={classes.waiting}>
          <span style={{ width: `${30 + ((row * 17) % 25)}%` }} />
          <span style={{ width: 72 }} />
        </div>
      ))}
    </div>
  );
}
