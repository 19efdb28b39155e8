import { newSeed } from '@stagi/contract/testing/random.ts';
import fc from 'fast-check';

// Loaded before each test file when `TEST_SEED` is set: properties that name no seed take it too.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: newSeed() });
