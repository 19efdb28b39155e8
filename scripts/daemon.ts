try {
  const { buildDaemon } = await import('../packages/daemon/build.ts');
  await buildDaemon();
} catch (error) {
  console.error(`The daemon does not build, so no server can join: ${(error as Error).message}`);
  process.exitCode = 1;
}
