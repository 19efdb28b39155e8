import { useT } from '../i18n/i18n.ts';
import classes from './StatusBadge.module.css';
import { STATUS, type StatusTone } from './status.ts';

interface Props {
  /** The machine key of a status, as on the wire. */
  status: string;
  /** Drawn as a pill, for page headers. */
  prominent?: boolean;
}

/** A status as a shape, a word and a colour, so that nobody has to tell it by one of them alone. */
export function StatusBadge({ status, prominent = false }: Props) {
  const t = useT();
  const known = STATUS[status];
  const tone = known?.tone ?? 'idle';
  return (
    <span className={classes.status} data-tone={tone} data-prominent={prominent || undefined} data-status={status}>
      <StatusShape tone={tone} />
      <span>{known ? t(known.word) : status}</span>
    </span>
  );
}

function StatusShape({ tone }: { tone: StatusTone }) {
  return (
    <svg className={classes.shape} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      {shapes[tone]}
    </svg>
  );
}

const shapes: Record<StatusTone, React.ReactNode> = {
  ok: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  busy: (
    <g fill="none" stroke="currentColor" strokeWidth="2">
      <circle cx="5" cy="5" r="3.5" opacity="0.3" />
      <path className={classes.spin} d="M5 1.5A3.5 3.5 0 0 1 8.5 5" strokeLinecap="round" />
    </g>
  ),
  warn: <path d="M5 0.8 9.6 9.2H0.4Z" fill="currentColor" />,
  bad: <rect x="1.7" y="1.7" width="6.6" height="6.6" transform="rotate(45 5 5)" fill="currentColor" />,
  idle: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  off: <path d="M1 5h8" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />,
};
