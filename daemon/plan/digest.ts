import { createHash } from 'node:crypto';
import type { Digest } from '../../machines/index.ts';

/** The digest by which plans, specs and outputs are known everywhere: sha256 of the UTF-8 bytes. */
export function sha256Digest(text: string): Digest {
  const digest = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  if (!isDigest(digest)) throw new Error('sha256 gave no digest');
  return digest;
}

function isDigest(text: string): text is Digest {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}
