import type { Language } from './languages.ts';

/** By the end of a file's name, or by a word that a code fence of Markdown names. */
const BY_WORD: Readonly<Record<string, Language>> = {
  ...words('bat', 'bat cmd'),
  ...words('c', 'c h'),
  ...words('clojure', 'clojure clj cljs cljc edn'),
  ...words('cmake', 'cmake'),
  ...words('cpp', 'cpp cc cxx c++ hpp hh hxx h++ inl ino cu cuh cuda hip metal'),
  ...words('csharp', 'csharp cs c#'),
  ...words('css', 'css'),
  ...words('dart', 'dart'),
  ...words('diff', 'diff patch'),
  ...words('docker', 'docker dockerfile containerfile'),
  ...words('elixir', 'elixir ex exs'),
  ...words('erlang', 'erlang erl hrl'),
  ...words('fortran-free-form', 'fortran f90 f95 f03 f08'),
  ...words('glsl', 'glsl vert frag comp'),
  ...words('go', 'go golang'),
  ...words('graphql', 'graphql gql'),
  ...words('groovy', 'groovy gradle'),
  ...words('haskell', 'haskell hs'),
  ...words('hcl', 'hcl tf tfvars terraform'),
  ...words('html', 'html htm xhtml'),
  ...words('ini', 'ini cfg conf properties editorconfig gitconfig gitmodules'),
  ...words('java', 'java'),
  ...words('javascript', 'javascript js mjs cjs'),
  ...words('json', 'json geojson ipynb webmanifest'),
  ...words('jsonc', 'jsonc json5'),
  ...words('jsx', 'jsx'),
  ...words('julia', 'julia jl'),
  ...words('kotlin', 'kotlin kt kts'),
  ...words('latex', 'latex tex sty cls'),
  ...words('less', 'less'),
  ...words('lua', 'lua'),
  ...words('make', 'make makefile mk'),
  ...words('markdown', 'markdown md mdx'),
  ...words('matlab', 'matlab m'),
  ...words('mojo', 'mojo'),
  ...words('nix', 'nix'),
  ...words('ocaml', 'ocaml ml mli'),
  ...words('perl', 'perl pl pm'),
  ...words('php', 'php'),
  ...words('powershell', 'powershell ps1 psm1 psd1'),
  ...words('proto', 'proto protobuf'),
  ...words('python', 'python py pyi pyw pyx bzl bazel starlark'),
  ...words('r', 'r rmd'),
  ...words('rst', 'rst'),
  ...words('ruby', 'ruby rb rake gemspec'),
  ...words('rust', 'rust rs'),
  ...words('scala', 'scala sc'),
  ...words('scss', 'scss'),
  ...words('shellscript', 'shellscript sh bash zsh ksh shell fish'),
  ...words('sql', 'sql'),
  ...words('svelte', 'svelte'),
  ...words('swift', 'swift'),
  ...words('toml', 'toml'),
  ...words('tsx', 'tsx'),
  ...words('typescript', 'typescript ts mts cts'),
  ...words('vue', 'vue'),
  ...words('xml', 'xml svg xsd xsl plist csproj'),
  ...words('yaml', 'yaml yml'),
  ...words('zig', 'zig'),
};

const BY_NAME: Readonly<Record<string, Language>> = {
  'cmakelists.txt': 'cmake',
  dockerfile: 'docker',
  containerfile: 'docker',
  makefile: 'make',
  gnumakefile: 'make',
  gemfile: 'ruby',
  rakefile: 'ruby',
  jenkinsfile: 'groovy',
  build: 'python',
  workspace: 'python',
  '.bashrc': 'shellscript',
  '.zshrc': 'shellscript',
  '.profile': 'shellscript',
  '.env': 'shellscript',
  '.gitconfig': 'ini',
  '.gitmodules': 'ini',
  '.editorconfig': 'ini',
  '.npmrc': 'ini',
  'cargo.lock': 'toml',
  'poetry.lock': 'toml',
  'uv.lock': 'toml',
  'tsconfig.json': 'jsonc',
  '.clang-format': 'yaml',
};

const BY_PROGRAM: readonly (readonly [RegExp, Language])[] = [
  [/\b(?:ba|z|k|da)?sh\b/, 'shellscript'],
  [/\bpython/, 'python'],
  [/\b(?:node|deno|bun)\b/, 'javascript'],
  [/\bperl\b/, 'perl'],
  [/\bruby\b/, 'ruby'],
];

/** The language of a file by its name, else by its first line; null: shown without colours. */
export function languageOf(name: string, text = ''): Language | null {
  const low = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const end = low.slice(low.lastIndexOf('.') + 1);
  const byName = own(BY_NAME, low) ?? (low.startsWith('dockerfile.') ? 'docker' : null);
  const byEnd = low.includes('.') ? own(BY_WORD, end) : null;
  if (byName ?? byEnd) return byName ?? byEnd;
  const program = /^#!([^\n]{1,200})/.exec(text)?.[1];
  return (program && BY_PROGRAM.find(([pattern]) => pattern.test(program))?.[1]) || null;
}

/** The language that a code fence names. */
export const languageNamed = (word: string): Language | null => own(BY_WORD, word.toLowerCase());

/** Names come from repositories: `constructor` is none of ours. */
function own(table: Readonly<Record<string, Language>>, key: string): Language | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}

function words(language: Language, list: string): Record<string, Language> {
  return Object.fromEntries(list.split(' ').map((word) => [word, language]));
}
