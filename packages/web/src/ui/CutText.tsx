import { useRef, useState } from 'react';
import classes from './CutText.module.css';
import { Tooltip } from './Tooltip.tsx';

interface Props {
  /** Such as a name, which may have a hundred characters without a space. */
  children: string;
  className?: string;
}

/** Text on one line, cut with an ellipsis where there is no room; then a tooltip shows the whole. */
export function CutText({ children, className }: Props) {
  const text = useRef<HTMLSpanElement>(null);
  const [isCut, setIsCut] = useState(false);
  const measure = () => {
    const element = text.current;
    if (element) setIsCut(element.scrollWidth > element.clientWidth);
  };
  return (
    <Tooltip label={children} disabled={!isCut}>
      <span
        ref={text}
        className={className ? `${classes.cut} ${className}` : classes.cut}
        data-cut-text
        onPointerEnter={measure}
        onTouchStart={measure}
      >
        {children}
      </span>
    </Tooltip>
  );
}
