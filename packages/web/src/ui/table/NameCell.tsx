import classes from './NameCell.module.css';

/** Title over Unique ID, for the first cell of a list. */
export function NameCell({ title, slug }: { title: string; slug: string }) {
  return (
    <span className={classes.name}>
      <span className={classes.title}>{title}</span>
      <span className={classes.slug}>{slug}</span>
    </span>
  );
}
