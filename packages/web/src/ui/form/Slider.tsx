import { DirectionProvider, Slider as MantineSlider, RangeSlider } from '@mantine/core';
import { type ReactNode, type Ref, useEffect, useId, useImperativeHandle, useRef } from 'react';
import { useT } from '../../i18n/i18n.ts';
import {
  type SLIDER_COLORS,
  SLIDER_MAX,
  SLIDER_MIN,
  SLIDER_SIZE,
  type SLIDER_SIZES,
  SLIDER_STEP,
} from '../kitConstants.ts';
import { FormItem } from './FormItem.tsx';
import classes from './Slider.module.css';
import { SliderBox } from './SliderBox.tsx';
import { claimElement, digitsOf, handlesOf, moveHandle, type SliderValue, stepOf } from './sliderHandles.ts';

/** Moves the handles from code. */
export interface SliderControl {
  /** Throws where there is no such handle. */
  setHandle(index: number, value: number): void;
  focusHandle(index: number): void;
}

interface Props<V extends SliderValue> {
  label: string;
  /** A number is an upper bound alone; an array of two is a range. */
  value: V;
  onChange(value: NoInfer<V>): void;
  /** A drag or a key has ended. */
  onChangeEnd?(value: NoInfer<V>): void;
  min?: number;
  max?: number;
  step?: number;
  /** Values with a fraction; whole numbers otherwise. */
  float?: boolean;
  vertical?: boolean;
  rtl?: boolean;
  size?: (typeof SLIDER_SIZES)[number];
  color?: (typeof SLIDER_COLORS)[number];
  /** Names of the two ends. */
  labels?: readonly [from: string, to: string];
  /** Numeric boxes beside the slider. */
  boxes?: boolean;
  /** A control that is bound to the same value, at the end of the track. */
  beside?: ReactNode;
  disabled?: boolean;
  description?: ReactNode;
  error?: ReactNode;
  name?: string;
  /** Of its element; two sliders cannot share one. */
  id?: string;
  control?: Ref<SliderControl>;
}

const THICKNESS = { xs: { track: 4, thumb: 16 }, s: { track: 6, thumb: 20 } };

/** Bounds that are dragged, moved with the arrow keys, or typed. */
export function Slider<V extends SliderValue>(props: Props<V>) {
  const { value, onChange, onChangeEnd, min = SLIDER_MIN, max = SLIDER_MAX, float = false } = props;
  const { vertical, rtl, size = SLIDER_SIZE, color = 'primary', disabled } = props;
  const t = useT();
  const ownId = useId();
  const id = props.id ?? ownId;
  const root = useRef<HTMLDivElement>(null);
  const step = stepOf({ step: props.step ?? SLIDER_STEP, float });
  const scale = { min, max, step, float };
  const handles = handlesOf(value, scale);
  const names = props.labels ?? [t('from'), t('to')];
  const isRange = handles.length === 2;

  useEffect(() => claimElement(id), [id]);

  const shaped = (next: readonly number[]) => (typeof value === 'number' ? next[0] : next) as V;
  const move = (index: number, to: number) => {
    const next = moveHandle(handles, index, to, scale);
    if (next.some((handle, at) => handle !== handles[at])) onChange(shaped(next));
  };
  useImperativeHandle(props.control, () => ({
    setHandle: move,
    focusHandle(index) {
      moveHandle(handles, index, handles[index] ?? min, scale);
      root.current?.querySelectorAll<HTMLElement>('[role="slider"]')[index]?.focus();
    },
  }));

  const shared = {
    id,
    ref: root,
    min,
    max,
    step,
    precision: float ? digitsOf(step) : 0,
    disabled,
    size: THICKNESS[size].track,
    thumbSize: THICKNESS[size].thumb,
    color: color === 'primary' ? 'indigo' : 'gray',
    orientation: vertical ? ('vertical' as const) : ('horizontal' as const),
    label: null,
    name: props.name,
    classNames: { root: classes.slider, thumb: classes.thumb },
    'data-kit-color': color,
  };
  const named = (end: string) => `${props.label}: ${end}`;

  return (
    <FormItem label={props.label} description={props.description} error={props.error} name={props.name} group="group">
      <DirectionProvider initialDirection={rtl ? 'rtl' : 'ltr'} detectDirection={false}>
        <div
          className={classes.control}
          dir={rtl ? 'rtl' : 'ltr'}
          data-vertical={vertical || undefined}
          data-beside={props.beside ? true : undefined}
        >
          {isRange ? (
            <RangeSlider
              {...shared}
              value={handles as [number, number]}
              onChange={(next) => onChange(shaped(next))}
              onChangeEnd={(next) => onChangeEnd?.(shaped(next))}
              minRange={0}
              pushOnOverlap={false}
              thumbFromLabel={named(names[0])}
              thumbToLabel={named(names[1])}
            />
          ) : (
            <MantineSlider
              {...shared}
              value={handles[0]}
              onChange={(next) => onChange(shaped([next]))}
              onChangeEnd={(next) => onChangeEnd?.(shaped([next]))}
              thumbLabel={named(names[1])}
            />
          )}
          {props.beside}
          {props.boxes && (
            <div className={classes.boxes}>
              {isRange && box(0)}
              {box(isRange ? 1 : 0)}
            </div>
          )}
        </div>
      </DirectionProvider>
    </FormItem>
  );

  function box(index: number) {
    const end = isRange && index === 0 ? names[0] : names[1];
    return (
      <SliderBox
        prefix={end}
        name={named(end)}
        value={handles[index] ?? min}
        step={step}
        decimals={float ? digitsOf(step) : 0}
        disabled={disabled}
        onCommit={(number) => move(index, number)}
      />
    );
  }
}
