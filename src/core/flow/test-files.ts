// The files that count as tests, where a flow says `may_change: test-files`: those of the project's settings, else those that most
// languages' tools look for.

/** The word for them in a flow. */
export const TEST_FILES = "test-files";

export const USUAL_TEST_FILES: readonly string[] = [
  "**/*.test.*",
  "**/*.spec.*",
  "**/*_test.*",
  "**/*_spec.*",
  "**/test_*",
  "**/test/**",
  "**/tests/**",
  "**/__tests__/**",
  "**/spec/**",
  "**/e2e/**",
  "**/fixtures/**",
  "**/conftest.py",
];
