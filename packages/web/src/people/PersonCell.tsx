import type { ReactNode } from 'react';
import { CutText } from '../ui/CutText.tsx';
import { PersonAvatar } from './PersonAvatar.tsx';
import classes from './PersonCell.module.css';

interface Props {
  name: string;
  image: string | null;
  /** What sets this person apart, behind the name. */
  tag?: ReactNode;
}

/** A person in the first cell of a list. */
export function PersonCell({ name, image, tag }: Props) {
  return (
    <span className={classes.person}>
      <PersonAvatar name={name} image={image} size={28} />
      <CutText className={classes.name}>{name}</CutText>
      {tag}
    </span>
  );
}
