// Rules that the tables enforce: events never change and are never removed, except those of a run that is being deleted; the sums that
// budgets are checked against follow from the rows of `spending`.

export const TRIGGERS_1 = `
CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM deleting WHERE run_number = OLD.run_number) THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'events are append-only';
END $$;
CREATE TRIGGER events_never_change BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_event_change();
CREATE TRIGGER events_stay BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_event_change();

CREATE FUNCTION sum_spending() RETURNS trigger LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO spent (scope, key, usd, tokens) VALUES
      ('run', NEW.run_id, NEW.booked_usd, NEW.booked_tokens),
      ('ticket', NEW.ticket, NEW.booked_usd, NEW.booked_tokens),
      ('day', NEW.day, NEW.booked_usd, NEW.booked_tokens)
    ON CONFLICT (scope, key) DO UPDATE SET usd = spent.usd + excluded.usd, tokens = spent.tokens + excluded.tokens;
  ELSE
    UPDATE spent SET usd = usd + NEW.booked_usd - OLD.booked_usd, tokens = tokens + NEW.booked_tokens - OLD.booked_tokens
    WHERE (scope, key) IN (('run', NEW.run_id), ('ticket', NEW.ticket), ('day', NEW.day));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER spending_summed AFTER INSERT OR UPDATE ON spending FOR EACH ROW EXECUTE FUNCTION sum_spending();
`;
