// Made from the Rust structs by the tests of the crate; do not edit.

/** Why a request has no other answer. */
export interface ApiError {
  /** The code of the error, such as `not_found`. */
  code: string;
  message: string;
}

/** One call. */
export interface CallDetail {
  /** The path, pattern, command or name that it is about. */
  about: string;
  /** The snapshot that was taken or restored last when it ended. */
  after?: string;
  /** When it began, in milliseconds since 1970. */
  at: number;
  /** The snapshot that was taken or restored last when it began. */
  before?: string;
  /** The client, session and process that made it. */
  by: string | null;
  /** Whether it changed files, as far as known. */
  changed: boolean;
  /** The code of its error, or the exit code of its program. */
  code?: string;
  /** The fork that it worked in. */
  fork?: string;
  /** Its id in the page: a number, or `op:` and the number of an operation that no call here made. */
  id: string;
  /** `read`, `write` or `exec`. */
  kind: CallKind;
  ok: boolean;
  /** What it changed, as far as the log still knows. */
  operations: (OperationSummary)[];
  /** The beginning of its parameters, as JSON. */
  parameters: string;
  /** How many bytes they have in all. */
  parameters_bytes: number;
  /** The beginning of the answer that the model got. */
  result: string;
  result_bytes: number;
  /** The session that it belongs to. */
  session?: string;
  tool: string;
  /** The turn of the conversation; 0 if there are no turns. */
  turn?: number;
  /** How long it took, in microseconds. */
  us: number;
}

/** What kind of call it was. */
export type CallKind = "read" | "write" | "exec";

/** One call in the list. */
export interface CallSummary {
  /** The path, pattern, command or name that it is about. */
  about: string;
  /** The snapshot that was taken or restored last when it ended. */
  after?: string;
  /** When it began, in milliseconds since 1970. */
  at: number;
  /** The snapshot that was taken or restored last when it began. */
  before?: string;
  /** Whether it changed files, as far as known. */
  changed: boolean;
  /** The code of its error, or the exit code of its program. */
  code?: string;
  /** The fork that it worked in. */
  fork?: string;
  /** Its id in the page: a number, or `op:` and the number of an operation that no call here made. */
  id: string;
  /** `read`, `write` or `exec`. */
  kind: CallKind;
  ok: boolean;
  /** The session that it belongs to. */
  session?: string;
  tool: string;
  /** The turn of the conversation; 0 if there are no turns. */
  turn?: number;
  /** How long it took, in microseconds. */
  us: number;
}

/** A part of the list of calls. */
export interface CallsPage {
  calls: (CallSummary)[];
  offset: number;
  total: number;
}

/** The files that differ. */
export interface ChangeList {
  /** Sorted by path; at most 5,000. */
  files: (ChangedFile)[];
  /** How many there are. */
  total: number;
  unchanged: number;
  /** Paths of which it is not known any more what an operation left there. */
  unknown: (string)[];
}

export interface ChangedEntry {
  /** The same after the change. */
  after: string | null;
  /** `file`, `directory` or `symlink` before the change; null if it did not exist. */
  before: string | null;
  /** `added`, `modified` or `deleted`. */
  change: string;
  path: string;
}

/** One file that differs. */
export interface ChangedFile {
  /** How many lines were added and removed, where that was counted. */
  added?: number;
  /** Its path before it was renamed. */
  from?: string;
  /** `file`, `directory` or `symlink`, in the second state or else in the first. */
  kind: string;
  path: string;
  removed?: number;
  /** `A`, `M`, `D` or `R`. */
  status: string;
}

export interface Check {
  health: Health;
  name: string;
  said: string;
}

/** One directory. */
export interface Directory {
  /** Directories first, then the rest, each sorted by name. */
  entries: (TreeEntry)[];
  path: string;
  /** How many entries it has in all. */
  total: number;
}

/** The difference of one file. */
export interface FileDiff {
  a: Side | null;
  b: Side | null;
  /** The changed lines, if both sides are text and not too large. */
  lines: LineDiff | null;
  path: string;
  /** Why there are none. */
  why?: string;
}

/** What a file is. */
export interface FileInfo {
  executable: boolean;
  kind: string;
  path: string;
  /** `text`, `binary` or `image`. */
  shown_as: string;
  size: number;
  /** The target of a link. */
  target: string | null;
}

export interface FileSize {
  path: string;
  size_bytes: number;
}

export interface Fork {
  /** The state; the files of now by default. */
  at?: string;
  /** The name of the fork: letters, digits, - and _. */
  name: string;
}

/** A new fork. */
export interface Forked {
  message: string;
  name: string;
  /** The name of its files, for a comparison. */
  state: string;
}

