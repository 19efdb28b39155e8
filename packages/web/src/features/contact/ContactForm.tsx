import { api } from '@stagi/contract/api.ts';
import type { ContactAbout } from '@stagi/contract/contact.ts';
import {
  CONTACT_COMPANY_MAX,
  CONTACT_NAME_MAX,
  CONTACT_TOPICS,
  type ContactTopic,
} from '@stagi/contract/contactTopics.ts';
import { randomId } from '@stagi/contract/randomId.ts';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { track } from '../../api/analytics.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useUserState } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { useTypedBeforeHydration } from '../../prerender/useTypedBeforeHydration.ts';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Textarea } from '../../ui/form/Textarea.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import classes from './ContactForm.module.css';

interface Props {
  /** What the person is looking at: it is sent with the message, and no topic is asked for. */
  about?: ContactAbout;
  /** Chosen when the form opens, and again when the page asks for another one. */
  topic?: ContactTopic;
  /** Whether leaving now would lose something. */
  onTyped?(typed: boolean): void;
  /** Left out: there is nothing to go back to. */
  onCancel?(): void;
  /** `email`: the address that was typed. */
  onSent(email: string): void;
}

/** A message to the operators, from anybody. Signed-in people find their name and address filled in. */
export function ContactForm(props: Props) {
  const state = useUserState();
  if (state.is === 'loading') return <PanelSkeleton rows={4} />;
  const { name, email } = state.is === 'signed-in' ? state.user.profile : { name: '', email: '' };
  return <Fields {...props} person={{ name, email }} />;
}

function Fields({
  about,
  topic = about ? 'A model' : undefined,
  onTyped,
  onCancel,
  onSent,
  person,
}: Props & { person: { name: string; email: string } }) {
  const t = useT();
  const keyOf = useKeyOf();
  const initialValues = { topic: topic ?? '', ...person, company: '', message: '', website: '' };
  const { form, field, submit, loading } = useCallForm(api.contact.send, {
    initialValues,
    toInput: (values) => ({ ...values, about, key: keyOf(JSON.stringify(values)) }),
    onSubmit: () => about && track('contact_form_send_button_models'),
    onDone: (_, { email }) => onSent(email),
  });
  const { values } = form;
  useTypedBeforeHydration(form);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form is new in each render
  useEffect(() => {
    if (topic) form.setFieldValue('topic', topic);
  }, [topic]);
  const typed = (['name', 'email', 'company', 'message'] as const).some(
    (name) => values[name].trim() !== initialValues[name],
  );
  // Before the next key, which may be Escape.
  useLayoutEffect(() => onTyped?.(typed), [typed, onTyped]);

  return (
    <Form className={classes.form} onSubmit={submit} noValidate>
      {!about && (
        <Topics
          value={values.topic}
          error={field('topic').error}
          onChange={(chosen) => form.setFieldValue('topic', chosen)}
        />
      )}
      <TextInput label={t('Name')} name="name" autoComplete="name" limit={CONTACT_NAME_MAX} {...field('name')} />
      <TextInput label={t('Email')} name="email" type="email" autoComplete="email" {...field('email')} />
      <TextInput
        label={t('Company')}
        optional
        name="company"
        autoComplete="organization"
        limit={CONTACT_COMPANY_MAX}
        {...field('company')}
      />
      <Textarea
        label={t('Message')}
        name="message"
        minRows={5}
        // All before it is filled in or optional.
        data-autofocus={about && person.name !== '' ? true : undefined}
        {...field('message')}
      />
      {/* A trap: people do not see it, programs that fill in every field do. */}
      <input
        className="visually-hidden"
        name="website"
        autoComplete="off"
        aria-hidden="true"
        tabIndex={-1}
        value={values.website}
        onChange={({ currentTarget }) => form.setFieldValue('website', currentTarget.value)}
      />
      <p className={classes.note}>
        {about && `${t('We also see what you are looking at: {{what}}.', { what: whatOf(about) })} `}
        {t('Your address is used for the answer only. Messages are deleted after 180 days.')}
      </p>
      <DialogButtons
        onCancel={onCancel}
        cancelLabel={onCancel ? undefined : null}
        submitLabel={t('Send')}
        loading={loading}
        testId="contact-submit"
      />
    </Form>
  );
}

interface TopicsProps {
  value: string;
  error: ReactNode;
  onChange(topic: ContactTopic): void;
}

/** Native controls: the kit's would bring the code of signed-in pages to visitors. */
function Topics({ value, error, onChange }: TopicsProps) {
  const t = useT();
  const errorId = useId();
  return (
    <fieldset className={classes.topics} aria-describedby={error ? errorId : undefined}>
      <legend>{t('Topic')}</legend>
      {CONTACT_TOPICS.map((topic) => (
        <label key={topic} className={classes.topic}>
          <input
            type="radio"
            name="topic"
            value={topic}
            checked={topic === value}
            aria-invalid={error ? true : undefined}
            onChange={() => onChange(topic)}
          />
          {t(topic)}
        </label>
      ))}
      {error && (
        <p id={errorId} className={classes.error}>
          {error}
        </p>
      )}
    </fieldset>
  );
}

const whatOf = ({ model, gpu, quality }: ContactAbout): string =>
  [model.name, gpu, quality].filter(Boolean).join(' · ');

/** The same message that is sent again, as no answer came, has the same key: it is stored once. */
function useKeyOf(): (words: string) => string {
  const last = useRef<{ words: string; key: string } | null>(null);
  return (words) => {
    if (last.current?.words !== words) last.current = { words, key: randomId() };
    return last.current.key;
  };
}
