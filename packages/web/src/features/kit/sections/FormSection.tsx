import { Button } from '@mantine/core';
import { useState } from 'react';
import { CheckboxGroup } from '../../../ui/form/Checkbox.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';

const TOPICS = ['Report an issue', 'Suggest a feature'];

/** The form wrapper: errors by name, the cursor in the first field that is wrong. */
export default function FormSection() {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [values, setValues] = useState({ subject: '', topic: null as string | null, kind: null as string | null });
  const [gpus, setGpus] = useState<string[]>([]);

  function check(): void {
    setErrors({
      ...(values.subject === '' && { subject: 'Subject is required' }),
      ...(values.topic === null && { topic: 'Please choose an option' }),
      ...(values.kind === null && { kind: 'Please choose an option' }),
    });
  }

  return (
    <Specimens>
      <Specimen id="form" title="Errors under the fields">
        <Form
          errors={errors}
          onSubmit={(event) => {
            event.preventDefault();
            check();
          }}
          style={{ display: 'grid', gap: 16, width: '100%' }}
        >
          <TextInput
            label="Subject"
            name="subject"
            value={values.subject}
            onChange={({ currentTarget: { value } }) => setValues((now) => ({ ...now, subject: value }))}
          />
          <RadioGroup
            label="Topic"
            name="topic"
            options={TOPICS}
            value={values.topic}
            onChange={(topic) => setValues((now) => ({ ...now, topic }))}
          />
          <Select
            label="Kind"
            name="kind"
            options={['One', 'Two']}
            value={values.kind}
            onChange={(kind) => setValues((now) => ({ ...now, kind }))}
          />
          <Button type="submit">Send</Button>
        </Form>
      </Specimen>
      <Specimen id="form-items" title="Label, hint and error around a control">
        <FormItem label="A control of one's own" description="Any element takes the ties">
          {(attributes) => <input {...attributes} type="color" defaultValue="#5531e6" />}
        </FormItem>
        <FormItem label="Wrong colour" error="Too pale to be read">
          {(attributes) => <input {...attributes} type="color" defaultValue="#f4f4f8" />}
        </FormItem>
        <CheckboxGroup
          label="Group"
          options={['A', 'B']}
          value={gpus}
          onChange={setGpus}
          description="Under one label"
        />
        <Textarea label="Notes" optional minRows={2} />
      </Specimen>
    </Specimens>
  );
}
