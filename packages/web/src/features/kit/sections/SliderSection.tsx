import { Button } from '@mantine/core';
import { Component, type ReactNode, useRef, useState } from 'react';
import { Slider, type SliderControl } from '../../../ui/form/Slider.tsx';
import { SLIDER_COLORS, SLIDER_SIZES } from '../../../ui/kitConstants.ts';
import { Specimen, Specimens } from '../Specimen.tsx';
import { Value } from '../Value.tsx';

/** Slider. */
export default function SliderSection() {
  const [single, setSingle] = useState(40);
  const [range, setRange] = useState<readonly number[]>([20, 70]);
  const [price, setPrice] = useState<readonly number[]>([0.5, 2.25]);
  const [tall, setTall] = useState(30);
  const [tallRange, setTallRange] = useState<readonly number[]>([25, 75]);
  const [right, setRight] = useState<readonly number[]>([10, 60]);
  const [wrong, setWrong] = useState('');
  const control = useRef<SliderControl>(null);
  return (
    <Specimens>
      <Specimen id="slider-single" title="One value: an upper bound">
        <div style={{ width: '100%' }}>
          <Slider label="At most" value={single} onChange={setSingle} boxes />
        </div>
        <Value id="slider-single-value" of={single} />
      </Specimen>
      <Specimen id="slider-range" title="Range with numeric boxes">
        <div style={{ width: '100%' }}>
          <Slider label="RAM, GB" value={range} onChange={setRange} boxes control={control} />
        </div>
        <Value id="slider-range-value" of={range} />
        <Button size="xs" variant="default" onClick={() => control.current?.setHandle(1, 90)}>
          Move the second to 90
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            try {
              control.current?.setHandle(2, 90);
            } catch (error) {
              setWrong(String(error));
            }
          }}
        >
          Move the third
        </Button>
        <Value id="slider-wrong" of={wrong} />
      </Specimen>
      <Specimen id="slider-float" title="With fractions">
        <div style={{ width: '100%' }}>
          <Slider label="STAGI/h" value={price} onChange={setPrice} min={0} max={4} step={0.25} float boxes />
        </div>
        <Value id="slider-float-value" of={price} />
      </Specimen>
      <Specimen id="slider-rtl" title="Right to left">
        <div style={{ width: '100%' }}>
          <Slider label="Right to left" value={right} onChange={setRight} rtl boxes />
        </div>
        <Value id="slider-rtl-value" of={right} />
      </Specimen>
      <Specimen id="slider-vertical" title="Vertical">
        <Slider label="Tall" value={tall} onChange={setTall} vertical />
        <Slider label="Tall range" value={tallRange} onChange={setTallRange} vertical boxes />
        <Value id="slider-vertical-value" of={[tall, tallRange]} />
      </Specimen>
      <Specimen id="slider-looks" title="Sizes and colours">
        {SLIDER_COLORS.flatMap((color) =>
          SLIDER_SIZES.map((size) => (
            <div key={color + size} style={{ width: '100%' }}>
              <Slider label={`${color}, ${size}`} color={color} size={size} value={range} onChange={setRange} />
            </div>
          )),
        )}
        <div style={{ width: '100%' }}>
          <Slider label="Off" value={60} onChange={() => undefined} disabled boxes />
        </div>
        <div style={{ width: '100%' }}>
          <Slider label="Wrong range" value={range} onChange={setRange} error="Nothing has so much RAM" />
        </div>
      </Specimen>
      <Specimen id="slider-errors" title="What is refused">
        <Refused what="a second one on the same element">
          <Slider label="First" id="same" value={1} onChange={() => undefined} />
          <Slider label="Second" id="same" value={2} onChange={() => undefined} />
        </Refused>
        <Refused what="an empty array">
          <Slider label="Empty" value={[] as readonly number[]} onChange={() => undefined} />
        </Refused>
      </Specimen>
    </Specimens>
  );
}

/** Shows what drawing its children threw. */
class Refused extends Component<{ what: string; children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <p style={{ margin: 0 }}>
        {this.props.what}: <code>{error.message}</code>
      </p>
    );
  }
}
