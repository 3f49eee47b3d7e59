/**
 * Turns secret references into values, late and in the runner only (000 §228, §229). Problems name the
 * reference, never a value or what a provider printed.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

export interface SecretProviders {
  /** Argv of each command a reference `command:NAME` may run; its standard output is the value. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  /** `file:PATH` is relative to this folder. */
  readonly filesFrom: string;
  /** How long one provider command may take. */
  readonly commandTimeoutMs: number;
}

export interface ResolveOptions {
  readonly references: Readonly<Record<string, string>>;
  readonly providers: SecretProviders;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export type Resolved =
  | { readonly kind: 'resolved'; readonly values: ReadonlyMap<string, string> }
  | { readonly kind: 'failed'; readonly message: string };

const secretBytesMax = 64 * 1024;

export async function resolveSecrets(options: ResolveOptions): Promise<Resolved> {
  const values = new Map<string, string>();
  for (const [name, reference] of Object.entries(options.references)) {
    const found = await resolveOne(reference, options);
    if ('problem' in found) return { kind: 'failed', message: `secret ${name} (${reference}): ${found.problem}` };
    if (Buffer.byteLength(found.value) > secretBytesMax || found.value.includes('\0')) {
      return { kind: 'failed', message: `secret ${name} (${reference}): longer than 64 KiB, or not text` };
    }
    values.set(name, found.value);
  }
  return { kind: 'resolved', values };
}

type Found = { readonly value: string } | { readonly problem: string };

async function resolveOne(reference: string, options: ResolveOptions): Promise<Found> {
  const colon = reference.indexOf(':');
  const name = reference.slice(colon + 1);
  switch (reference.slice(0, colon)) {
    case 'env': {
      const value = options.env[name];
      return value === undefined ? { problem: 'the runner has no such environment variable' } : { value };
    }
    case 'file':
      return await fromFile(resolve(options.providers.filesFrom, name));
    case 'command': {
      const argv = Object.hasOwn(options.providers.commands, name) ? options.providers.commands[name] : undefined;
      return argv === undefined ? { problem: 'the runner has no such command' } : await fromCommand(argv, options);
    }
    default:
      return { problem: 'not a reference of the form env:NAME, file:PATH or command:NAME' };
  }
}

async function fromFile(path: string): Promise<Found> {
  try {
    return { value: withoutLineEnd(await readFile(path, 'utf8')) };
  } catch {
    return { problem: 'the runner cannot read the file' };
  }
}

function fromCommand(argv: readonly string[], options: ResolveOptions): Promise<Found> {
  const [file, ...args] = argv;
  if (file === undefined) return Promise.resolve({ problem: 'the command is empty' });
  return new Promise((done) => {
    // The host's environment as it was handed to the agent, not as this process has it.
    const env = { ...options.env };
    const settings = {
      env,
      timeout: options.providers.commandTimeoutMs,
      maxBuffer: secretBytesMax,
      signal: options.signal,
    };
    execFile(file, args, settings, (error, stdout) => {
      done(error === null ? { value: withoutLineEnd(stdout) } : { problem: 'the command failed' });
    });
  });
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
