import { Link } from 'react-router';
import classes from './ProjectCode.module.css';

interface Props {
  label: string;
  views: readonly { key: string; label: string; to: string }[];
  chosen: string;
}

/** Ways to look at the same thing, each with its address. */
export function ViewSwitch({ label, views, chosen }: Props) {
  return (
    <nav className={classes.switch} aria-label={label}>
      {views.map((view) => (
        <Link
          key={view.key}
          to={view.to}
          replace
          preventScrollReset
          aria-current={view.key === chosen ? 'true' : undefined}
          data-testid={`view-${view.key}`}
        >
          {view.label}
        </Link>
      ))}
    </nav>
  );
}
