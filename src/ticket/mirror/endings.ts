// Counts the ended runs of tickets, so that a caller can see whether one ended after a scan began.

export type Endings = {
  readonly count: number;
  add(project: string, ticket: string): void;
  /** The count after this ticket's last run ended; 0 if none did. */
  of(project: string, ticket: string): number;
};

export function createEndings(): Endings {
  const last = new Map<string, number>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(project, ticket) {
      count += 1;
      last.set(`${project}\0${ticket}`, count);
    },
    of: (project, ticket) => last.get(`${project}\0${ticket}`) ?? 0,
  };
}
