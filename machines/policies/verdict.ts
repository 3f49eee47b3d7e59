export type RunVerdict = 'success' | 'failure' | 'cancelled';
