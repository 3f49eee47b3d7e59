/** What goes wrong beside a command, in one line. */
import { withPublicIds } from '../ids/index.ts';

export const troubleText = (where: string, error: unknown): string =>
  withPublicIds(`trouble in ${where}: ${error instanceof Error ? error.message : String(error)}`);
