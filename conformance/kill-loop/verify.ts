/** Opens the file after a kill and compares it with everything its workers had been answered. */
import type { FactType, LeaseId, RunId } from '../../machines/model/index.ts';
import type { Store } from '../../store/index.ts';
import type { Acknowledgement } from './acknowledgements.ts';

export interface Verdict {
  /** What was answered and is not there. */
  readonly lost: readonly string[];
  /** What happened more than once. */
  readonly twice: readonly string[];
  /** What the store's own check found. */
  readonly unsound: readonly string[];
}

/** Facts that an entity has at most once, whatever happens to the process. */
const onceOnly: ReadonlySet<FactType> = new Set([
  'RunCreated',
  'AttemptCreated',
  'AttemptEnded',
  'LeaseGranted',
  'JobSucceeded',
]);

export async function verifyStore(store: Store, said: readonly Acknowledgement[]): Promise<Verdict> {
  const { problems } = await store.check();
  const byRun = Map.groupBy(said, ({ run }) => run);
  const perRun = await Promise.all([...byRun].map(([run, lines]) => verifyRun(store, run, lines)));
  return {
    lost: perRun.flatMap(({ lost }) => lost),
    twice: perRun.flatMap(({ twice }) => twice),
    unsound: problems.map(({ code, entity, message }) => `${code} ${entity}: ${message}`),
  };
}

async function verifyRun(
  store: Store,
  run: RunId,
  lines: readonly Acknowledgement[],
): Promise<Pick<Verdict, 'lost' | 'twice'>> {
  const committed = lines.filter((line) => line.kind === 'committed');
  const known = new Set(
    (
      await store.receipts(
        run,
        committed.map(({ message }) => message),
      )
    ).map(({ messageId }) => messageId),
  );
  const sequence = (await store.sequence(run)) ?? 0;
  const leases = await expiries(store, run);
  const lost = [
    ...committed
      .filter((line) => !known.has(line.message) || line.sequence > sequence)
      .map(({ message }) => `${run}: ${message}`),
    ...lines.flatMap((line) =>
      line.kind === 'promised' && (leases.get(line.lease) ?? 0) < line.expiresAt
        ? [`${run}: promise of ${line.lease}`]
        : [],
    ),
  ];
  return { lost, twice: [...repeatedLines(run, lines), ...(await repeatedFacts(store, run))] };
}

async function expiries(store: Store, run: RunId): Promise<ReadonlyMap<LeaseId, number>> {
  const leases = [...(await store.leases(run, { live: true })), ...(await store.leases(run, { live: false }))];
  return new Map(leases.map((lease) => [lease.id, lease.expiresAt]));
}

/** Answered twice, or delivered again after the delivery had been settled. */
function repeatedLines(run: RunId, lines: readonly Acknowledgement[]): readonly string[] {
  const seen = new Set<string>();
  return lines.flatMap((line) => {
    if (line.kind === 'twice') return [`${run}: ${line.message} was applied again`];
    if (line.kind === 'promised') return [];
    const key = line.kind === 'committed' ? `message ${line.message}` : `batch ${line.first}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [`${run}: ${key} was ${line.kind} again`];
  });
}

async function repeatedFacts(store: Store, run: RunId): Promise<readonly string[]> {
  const seen = new Set<string>();
  const repeated: string[] = [];
  for (const { fact } of await store.facts(run, { after: 0, limit: 100_000 })) {
    if (!onceOnly.has(fact.type)) continue;
    const key = `${fact.type} of ${fact.entity === 'run' ? run : fact.id}`;
    if (seen.has(key)) repeated.push(`${run}: ${key}`);
    seen.add(key);
  }
  return repeated;
}
