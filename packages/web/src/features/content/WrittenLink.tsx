import type { ReactNode } from 'react';
import { Link } from 'react-router';

/** A link of a text: within the app where it leads there. */
export function WrittenLink({ to, children }: { to: string; children: ReactNode }) {
  if (/^https?:/.test(to))
    return (
      <a href={to} rel="noopener">
        {children}
      </a>
    );
  return isOfApp(to) ? <Link to={to}>{children}</Link> : <a href={to}>{children}</a>;
}

/** Files are served, not shown by the app; places on the same page need nobody. */
const isOfApp = (to: string): boolean => to.startsWith('/') && !/^[^?#]*\.[a-z]+([?#]|$)/.test(to);
