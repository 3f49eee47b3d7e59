/** Asks again while the store cannot be reached: what agents, command lines and daemons do with the same request. */
import { StoreUnavailable } from '../../store/index.ts';

const triesMax = 20;

export async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tries >= triesMax) throw error;
    }
  }
}
