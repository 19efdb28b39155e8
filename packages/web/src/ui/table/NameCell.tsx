import { CutText } from '../CutText.tsx';
import classes from './NameCell.module.css';

/** Title over Unique ID, for the first cell of a list. */
export function NameCell({ title, slug }: { title: string; slug: string }) {
  return (
    <span className={classes.name}>
      <CutText>{title}</CutText>
      <span className={classes.slug}>{slug}</span>
    </span>
  );
}
