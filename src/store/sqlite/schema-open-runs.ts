// Version 12: a handoff changes the status and the word of a run, and with them two large indexes. Now only runs that have ended are in an
// index by status or word. Open ones are in a small one by number, which no handoff changes: few runs are open at a time, so a list
// looks at all of them. The titles are in an index of their own, because a search would otherwise read every run's state.

export const SCHEMA_12_OPEN_RUNS = `
DROP INDEX runs_by_status;
DROP INDEX runs_by_word;
CREATE INDEX runs_open ON runs (number) WHERE status NOT IN ('completed', 'canceled');
CREATE INDEX runs_ended_by_status ON runs (status, number, flow) WHERE status IN ('completed', 'canceled');
CREATE INDEX runs_ended_by_word ON runs (word, number, flow) WHERE status IN ('completed', 'canceled');
CREATE INDEX runs_by_title ON runs (subject_title, subject_id);
`;
