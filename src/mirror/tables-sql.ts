// The tables that a status mirror writes, as SQL that can be run again: for a Supabase project's migrations, or for psql. Existing tables
// get the missing columns only. Signed-in users may read, and only the owner and the service role may write; where Supabase's roles
// and its publication do not exist, these parts are skipped.

import type { TableNames } from "./status-table.ts";

export function tablesSql({ schema, features, handoffs }: TableNames): string {
  const feature = `"${schema}"."${features}"`;
  const handoff = `"${schema}"."${handoffs}"`;
  return `CREATE SCHEMA IF NOT EXISTS "${schema}";

CREATE TABLE IF NOT EXISTS ${feature} (id text PRIMARY KEY, title text NOT NULL DEFAULT '');
ALTER TABLE ${feature}
  ADD COLUMN IF NOT EXISTS title text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS status text NOT NULL DEFAULT 'pending',
  ADD COLUMN IF NOT EXISTS revision_count integer NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS current_agent text,
  ADD COLUMN IF NOT EXISTS pipeline_log jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN IF NOT EXISTS updated_at timestamptz NOT NULL DEFAULT now();

CREATE TABLE IF NOT EXISTS ${handoff} (id bigint PRIMARY KEY);
ALTER TABLE ${handoff}
  ADD COLUMN IF NOT EXISTS story_id text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS from_agent text,
  ADD COLUMN IF NOT EXISTS to_agent text,
  ADD COLUMN IF NOT EXISTS status text NOT NULL DEFAULT 'pending',
  ADD COLUMN IF NOT EXISTS payload jsonb,
  ADD COLUMN IF NOT EXISTS rejection_reason text,
  ADD COLUMN IF NOT EXISTS created_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN IF NOT EXISTS processed_at timestamptz;
CREATE INDEX IF NOT EXISTS "${handoffs}_story" ON ${handoff} (story_id, id);

ALTER TABLE ${feature} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${handoff} ENABLE ROW LEVEL SECURITY;

DO $passrail$
DECLARE
  target text;
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'authenticated') THEN
    GRANT USAGE ON SCHEMA "${schema}" TO authenticated;
    FOREACH target IN ARRAY ARRAY['${features}', '${handoffs}'] LOOP
      EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON %I.%I FROM authenticated', '${schema}', target);
      EXECUTE format('GRANT SELECT ON %I.%I TO authenticated', '${schema}', target);
      EXECUTE format('DROP POLICY IF EXISTS passrail_read ON %I.%I', '${schema}', target);
      EXECUTE format('CREATE POLICY passrail_read ON %I.%I FOR SELECT TO authenticated USING (true)', '${schema}', target);
    END LOOP;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'service_role') THEN
    GRANT USAGE ON SCHEMA "${schema}" TO service_role;
    GRANT SELECT, INSERT, UPDATE ON ${feature}, ${handoff} TO service_role;
  END IF;
  IF EXISTS (SELECT FROM pg_publication WHERE pubname = 'supabase_realtime' AND NOT puballtables) THEN
    FOREACH target IN ARRAY ARRAY['${features}', '${handoffs}'] LOOP
      IF NOT EXISTS (
        SELECT FROM pg_publication_tables
        WHERE pubname = 'supabase_realtime' AND schemaname = '${schema}' AND tablename = target
      ) THEN
        EXECUTE format('ALTER PUBLICATION supabase_realtime ADD TABLE %I.%I', '${schema}', target);
      END IF;
    END LOOP;
  END IF;
END
$passrail$;
`;
}
