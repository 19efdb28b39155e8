import { Group } from '@mantine/core';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import type { Model } from '@stagi/contract/models.ts';
import { type KeyboardEvent, type SyntheticEvent, useEffect, useRef, useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { Textarea } from '../../../ui/form/Textarea.tsx';
import { Note } from '../../../ui/Note.tsx';
import classes from './Chat.module.css';
import { MeasuredSpeed } from './MeasuredSpeed.tsx';
import { type Message, useChat } from './useChat.ts';

/** A conversation with a deployed model, with what each answer took. */
export function Chat({ endpoint, model }: { endpoint: ModelEndpoint; model: Model }) {
  const t = useT();
  const { messages, isGoing, send, stop, clear } = useChat(endpoint.id);
  const [draft, setDraft] = useState('');
  const [isEmpty, setIsEmpty] = useState(false);
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever an answer grows
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [messages]);

  function submit(event?: SyntheticEvent): void {
    event?.preventDefault();
    if (isGoing) return;
    setIsEmpty(draft.trim() === '');
    if (draft.trim() === '') return;
    void send(draft);
    setDraft('');
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
  }

  return (
    <div className={classes.chat} data-testid="chat">
      {messages.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <div className={classes.messages} role="log" aria-label={t('Conversation')} tabIndex={0}>
          {messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages are only ever added at the end
            <MessageView key={index} message={message} endpoint={endpoint} model={model} />
          ))}
          <div ref={end} />
        </div>
      )}
      <Form onSubmit={submit}>
        <Textarea
          label={t('Message')}
          placeholder={t('Ask {{title}} something', { title: model.title })}
          description={t('Enter sends, Shift and Enter begin a new line. The conversation is not stored.')}
          minRows={2}
          maxRows={8}
          value={draft}
          onChange={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          error={isEmpty && draft.trim() === '' ? t('Message is required') : undefined}
          data-testid="chat-message"
        />
        <Group gap={8} mt={8}>
          {isGoing ? (
            <Button color="gray" onClick={stop} data-testid="chat-stop">
              {t('Stop')}
            </Button>
          ) : (
            <Button type="submit" data-testid="chat-send">
              {t('Send')}
            </Button>
          )}
          {messages.length > 0 && (
            <Button color="gray" onClick={clear}>
              {t('New conversation')}
            </Button>
          )}
        </Group>
      </Form>
    </div>
  );
}

function MessageView({ message, endpoint, model }: { message: Message; endpoint: ModelEndpoint; model: Model }) {
  const t = useT();
  const { role, content, reasoning, state, error, measured } = message;
  return (
    <div className={classes.message} data-role={role} data-state={state}>
      <div className={classes.who}>{role === 'user' ? t('You') : model.title}</div>
      {reasoning !== '' && (
        <details className={classes.reasoning} open={state === 'coming' && content === ''}>
          <summary>{t('Reasoning')}</summary>
          {reasoning}
        </details>
      )}
      <div className={classes.text}>{content}</div>
      {state === 'waiting' && <div className="muted">{t('Waiting for the first token…')}</div>}
      {state === 'stopped' && <div className="muted">{t('Stopped')}</div>}
      {error && <Note tone="bad">{t(error)}</Note>}
      {measured && <MeasuredSpeed measured={measured} endpoint={endpoint} model={model} />}
    </div>
  );
}
