import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { text } from '@stagi/contract/text.ts';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { streamCall } from '../../../api/streamCall.ts';

export interface Message {
  role: 'user' | 'assistant';
  content: string;
  /** What the model thought before, where its engine tells that apart. */
  reasoning: string;
  /** Of an answer. */
  state?: 'waiting' | 'coming' | 'whole' | 'stopped' | 'failed';
  error?: string;
  measured?: Measured;
}

/** One answer, as this page saw it: the way through the platform and its server is in it. */
export interface Measured {
  /** Seconds from sending to the first text. */
  ttft: number;
  /** Tokens per second after the first one; null for an answer of one token. */
  rate: number | null;
  promptTokens: number | null;
  answerTokens: number | null;
}

const MAX_TOKENS = 1024;

/** A conversation with an engine. It is kept on this page alone. */
export function useChat(endpointId: number) {
  const [messages, setMessages] = useState<Message[]>([]);
  const going = useRef<AbortController | null>(null);
  const isGoing = messages.at(-1)?.state === 'waiting' || messages.at(-1)?.state === 'coming';
  useEffect(() => () => going.current?.abort(), []);

  const change = (how: (last: Message) => Message) =>
    setMessages((all) => all.map((message, index) => (index === all.length - 1 ? how(message) : message)));

  async function send(content: string): Promise<void> {
    const asked: Message[] = [...messages.filter(isPartOfTalk), { role: 'user', content, reasoning: '' }];
    const ended = new AbortController();
    going.current = ended;
    setMessages([...messages, asked.at(-1)!, { role: 'assistant', content: '', reasoning: '', state: 'waiting' }]);
    const watch = stopwatch();
    try {
      const input = {
        endpointRef: { id: endpointId },
        messages: asked.map((message) => ({ role: message.role, content: message.content })),
        maxTokens: MAX_TOKENS,
      };
      // Any call gets new tokens where they have expired.
      const refresh = () => call(api.modelEndpoints.view, { id: endpointId }, { quiet: true });
      for await (const event of streamCall(api.modelEndpoints.run, input, { signal: ended.signal, refresh })) {
        if (event.type === 'text') {
          watch.token();
          const part = event.reasoning ? 'reasoning' : 'content';
          change((last) => ({ ...last, state: 'coming', [part]: last[part] + event.text }));
        } else if (event.type === 'end')
          change((last) => ({ ...last, state: 'whole', measured: watch.measured(event) }));
        else change((last) => ({ ...last, state: 'failed', error: event.message }));
      }
      // A stream that ends without saying so was cut off.
      change((last) => (last.state === 'coming' || last.state === 'waiting' ? cutOff(last) : last));
    } catch (error) {
      if (ended.signal.aborted) return change((last) => ({ ...last, state: 'stopped' }));
      if (error instanceof CallError) return change((last) => ({ ...last, state: 'failed', error: errorText(error) }));
      change(cutOff);
      console.warn('The answer of a model broke off', error);
    }
  }

  return {
    messages,
    isGoing,
    send,
    stop: () => going.current?.abort(),
    clear: () => {
      going.current?.abort();
      setMessages([]);
    },
  };
}

const cutOff = (message: Message): Message => ({ ...message, state: 'failed', error: text('The answer broke off') });

/** An answer without text, and the question before it, would be refused as a part of the next one. */
const isPartOfTalk = ({ content }: Message): boolean => content !== '';

function stopwatch() {
  const sentAt = performance.now();
  let firstAt = 0;
  let lastAt = 0;
  let parts = 0;
  return {
    token(): void {
      lastAt = performance.now();
      if (parts === 0) firstAt = lastAt;
      parts += 1;
    },
    measured({ promptTokens, answerTokens }: Pick<Measured, 'promptTokens' | 'answerTokens'>): Measured | undefined {
      if (parts === 0) return undefined;
      const count = answerTokens ?? parts;
      const seconds = (lastAt - firstAt) / 1000;
      return {
        ttft: (firstAt - sentAt) / 1000,
        rate: count > 1 && seconds > 0 ? (count - 1) / seconds : null,
        promptTokens,
        answerTokens,
      };
    },
  };
}
