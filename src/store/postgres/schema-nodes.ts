// Version 3: the data that the nodes of one database share besides runs: copies of the files and commits of attempts, keys, and their own addresses.

export const NODES_3 = `
CREATE TABLE run_copies (
  run_id   text COLLATE "C" NOT NULL,
  name     text COLLATE "C" NOT NULL,
  part     integer NOT NULL,
  made_by  text COLLATE "C" NOT NULL,
  about    text NOT NULL,
  saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  data     bytea NOT NULL,
  PRIMARY KEY (run_id, name, part)
);
-- They are compressed already.
ALTER TABLE run_copies ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE FUNCTION drop_run_copies() RETURNS trigger LANGUAGE plpgsql SET search_path = passrail, pg_temp AS $$
BEGIN
  DELETE FROM run_copies WHERE run_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER runs_drop_copies AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION drop_run_copies();

-- A revoked key stays: a node that was away learns of it.
CREATE TABLE shared_keys (
  id      text COLLATE "C" PRIMARY KEY,
  body    text NOT NULL,
  revoked boolean NOT NULL DEFAULT false
);

CREATE TABLE nodes (
  id       text COLLATE "C" PRIMARY KEY,
  body     text NOT NULL,
  seen_at  timestamptz NOT NULL
);
`;
