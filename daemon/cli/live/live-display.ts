/** Redraws the picture in place on a terminal. The last picture stays. */
import type { RunAggregate } from '../../../machines/index.ts';
import { isRunTerminal } from '../../../machines/index.ts';
import type { Terminal } from '../terminal.ts';
import { windowOf } from '../window.ts';
import { cut } from './cut.ts';
import { picture } from './live-rows.ts';
import type { RunDisplay } from './run-display.ts';
import { symbolsFor } from './symbols.ts';

/** Often enough to look alive, seldom enough to cost nothing. */
const redrawMs = 120;
const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';

export function liveDisplay(terminal: Terminal): RunDisplay {
  const stream = terminal.errorStream;
  const symbols = symbolsFor(terminal.env);
  const steps = new Map<string, string>();
  let latest: RunAggregate | null = null;
  let drawnLines = 0;
  let closed = false;

  const erase = (): string => (drawnLines === 0 ? '' : `\u001b[${drawnLines}A\u001b[0J`);
  const draw = (): void => {
    if (latest === null || closed) return;
    const { columns, rows } = windowOf(stream);
    const lines = picture({
      aggregate: latest,
      now: Date.now(),
      steps,
      symbols,
      paint: terminal.errorPaint,
      rowsMax: isRunTerminal(latest.run.state) ? Math.max(rows - 2, 200) : rows - 2,
    }).map((line) => cut(line, columns - 1));
    stream.write(`${erase()}${lines.join('\n')}\n`);
    drawnLines = lines.length;
  };
  const timer = setInterval(draw, redrawMs);
  const restore = (): void => {
    stream.write(showCursor);
  };
  stream.write(hideCursor);
  // Whatever ends the process, the user gets the cursor back.
  process.once('exit', restore);

  return {
    show(_facts, aggregate) {
      latest = aggregate;
    },
    progress({ jobId, step }) {
      if (step === null) steps.delete(jobId);
      else steps.set(jobId, step);
    },
    note(text) {
      stream.write(`${closed ? '' : erase()}${text}\n`);
      drawnLines = 0;
      draw();
    },
    close() {
      if (closed) return;
      clearInterval(timer);
      draw();
      closed = true;
      process.off('exit', restore);
      restore();
    },
  };
}
