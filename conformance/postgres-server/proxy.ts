/** A TCP proxy before a server that can cut a connection at a named message: before it arrives, or after its answer. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export type Cut = 'before' | 'after';

export interface PostgresProxy extends AsyncDisposable {
  /** The same database through the proxy. */
  url(direct: string): string;
  /**
   * The next message that contains `text` is not delivered (`before`), or is, and its answer is not (`after`). Either way
   * the connection is reset. Resolves when that happened.
   */
  cutAt(text: string, cut: Cut): Promise<void>;
  /** While true, nobody gets a connection. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

interface Armed {
  readonly text: string;
  readonly cut: Cut;
  readonly fired: () => void;
}

export async function createPostgresProxy(server: {
  readonly host: string;
  readonly port: number;
}): Promise<PostgresProxy> {
  let armed: Armed | null = null;
  let refusing = false;
  const sockets = new Set<Socket>();

  const listener = createServer((client) => {
    if (refusing) {
      client.destroy();
      return;
    }
    const upstream = connect(server);
    let dropsAnswers: Armed | null = null;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (armed?.cut === 'before' && chunk.includes(armed.text)) {
        const { fired } = armed;
        armed = null;
        end();
        fired();
        return;
      }
      if (armed?.cut === 'after' && chunk.includes(armed.text)) {
        dropsAnswers = armed;
        armed = null;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (dropsAnswers === null) {
        client.write(chunk);
        return;
      }
      if (!endsWithReady(chunk)) return;
      end();
      dropsAnswers.fired();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  const proxy: PostgresProxy = {
    url(direct) {
      const through = new URL(direct);
      through.hostname = '127.0.0.1';
      through.port = String(address.port);
      return through.href;
    },
    cutAt(text, cut) {
      const { promise, resolve } = Promise.withResolvers<void>();
      armed = { text, cut, fired: resolve };
      return promise;
    },
    refuse(isRefusing) {
      refusing = isRefusing;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
    [Symbol.asyncDispose]: () => proxy.close(),
  };
  return proxy;
}

/** ReadyForQuery: the server has finished, and so committed, what it was sent. */
function endsWithReady(chunk: Buffer): boolean {
  const ready = Buffer.from([0x5a, 0, 0, 0, 5]);
  return chunk.length >= 6 && chunk.subarray(-6, -1).equals(ready);
}