/** What was found. */
export interface Found {
  calls: (CallSummary)[];
  /** Lines of files, in the order of paths. */
  lines: (FoundLine)[];
  /** Paths of the files of now. */
  paths: (string)[];
  /** Why the text of files could not be searched. */
  problem: string | null;
  /** How many snapshots were searched. */
  snapshots: number;
  /** Whether more lines were found than are listed. */
  truncated: boolean;
}

/** One line of a file. */
export interface FoundLine {
  /** The first and the last snapshot that has it; `@` if the files of now have it. */
  first: string | null;
  last: string | null;
  /** Its number, from 1, in the last state that has it. */
  line: number;
  path: string;
  text: string;
}

/** The result of a check. */
export type Health = "ok" | "warning" | "failed" | "note";

/** Lines that changed together, with unchanged ones around them. */
export interface HunkRows {
  new_start: number;
  /** The number of its first line on each side, from 1; of the next line, if it has none. */
  old_start: number;
  rows: (LineRow)[];
}

/** A page of the items of a slice, as they are in the file. */
export interface ItemsPage {
  /** Each item as JSON text, at most 64 KiB of it. */
  items: (string)[];
  /** The number of the first item, from 0. */
  offset: number;
  /** How many items the slice has. */
  total: number;
}

export interface LargeFile {
  path: string;
  size: number;
}

/** The changed lines of a file. */
export interface LineDiff {
  added: number;
  hunks: (HunkRows)[];
  new_lines: number;
  /** How many lines each side has. */
  old_lines: number;
  removed: number;
  /** Whether more hunks follow that were not sent. */
  truncated: boolean;
}

/** One line of a hunk. */
export interface LineRow {
  /** `cr` if it ends with a carriage return, `eof` if it has no newline, `cut` if more of it follows. */
  end?: string;
  /** The parts of the line that differ from its counterpart, in UTF-16 units. */
  marks?: ((number)[])[];
  /** ` `, `+` or `-`. */
  sign: string;
  /** The line without its ending. */
  text: string;
}

/** Some lines of a file. */
export interface LinesPage {
  offset: number;
  rows: (LineRow)[];
}

/** The manifest, as it is in an archive. */
export interface Manifest {
  created_at: string;
  file_count: number;
  total_bytes: number;
  version: string;
}

export type Nothing = Record<string, never>;

/** One operation of the log. */
export interface OperationSummary {
  /** The names of the states before and after it, for a comparison. */
  a: string;
  at: number;
  b: string;
  by: string | null;
  changes: (ChangedEntry)[];
  name: string;
  sequence: number;
  /** Whether it was undone later. */
  undone: boolean;
}

/** A part of a line. */
export interface RawLine {
  offset: number;
  text: string;
  /** How many bytes the line has. */
  total: number;
}

/** What to restore. */
export interface Restore {
  /** Only say what would change. */
  dry_run?: boolean;
  /** Only these paths, with everything below them. */
  paths?: (string)[];
  /** The snapshot. */
  to: string;
}

/** What a restore did, or would do. */
export interface Restored {
  brought_back: number;
  /** What was replaced although other programs had changed it since the last snapshot. */
  changed_outside: (string)[];
  changes: (ChangedEntry)[];
  dry_run: boolean;
  /** What the snapshot should hold and does not; it is left as it is. */
  missing: (SkippedEntry)[];
  removed: number;
  /** The snapshot that has what was there before. */
  saved: string | null;
  unchanged: number;
  written: number;
}

export interface Revert {
  dry_run?: boolean;
  /** The states before and after the changes to take out. */
  from: string;
  to: string;
}

/** What a revert did, or would do. */
export interface Reverted {
  /** Whether anything was changed; nothing is where there are conflicts. */
  applied: boolean;
  changes: (ChangedEntry)[];
  conflicts: (string)[];
}

/** One row of the tree. */
export interface Row {
  /** How many directories it is in. */
  depth: number;
  /** `file`, `directory`, `symlink` or `other`. */
  kind: string;
  path: string;
  /** The bytes of a file. */
  size?: number;
}

/** Some rows of the tree. */
export interface Rows {
  /** How many files and links the state has. */
  files: number;
  offset: number;
  rows: (Row)[];
  /** How many rows there are. */
  total: number;
}

