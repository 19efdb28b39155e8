const start = performance.now();
try {
  const { buildDaemonOnce } = await import('./daemonBuild.ts');
  const built = await buildDaemonOnce();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (built)
    console.log(`\r\x1b[K✓ Daemon built: ${(built.archiveBytes / 1e6).toFixed(1)} MB to download  ${seconds} s`);
} catch (error) {
  console.error(`The daemon does not build, so no server can join: ${(error as Error).message}`);
  process.exitCode = 1;
}
