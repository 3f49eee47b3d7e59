/** Chooses how a run is shown: redrawn in place, as lines that stay, or as data. */
import { factView } from '../../views/index.ts';
import type { Terminal } from '../terminal.ts';
import { createFactLines } from './fact-lines.ts';
import type { RunDisplay } from './run-display.ts';

export async function createDisplay(terminal: Terminal): Promise<RunDisplay> {
  if (terminal.format === 'jsonl') return factStream(terminal);
  if (!terminal.isLive) return plainDisplay(terminal);
  const { liveDisplay } = await import('./live-display.ts');
  return liveDisplay(terminal);
}

/** Lines that stay: for logs, pipes and terminals that cannot be redrawn. */
function plainDisplay(terminal: Terminal): RunDisplay {
  const lineOf = createFactLines(terminal.errorPaint);
  return {
    show(facts, aggregate) {
      for (const fact of facts) {
        const line = lineOf(fact, aggregate);
        if (line !== null) terminal.progress(line);
      }
    },
    progress: () => undefined,
    note: terminal.note,
    close: () => undefined,
  };
}

/** With `-o jsonl` the facts are the data: one object a line, as they happen. */
function factStream(terminal: Terminal): RunDisplay {
  return {
    show(facts, aggregate) {
      const names = aggregate.index.plan.nodes.map((node) => node.name);
      for (const fact of facts) terminal.out(JSON.stringify(factView(fact, names)));
    },
    progress: () => undefined,
    note: terminal.note,
    close: () => undefined,
  };
}