/** One run. */
export interface RunDetail {
  /** Where the files are: `memory`, `host` or another backend. */
  backend: string | null;
  calls: number;
  /** Whether the page may change it. */
  can_change: boolean;
  /** How many calls changed files. */
  changing: number;
  /** The states that a page compares at first. */
  default_a: string;
  default_b: string;
  /** The id that a stream begins after. */
  event: string;
  failed: number;
  /** When the first and the last call began, in milliseconds since 1970. */
  first: number | null;
  forks: (string)[];
  /** `live`, `dump`, `archive` or `store`. */
  kind: string;
  last: number | null;
  /** Its name in addresses. */
  name: string;
  /** What could not be read, and what is not shown. */
  notes: (string)[];
  /** Its directory, which commands to copy name. */
  root: string | null;
  snapshots: number;
  snapshots_list: (SnapshotSummary)[];
  /** How many calls there were in each part of that time. */
  spark: (number)[];
  /** How many calls failed in each part of that time. */
  spark_failed: (number)[];
  title: string;
}

/** One run in the list. */
export interface RunSummary {
  /** Where the files are: `memory`, `host` or another backend. */
  backend: string | null;
  calls: number;
  /** Whether the page may change it. */
  can_change: boolean;
  /** How many calls changed files. */
  changing: number;
  failed: number;
  /** When the first and the last call began, in milliseconds since 1970. */
  first: number | null;
  forks: (string)[];
  /** `live`, `dump`, `archive` or `store`. */
  kind: string;
  last: number | null;
  /** Its name in addresses. */
  name: string;
  snapshots: number;
  /** How many calls there were in each part of that time. */
  spark: (number)[];
  /** How many calls failed in each part of that time. */
  spark_failed: (number)[];
  title: string;
}

/** One session. */
export interface SessionSummary {
  created_at: string;
  id: string;
  /** Its line in the dump, from 1, and how long that is. */
  line: number | null;
  line_bytes: number;
  /** Its place in the list, from 0, by which it is named in addresses. */
  number: number;
  parent: string | null;
  slices: (SliceSummary)[];
  tags: Record<string, string>;
}

/** A file on one side. */
export interface Side {
  executable: boolean;
  kind: string;
  size: number;
  /** The target of a link. */
  target?: string;
}

export interface SkippedEntry {
  path: string;
  why: string;
}

export interface SliceSummary {
  items: number;
  /** `state` or `log`: a rollback restores state. */
  kind: string;
  name: string;
}

/** One snapshot. */
export interface SnapshotSummary {
  at: number;
  bytes: number;
  excluded: (string)[];
  files: number;
  /** The fork that took it. */
  fork: string | null;
  id: string;
  message: string | null;
  /** What it should hold and does not. */
  missing: (SkippedEntry)[];
  /** `user`, `agent`, `auto` or `safety`. */
  origin: string;
  parent: string | null;
  /** The beginning of its id, as people write it. */
  short: string;
  skipped: (SkippedEntry)[];
  /** How many bytes it added to the store, where that is known. */
  stored: number | null;
  tag: string | null;
}

/** Figures of a run. */
export interface Stats {
  largest: (LargeFile)[];
  slowest: (CallSummary)[];
  snapshots: (SnapshotSummary)[];
  /** Sorted by the time that all calls of a tool took, longest first. */
  tools: (ToolStats)[];
}

/** What was undone or redone. */
export interface Stepped {
  /** The paths that were left alone, because they changed since. */
  conflicts: (string)[];
  name: string;
  /** The number and the name of the operation. */
  operation: number;
  /** The paths that changed. */
  paths: (string)[];
}

/** The history of a run. */
export interface StoreInfo {
  bytes: number;
  /** Where it is, if it is on a disk. */
  directory: string | null;
  /** What a setting keeps out of every snapshot. */
  excluded: (string)[];
  keep_tagged: boolean;
  max_age_seconds: number | null;
  /** The most bytes that it may take. */
  max_bytes: number | null;
  max_count: number | null;
  missing: (SkippedEntry)[];
  /** When the newest snapshot was taken. */
  newest: number | null;
  packs: number;
  /** What the newest snapshot could not hold. */
  skipped: (SkippedEntry)[];
  snapshots: number;
  strategy: string;
  tagged: number;
}

export interface Take {
  tag?: string;
}

/** Figures of a tool; times are in microseconds. */
export interface ToolStats {
  calls: number;
  failed: number;
  max: number;
  p50: number;
  p95: number;
  tool: string;
  total: number;
}

export interface TreeEntry {
  kind: string;
  name: string;
  path: string;
  size?: number;
}

export interface Undo {
  /** The number of the operation; the last one by default. */
  operation?: number;
}

/** What a check of the history found. */
export interface Verified {
  bytes_checked: number;
  objects: number;
  ok: boolean;
  packs: number;
  problems: (string)[];
  snapshots: number;
}
