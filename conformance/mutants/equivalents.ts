/**
 * Mutants that no behaviour can tell from the real chart, each with its proof. Every run makes sure that they still
 * survive: a proof that no longer holds would be a lie.
 */
export const equivalents: Readonly<Record<string, string>> = {
  'run: Queued x Started [0] effect recordStart dropped':
    'The effect names what the fact already says: `startedAt` is folded from RunStarted, whoever moves the run.',
  'attempt: Leased x LeaseRejected [0] effect recordResult dropped':
    'An attempt that never started has no exit, class or detail, and those columns begin as null.',
  'attempt: Leased x OfferExpired [1] effect recordResult dropped':
    'An attempt that never started has no exit, class or detail, and those columns begin as null.',
  'attempt: Leased x LeaseRevoked [0] effect recordResult dropped':
    'An attempt that never started has no exit, class or detail, and those columns begin as null.',
  'attempt: Leased x TerminationRequested [0] effect recordResult dropped':
    'An attempt that never started has no exit, class or detail, and those columns begin as null.',
};
