// dependency-cruiser reads TypeScript through swc and forgets to tell it which files hold JSX. Preloaded with --import.
import swc from '@swc/core';

const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });
