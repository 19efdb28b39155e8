import type { ReactNode } from 'react';

const HUB = 'https://huggingface.co/';

/** A repository on the hub. */
export function HubLink({ repository, children = repository }: { repository: string; children?: ReactNode }) {
  return <OutsideLink to={HUB + repository}>{children}</OutsideLink>;
}

export function OutsideLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
