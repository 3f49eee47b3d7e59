/** What a job says, completed by the defaults of its run. */
import type { NodeName } from '../model/ids.ts';
import type { JobEntry } from './document.ts';
import type { Combination } from './matrix.ts';
import { childName } from './matrix.ts';
import type {
  BackoffPolicy,
  ConnectivityPolicy,
  JobSpec,
  JobTimeouts,
  PlannedCondition,
  RetryPolicy,
  StepSpec,
} from './plan.ts';
import type { WrittenHeader, WrittenJob } from './plan-file.ts';
import { planLimits } from './plan-limits.ts';
import type { WrittenStep } from './written-step.ts';

const defaultShell = ['sh', '-eu'] as const;
const defaultGraceMs = 10_000;
const stepNameLengthMax = 60;

export function jobSpecOf(
  entry: JobEntry,
  header: WrittenHeader,
  inputsFrom: readonly NodeName[],
): Omit<JobSpec, 'matrix'> {
  const { written } = entry;
  const { defaults } = header;
  const shell = written.shell ?? defaults?.shell ?? defaultShell;
  return {
    steps: written.steps.map((step) => stepOf(step, shell)),
    env: environmentOf(written, defaults?.env ?? {}),
    workingDirectory: written.workingDirectory ?? defaults?.workingDirectory ?? null,
    outputs: written.outputs,
    reports: written.reports,
    secrets: written.secrets,
    capabilities: [...new Set(written.capabilities ?? defaults?.capabilities ?? [])],
    inputsFrom,
    timeouts: timeoutsOf(written, header),
    connectivity: connectivityOf(written.connectivity ?? defaults?.connectivity),
  };
}

/** A secret of the job stands before a plain default of the same name. */
function environmentOf(written: WrittenJob, defaults: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(defaults).filter(([name]) => !Object.hasOwn(written.secrets, name));
  return { ...Object.fromEntries(inherited), ...written.env };
}

function stepOf(step: WrittenStep, shell: readonly string[]): StepSpec {
  return {
    name: step.name ?? stepName(step),
    command:
      step.argv === undefined
        ? { kind: 'script', script: step.run ?? '', shell: step.shell ?? shell }
        : { kind: 'argv', argv: step.argv },
    env: step.env ?? {},
    workingDirectory: step.workingDirectory ?? null,
    timeoutMs: step.timeout ?? null,
    failureClass: step.failureClass ?? null,
  };
}

/** A step without a name is called by the first line of what it does. */
function stepName(step: WrittenStep): string {
  const words = step.argv?.join(' ') ?? step.run ?? '';
  const line =
    words
      .split('\n')
      .map((candidate) => candidate.trim())
      .find((candidate) => candidate !== '') ?? 'step';
  // By code points, so that no pair of surrogates is cut in half.
  return [...line.slice(0, stepNameLengthMax * 2)].slice(0, stepNameLengthMax).join('');
}

function timeoutsOf(written: WrittenJob, header: WrittenHeader): JobTimeouts {
  const own = written.timeouts ?? {};
  const shared = header.defaults?.timeouts ?? {};
  return {
    queueMs: own.queue === undefined ? (shared.queue ?? null) : own.queue,
    preparationMs: own.preparation === undefined ? (shared.preparation ?? null) : own.preparation,
    executionMs: own.execution === undefined ? (shared.execution ?? null) : own.execution,
    executionIncludesPreparation: own.executionIncludesPreparation ?? shared.executionIncludesPreparation ?? false,
    uploadMs: own.upload === undefined ? (shared.upload ?? null) : own.upload,
    terminationGraceMs: own.grace ?? shared.grace ?? defaultGraceMs,
  };
}

function connectivityOf(written: WrittenJob['connectivity']): ConnectivityPolicy {
  if (written === undefined || written === 'continuous') return { kind: 'continuous' };
  if (written.grace !== undefined) return { kind: 'grace', extraMs: written.grace };
  return { kind: 'offline_authorized', extraMs: written.offline ?? planLimits.durationMinMs.value };
}

export function retryOf(written: WrittenJob, header: WrittenHeader): RetryPolicy {
  const own = written.retry ?? {};
  const shared = header.retry ?? {};
  return {
    attemptsMax: own.attempts ?? shared.attempts ?? 1,
    retryOn: [...new Set(own.on ?? shared.on ?? (['UserCommand', 'TestFailure', 'CompileFailure'] as const))],
    infrastructureRetriesMax: own.infrastructureRetries ?? shared.infrastructureRetries ?? 3,
    backoff: backoffOf(own.backoff ?? shared.backoff),
  };
}

function backoffOf(written: NonNullable<WrittenJob['retry']>['backoff']): BackoffPolicy {
  if (written === undefined) return { kind: 'exponential', baseMs: 1000, factor: 2, maxMs: 60_000 };
  if (written === 'none') return { kind: 'none' };
  if (typeof written === 'number') return { kind: 'fixed', delayMs: written };
  const { base, factor, max } = written;
  return { kind: 'exponential', baseMs: base, factor, maxMs: max ?? Math.max(base, 60_000) };
}

export function conditionOf(written: WrittenJob['condition']): PlannedCondition {
  if (typeof written === 'boolean') {
    return written ? { holds: true } : { holds: false, reason: 'ConditionFalse', message: null };
  }
  if (written.holds) return { holds: true };
  return { holds: false, reason: written.reason, message: written.message ?? null };
}

/** Children of a matrix do different work, so each has a cache key of its own. */
export function cacheKeyOf(written: WrittenJob, combination: Combination | null): string | null {
  if (written.cacheKey === undefined) return null;
  return combination === null ? written.cacheKey : childName(written.cacheKey, combination);
}
