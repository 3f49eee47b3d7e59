/** The prose of docs/state-machines.md. Rules carry ids, so that code, tests and reviews can cite them. */
import type { ChartName } from '../../machines/index.ts';

export const introduction = `# State machines

This page is generated from the charts in \`machines/charts\`; \`npm run generate\` writes it anew. The same decisions stand
in \`machines/tables/*.json\` for programs. Words are those of the [glossary](glossary.md).

**How to read it.** Each machine has a picture, a map (event by state) and the full list. A decision is one of

- **a move** to a state, with effects on the row; the same state means that only effects happen;
- **no-op**: already so; the standing result is answered and nothing is written;
- **refused** with a code: nothing changes;
- **as** another event: decided as if that one had come.

Decisions of a pair are tried from top to bottom; the first whose condition holds is taken. A pair that is not listed
is refused: \`AlreadyTerminal\` where the state is terminal, \`IllegalTransition\` elsewhere. So every state has a
decision for every event.

**Rules that hold everywhere**

- D1 A decision depends on the rows, the command and the clock of the store; on nothing else.
- D2 Run, jobs, attempts, leases and gates that one command touches change in one commit, or not at all.
- D3 Ended states are never left.
- D4 A message that is repeated is answered as the first time. A refused one is decided afresh.
- D5 Every change of a state or an intent is a fact with from, to and reason. Renewals and progress are not facts.
`;

export interface Story {
  readonly title: string;
  readonly about: string;
  readonly rules: readonly string[];
}

export const stories: Readonly<Record<ChartName, Story>> = {
  run: {
    title: 'Run',
    about:
      'One execution of one plan. Started, Settled and Drained are no commands: a commit finds them true and carries them along.',
    rules: [
      'R1 The first intent stands; later requests are told which one.',
      'R2 An intent ends at once what nobody works on: waiting and lost jobs, offers, gates. Jobs that a runner works on get an intent of their own, and the run is Cancelling until the last of them has ended.',
      'R3 Without an intent the run settles when every job and gate has ended, required or not; a failure alone does not end it early.',
      'R4 The verdict is a function of the plan and the ends, not of their order: failure before cancelled before success.',
      'R5 A run may end without ever having been Running: cache hits, false conditions, an early cancel.',
    ],
  },
  job: {
    title: 'Job',
    about:
      'One node of the plan. It waits in Pending, RetryWaiting and Eligible, is active (has an attempt and a lease) from Leased to UploadingOutputs, and is Lost while the verdict on a vanished runner is due.',
    rules: [
      'J1 A job is active if and only if it has a current attempt and a current lease.',
      'J2 Only a grant to an Eligible job opens an attempt; number and epoch rise by one.',
      'J3 Nothing becomes eligible, is granted, skipped or retried once the run has an intent.',
      'J4 An intent of a job only rises: TimedOut below Cancelled, Superseded and FailFast; the first of those three stands.',
      'J5 Who committed first wins: a cancel after success is refused; a success after a cancel is honoured only if the plan accepts it.',
      'J6 Success needs outputs the control plane has verified.',
      'J7 Two budgets: failures of the workload and of the infrastructure are charged separately. A refused offer costs nothing until it is one too many.',
      'J8 A retry is a new attempt of a job that has not ended; Failed and TimedOut are final.',
      'J9 Phases go forward one at a time. A repeated message is a no-op, a skipped phase is OutOfOrder.',
    ],
  },
  attempt: {
    title: 'Attempt',
    about:
      'One execution of a job by one runner session. Its end is what physically happened, whatever becomes of the job.',
    rules: [
      'A1 An attempt whose lease expired is Lost, even where the job was being cancelled.',
      'A2 After its end only one thing is ever noted: that a result came too late.',
      'A3 An attempt is Rejected when no runner took it; no budget is charged for it.',
    ],
  },
  lease: {
    title: 'Lease',
    about: 'The right of one session to execute one attempt, for a bounded time. First an offer, then held.',
    rules: [
      'L1 An offer ends by accept, reject, revoke, a cancelled job or its expiry. A held lease ends by the result of its attempt or by expiry.',
      'L2 Renewal and expiry compare and set the same row: what was renewed does not expire, what expired is not renewed.',
      'L3 A lease is never extended past the time by which its job must have stopped.',
    ],
  },
  gate: {
    title: 'Gate',
    about: 'A node that waits for people. It opens when its prerequisites are satisfied; nobody can decide it before.',
    rules: [
      'G1 Expiry counts from the opening, and the plan says whether silence is consent.',
      'G2 A gate whose prerequisite is unmet, whose run is stopping, or that nobody needs any more is Cancelled.',
      'G3 A repeated verdict is a no-op; the opposite one comes too late.',
    ],
  },
  session: {
    title: 'Runner session',
    about: 'One life of an agent. Only an active session is granted work.',
    rules: [
      'S1 A session that is no longer Active loses its offers.',
      'S2 Leases held by draining and replaced sessions live on; those of a closed one expire now.',
      'S3 A new session inherits nothing.',
    ],
  },
  outbox: {
    title: 'Outbox row',
    about: 'One event on its way to a message broker, written in the commit of its facts.',
    rules: ['O1 Claim and settlement carry the same token.', 'O2 The publisher never gives up.'],
  },
  timer: {
    title: 'Timer',
    about:
      'One durable deadline. The row belongs to a key: setting the key again sets the same row anew, fired or not.',
    rules: [
      'T1 Firing issues a command that checks everything again; the row is Fired in the commit of that command.',
      'T2 A timer that fires twice does nothing the second time.',
    ],
  },
  effect: {
    title: 'External effect',
    about: 'Something done outside, where a lost answer leaves open whether it happened.',
    rules: ['E1 Out of Unknown only by asking the other side; never by trying again.'],
  },
};
