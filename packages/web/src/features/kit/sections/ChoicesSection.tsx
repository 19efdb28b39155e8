import { useState } from 'react';
import { Checkbox, CheckboxGroup } from '../../../ui/form/Checkbox.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';
import { Value } from '../Value.tsx';

const TOPICS = ['Report an issue', 'Suggest a feature', 'Ask a question', 'Something else'];
const GPUS = [
  { index: 0, name: '#0 H100 80 GB' },
  { index: 1, name: '#1 H100 80 GB', disabled: true, description: 'In use by “training”' },
  { index: 2, name: '#2 H100 80 GB' },
];
const PLANS = [
  { id: 'free', name: 'Free', description: '1 GPU at a time' },
  { id: 'team', name: 'Team', description: '8 GPUs at a time' },
  { id: 'more', name: 'Enterprise', description: 'On request', disabled: true },
];

/** Checkboxes and radio buttons. */
export default function ChoicesSection() {
  const [gpus, setGpus] = useState<number[]>([2]);
  const [few, setFew] = useState<string[]>([]);
  const [topic, setTopic] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [plan, setPlan] = useState('free');
  return (
    <Specimens>
      <Specimen id="checkbox" title="Checkbox">
        <div>
          <Checkbox label="This server has no NVIDIA GPU" defaultChecked />
          <Checkbox label="Some of them" indeterminate mt={8} />
          <Checkbox label="Not to be changed" disabled mt={8} />
          <Checkbox label="Terms" error="Please accept the terms" mt={8} />
        </div>
      </Specimen>
      <Specimen id="checkbox-group" title="Checkbox group, objects by label and key field">
        <CheckboxGroup
          label="GPUs"
          description="Each belongs to one container at a time"
          options={GPUS}
          labelField="name"
          keyField="index"
          value={gpus}
          onChange={setGpus}
        />
        <Value id="checkbox-group-value" of={gpus} />
      </Specimen>
      <Specimen id="checkbox-group-inline" title="Plain values, beside each other, with an error">
        <CheckboxGroup
          label="Topics"
          options={TOPICS}
          value={few}
          onChange={setFew}
          inline
          error="Please choose an option"
        />
      </Specimen>
      <Specimen id="radio-default" title="Radio group, default">
        <RadioGroup label="Topic" options={TOPICS} value={topic} onChange={setTopic} />
      </Specimen>
      <Specimen id="radio-error" title="With an error">
        <RadioGroup
          label="Wrong topic"
          options={TOPICS.slice(0, 2)}
          value={wrong}
          onChange={setWrong}
          error="Please choose an option"
        />
      </Specimen>
      <Specimen id="radio-filled" title="Radio group, filled">
        <RadioGroup
          label="Plan"
          variant="filled"
          options={PLANS}
          labelField="name"
          keyField="id"
          value={plan}
          onChange={setPlan}
        />
        <RadioGroup
          label="Plan, beside each other"
          variant="filled"
          inline
          options={PLANS.slice(0, 2)}
          labelField="name"
          keyField="id"
          value={plan}
          onChange={setPlan}
        />
      </Specimen>
    </Specimens>
  );
}
