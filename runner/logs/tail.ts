/** The last bytes of a stream, in memory that does not grow. */
export interface Tail {
  add(chunk: Uint8Array): void;
  /** Gives them, and begins anew. `dropped`: the bytes before `bytes` that are gone. */
  take(): { readonly bytes: Uint8Array; readonly dropped: number };
}

export function createTail(bytesMax: number): Tail {
  let ring: Buffer = Buffer.alloc(0);
  let total = 0;
  return {
    add(chunk) {
      if (ring.byteLength === 0) ring = Buffer.alloc(bytesMax);
      const some = chunk.subarray(Math.max(0, chunk.byteLength - bytesMax));
      const at = (total + chunk.byteLength - some.byteLength) % bytesMax;
      const fitting = some.subarray(0, bytesMax - at);
      ring.set(fitting, at);
      ring.set(some.subarray(fitting.byteLength), 0);
      total += chunk.byteLength;
    },
    take() {
      const dropped = Math.max(0, total - bytesMax);
      const at = dropped === 0 ? 0 : total % bytesMax;
      const bytes = Buffer.concat([ring.subarray(at, dropped === 0 ? total : undefined), ring.subarray(0, at)]);
      total = 0;
      return { bytes, dropped };
    },
  };
}
