import type { ModelCard } from '@stagi/contract/models.ts';

/** A deployed model. */
export interface Endpoint {
  /** Its origin, such as `https://server.example:30001`; the API is below `/v1`. */
  url: string;
  /** What its engine calls the model. */
  model: string;
  /** Whether its API asks for a key. */
  hasKey: boolean;
  /** Its port is private: the platform asks for an API token of its own. */
  isPrivate?: boolean;
}

export interface Snippet {
  key: 'curl' | 'javascript' | 'python';
  tool: string;
  code: string;
}

/** Stands where the address belongs that exists once the model is deployed. */
export const PLACEHOLDER = 'https://YOUR-ENDPOINT';

/** What the engines of a task have in common. */
const APIS: Partial<Record<ModelCard['task'], (endpoint: Endpoint) => Snippet[]>> = {
  'text-generation': chat,
  reasoning: chat,
  code: chat,
  'vision-language': chat,
  embedding: embeddings,
  'speech-to-text': transcription,
};

/** Programs that ask a deployed model, ready to be pasted; `null` where the engines of the task share no API. */
export const snippets = (task: ModelCard['task'], endpoint: Endpoint): Snippet[] | null =>
  APIS[task]?.(endpoint) ?? null;

function chat(endpoint: Endpoint): Snippet[] {
  const { model } = endpoint;
  const messages = [{ role: 'user', content: 'What is a graphics processor?' }];
  return [
    curl(endpoint, 'chat/completions', { model, messages }),
    javascript(
      endpoint,
      `const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: 'What is a graphics processor?' }],
});
console.log(answer.choices[0].message.content);`,
    ),
    python(
      endpoint,
      `answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "What is a graphics processor?"}],
)
print(answer.choices[0].message.content)`,
    ),
  ];
}

function embeddings(endpoint: Endpoint): Snippet[] {
  const { model } = endpoint;
  const input = ['A graphics processor', 'A central processor'];
  return [
    curl(endpoint, 'embeddings', { model, input }),
    javascript(
      endpoint,
      `const answer = await client.embeddings.create({
  model: ${quoted(model)},
  input: ['A graphics processor', 'A central processor'],
});
for (const { embedding } of answer.data) console.log(embedding.length);`,
    ),
    python(
      endpoint,
      `answer = client.embeddings.create(
    model="${model}",
    input=["A graphics processor", "A central processor"],
)
for item in answer.data:
    print(len(item.embedding))`,
    ),
  ];
}

function transcription(endpoint: Endpoint): Snippet[] {
  const { url, model } = endpoint;
  return [
    {
      key: 'curl',
      tool: 'curl',
      code: [
        `curl ${url}/v1/audio/transcriptions`,
        ...headersOf(endpoint),
        '-F file=@speech.wav',
        `-F model=${model}`,
      ].join(' \\\n  '),
    },
    javascript(
      endpoint,
      `const answer = await client.audio.transcriptions.create({
  model: ${quoted(model)},
  file: createReadStream('speech.wav'),
});
console.log(answer.text);`,
      "import { createReadStream } from 'node:fs';\n",
    ),
    python(
      endpoint,
      `with open("speech.wav", "rb") as file:
    answer = client.audio.transcriptions.create(model="${model}", file=file)
print(answer.text)`,
    ),
  ];
}

const headersOf = ({ hasKey, isPrivate }: Endpoint): string[] => [
  ...(hasKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
  ...(isPrivate ? ['-H "X-Stagi-Token: $STAGI_TOKEN"'] : []),
];

function curl(endpoint: Endpoint, path: string, body: object): Snippet {
  const lines = [
    `curl ${endpoint.url}/v1/${path}`,
    ...headersOf(endpoint),
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ];
  return { key: 'curl', tool: 'curl', code: lines.join(' \\\n  ') };
}

/** The SDK wants a key even where the API asks for none. */
function javascript({ url, hasKey, isPrivate }: Endpoint, code: string, imports = ''): Snippet {
  const options = [
    `baseURL: ${quoted(`${url}/v1`)}`,
    `apiKey: ${hasKey ? 'process.env.API_KEY' : "'none'"}`,
    ...(isPrivate ? ["defaultHeaders: { 'X-Stagi-Token': process.env.STAGI_TOKEN }"] : []),
  ];
  return {
    key: 'javascript',
    tool: 'JavaScript',
    code: `${imports}import OpenAI from 'openai';

const client = new OpenAI({
  ${options.join(',\n  ')},
});
${code}`,
  };
}

function python({ url, hasKey, isPrivate }: Endpoint, code: string): Snippet {
  const options = [
    `base_url="${url}/v1"`,
    `api_key=${hasKey ? 'os.environ["API_KEY"]' : '"none"'}`,
    ...(isPrivate ? ['default_headers={"X-Stagi-Token": os.environ["STAGI_TOKEN"]}'] : []),
  ];
  return {
    key: 'python',
    tool: 'Python',
    code: `${hasKey || isPrivate ? 'import os\n\n' : ''}from openai import OpenAI

client = OpenAI(
    ${options.join(',\n    ')},
)
${code}`,
  };
}

const quoted = (text: string): string => `'${text}'`;
