import { useState } from 'react';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { PasswordInput } from '../../../ui/form/PasswordInput.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { UniqueIdInput } from '../../../ui/form/UniqueIdInput.tsx';
import {
  DATE_MASK,
  FEEDBACK_ROWS,
  INPUT_SIZES,
  TEXTAREA_COLORS,
  TEXTAREA_SIZES,
  TIME_MASK,
} from '../../../ui/kitConstants.ts';
import { Specimen, Specimens } from '../Specimen.tsx';

/** Text, numbers, passwords and text of several lines. */
export default function InputsSection() {
  const [values, setValues] = useState({
    date: '',
    time: '',
    slug: '',
    count: 2 as number | string,
    share: 0.5 as number | string,
  });
  return (
    <Specimens>
      <Specimen id="input-sizes" title="Text input, sizes">
        {INPUT_SIZES.map((size) => (
          <TextInput key={size} aria-label={`Size ${size}`} size={size} defaultValue={size} w={120} />
        ))}
      </Specimen>
      <Specimen id="input-states" title="States">
        <TextInput label="Name" placeholder="Lab 3" description="As you call it" />
        <TextInput label="Company" optional placeholder="None" />
        <TextInput label="Email" defaultValue="somebody" error="Enter a valid email" />
        <TextInput label="Not to be changed" defaultValue="gpu-box-1" disabled />
      </Specimen>
      <Specimen id="input-masks" title="Masks and lower case">
        <TextInput
          label="Date"
          mask={DATE_MASK}
          placeholder="DD/MM/YYYY"
          value={values.date}
          onChange={({ currentTarget: { value } }) => setValues((now) => ({ ...now, date: value }))}
        />
        <TextInput
          label="Time"
          mask={TIME_MASK}
          placeholder="HH:mm"
          value={values.time}
          onChange={({ currentTarget: { value } }) => setValues((now) => ({ ...now, time: value }))}
        />
        <UniqueIdInput
          label="Unique ID"
          value={values.slug}
          onChange={({ currentTarget: { value } }) => setValues((now) => ({ ...now, slug: value }))}
        />
      </Specimen>
      <Specimen id="input-number" title="Numbers">
        <NumberInput
          label="Count"
          min={1}
          max={10}
          allowDecimal={false}
          value={values.count}
          onChange={(count) => setValues((now) => ({ ...now, count }))}
        />
        <NumberInput
          label="Share"
          step={0.25}
          value={values.share}
          onChange={(share) => setValues((now) => ({ ...now, share }))}
        />
        <NumberInput label="Wrong number" defaultValue={500} error="There are only 8 CPUs" />
      </Specimen>
      <Specimen id="input-password" title="Hidden as typed">
        <PasswordInput label="Password" w={260} defaultValue="Correct7Horse" />
        <PasswordInput
          label="Wrong password"
          w={260}
          defaultValue="short"
          error="Password must be at least 8 characters"
        />
      </Specimen>
      <Specimen id="textarea-colors" title="Several lines, colours and sizes" wide>
        {TEXTAREA_COLORS.flatMap((color) =>
          TEXTAREA_SIZES.map((size) => (
            <Textarea
              key={color + size}
              label={`${color}, ${size}`}
              color={color}
              size={size}
              minRows={FEEDBACK_ROWS}
              placeholder="Describe the issue or idea in detail"
              style={{ flex: '1 1 260px' }}
            />
          )),
        )}
        <Textarea label="Wrong" error="Subject is required" minRows={2} style={{ flex: '1 1 260px' }} />
        <Textarea label="Command" mono minRows={2} defaultValue="python -u train.py" style={{ flex: '1 1 260px' }} />
      </Specimen>
    </Specimens>
  );
}
