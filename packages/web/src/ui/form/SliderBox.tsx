import { useState } from 'react';
import { SLIDER_BOX_MAX, SLIDER_BOX_MIN } from '../kitConstants.ts';
import { NumberInput } from './NumberInput.tsx';
import classes from './Slider.module.css';
import { boxNumber } from './sliderHandles.ts';

interface Props {
  /** Stands before the box. */
  prefix: string;
  name: string;
  value: number;
  step: number;
  decimals: number;
  disabled?: boolean;
  /** With every change that leaves a number in the box. */
  onCommit(number: number): void;
}

/** A bound as a number to type. While it has the cursor it keeps what is typed, wherever the handle had to stop. */
export function SliderBox({ prefix, name, value, step, decimals, disabled, onCommit }: Props) {
  const [typed, setTyped] = useState<number | string | null>(null);
  return (
    <span className={classes.box}>
      <span className={classes.boxName} aria-hidden>
        {prefix}
      </span>
      <NumberInput
        aria-label={name}
        size="xxs"
        w={92}
        min={SLIDER_BOX_MIN}
        max={SLIDER_BOX_MAX}
        clampBehavior="strict"
        step={step}
        allowDecimal={decimals > 0}
        decimalScale={decimals}
        disabled={disabled}
        value={typed ?? value}
        onChange={(next) => {
          setTyped(next);
          const number = boxNumber(next);
          if (number !== null) onCommit(number);
        }}
        onBlur={() => setTyped(null)}
      />
    </span>
  );
}
