import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../contract.ts';
import { asUnavailable, isBrokenRows, isRefusal, isWorthRepeating } from './postgres-errors.ts';

function said(code: string, severity = 'ERROR'): DatabaseError {
  const error = new DatabaseError('as the server says', 0, 'error');
  error.code = code;
  error.severity = severity;
  return error;
}

describe('postgres errors', () => {
  it.each(['23505', '23514', '22P02', '40001', '40P01', '42883', '53100', '53300', '54000', '55P03', '57014', 'P0001'])(
    '%s is a refusal: the transaction is gone, and nothing of it was kept',
    (code) => expect([isRefusal(said(code)), isRefusal(asUnavailable(said(code)))]).toEqual([true, true]),
  );

  it.each([
    ['40003', 'ERROR'],
    ['57P01', 'FATAL'],
    ['57P01', 'ERROR'],
    ['57P02', 'FATAL'],
    ['08006', 'FATAL'],
    ['08P01', 'ERROR'],
    ['XX000', 'ERROR'],
    ['58030', 'ERROR'],
    ['40001', 'FATAL'],
    ['23505', 'PANIC'],
  ])('%s as %s leaves the outcome unknown (003 §303.4)', (code, severity) => {
    expect(isRefusal(said(code, severity))).toBe(false);
  });

  it('what the connection says of itself leaves the outcome unknown', () => {
    expect(isRefusal(new Error('Connection terminated unexpectedly'))).toBe(false);
    expect(isRefusal(new StoreUnavailable('lost', { cause: new Error('read ECONNRESET') }))).toBe(false);
  });

  it('lost races are worth repeating, broken rows and full disks are not', () => {
    expect(['23505', '40001', '40P01'].map((code) => isWorthRepeating(said(code)))).toEqual([true, true, true]);
    expect(['23514', '53100', '40003', '57014'].map((code) => isWorthRepeating(said(code)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(['23514', '22P02', '54000'].map((code) => isBrokenRows(said(code)))).toEqual([true, true, true]);
    expect(['53100', '55P03', '40P01'].map((code) => isBrokenRows(said(code)))).toEqual([false, false, false]);
  });

  it('what a hook threw goes on as it is; what the server said is told in words', () => {
    const crash = new Error('crash');
    expect(asUnavailable(crash)).toBe(crash);
    const told = asUnavailable(said('53100'));
    expect(told).toBeInstanceOf(StoreUnavailable);
    expect(String(told)).toMatch(/no room left/);
    expect(String(asUnavailable(said('42883')))).toMatch(/another schema/);
  });
});
