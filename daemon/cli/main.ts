#!/usr/bin/env node
/**
 * The bin. It stays so small that every Node can load it: on one that is too old it says so instead of failing
 * inside an import. Everything else is loaded only after that, and only what the command needs.
 */
const oldestNode = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major < oldestNode) {
  console.error(`forgeyard needs Node ${oldestNode} or newer; this is ${process.version} (${process.execPath}).`);
  process.exitCode = 3;
} else {
  const { main } = await import('./run-cli.ts');
  await main(process);
}
