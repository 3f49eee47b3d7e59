/**
 * The inputs that did not fit an offer, page by page. A question about the current attempt: it changes nothing, so it
 * goes past the run's mailbox.
 */
import type { RunAggregate, RunId } from '../../machines/index.ts';
import { authorityOf } from '../../machines/index.ts';
import type { RunnerReply, RunnerRequestOf } from '../../runner/protocol/index.ts';
import { messageBytesMax } from '../../runner/protocol/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import { inputsPage } from './offer.ts';
import { rejected, toAuthority } from './wire.ts';

type InputsQuestion = RunnerRequestOf<'inputs'>;

/** Bytes of a page; far more than the longest output, so that every page goes on. */
const pageBytesMax = messageBytesMax - 1024;

export async function answerInputs(ports: Ports, directory: Directory, question: InputsQuestion): Promise<RunnerReply> {
  const actor = directory.actor(question.authority.run as RunId);
  const answer = (aggregate: RunAggregate) => pageFor(aggregate, question, ports.store.now());
  const first = await actor.read(answer);
  if (first?.type === 'inputs') return first;
  // Another process may have made the grant: a command without a content brings memory up to the store.
  await actor.send(internal({ type: 'JudgeNodes', nodes: [] }, 'system:gateway'));
  return (await actor.read(answer)) ?? rejected('UnknownEntity', 'there is no such run');
}

function pageFor(aggregate: RunAggregate, { authority, after }: InputsQuestion, now: number): RunnerReply {
  const verdict = authorityOf(aggregate, toAuthority(authority), now);
  switch (verdict.kind) {
    case 'foreign':
      return rejected('Foreign', 'these are not the inputs of the current attempt');
    case 'stale':
      return rejected('Stale', 'the attempt is no longer the current one');
    case 'specMismatch':
      return rejected('SpecMismatch', 'the attempt is bound to another job spec');
    // Not taken away yet, it may still be renewed; whether the work counts is judged when it is reported.
    case 'expired':
    case 'valid': {
      const { inputsFrom } = aggregate.index.job(verdict.index).spec;
      return { type: 'inputs', ...inputsPage(aggregate, inputsFrom, after, pageBytesMax) };
    }
  }
}
