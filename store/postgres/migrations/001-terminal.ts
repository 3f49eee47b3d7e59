/** S5 and append-only history, whoever writes: ended rows never change, except the columns an end does not settle. */
export const terminalTriggers = `
CREATE FUNCTION forgeyard.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;

-- The second argument names the columns that may still change.
CREATE FUNCTION forgeyard.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - TG_ARGV[1]::text[] IS DISTINCT FROM to_jsonb(OLD) - TG_ARGV[1]::text[] THEN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER plans_are_immutable BEFORE UPDATE ON forgeyard.plans
  FOR EACH ROW EXECUTE FUNCTION forgeyard.refuse('a plan never changes');
CREATE TRIGGER runs_end_for_good BEFORE UPDATE ON forgeyard.runs FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse_change('the run has ended', '{sequence}');
CREATE TRIGGER jobs_end_for_good BEFORE UPDATE ON forgeyard.jobs FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse_change('the job has ended', '{priority,queue}');
CREATE TRIGGER gates_end_for_good BEFORE UPDATE ON forgeyard.gates FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse_change('the gate has ended', '{}');
CREATE TRIGGER attempts_end_for_good BEFORE UPDATE ON forgeyard.attempts FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse_change('the attempt has ended', '{late_result,version}');
CREATE TRIGGER attempts_keep_late_results BEFORE UPDATE ON forgeyard.attempts FOR EACH ROW
  WHEN (OLD.late_result AND NOT NEW.late_result) EXECUTE FUNCTION forgeyard.refuse('the attempt has ended with a late result');
CREATE TRIGGER leases_end_for_good BEFORE UPDATE ON forgeyard.leases FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse_change('the lease has ended', '{}');
CREATE TRIGGER runner_sessions_end_for_good BEFORE UPDATE ON forgeyard.runner_sessions FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION forgeyard.refuse('the session has ended');
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON forgeyard.events
  FOR EACH ROW EXECUTE FUNCTION forgeyard.refuse('history is append-only');
CREATE TRIGGER receipts_are_final BEFORE UPDATE ON forgeyard.receipts
  FOR EACH ROW EXECUTE FUNCTION forgeyard.refuse('an answer stands');
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON forgeyard.audit
  FOR EACH ROW EXECUTE FUNCTION forgeyard.refuse('the audit log is append-only');
`;
