import type { Cli } from "../command_line.ts";
import type { Installation } from "../guest/installation.ts";
import type { Migration } from "../guest/migrations.ts";
import type { Project } from "./project.ts";

/** What the steps work on. */
export interface Setup {
  readonly cli: Cli;
  readonly project: Project;
  /** What an installation changes in the project's folder; checked once. */
  prepare(): Promise<Installation>;
  /** The folder has changed. */
  forgetPrepared(): void;
  /** The migrations in the project's folder. */
  migrations(): Promise<Migration[]>;
  readonly tenant: string | undefined;
  readonly owner: string | undefined;
  /** Where the keys for this command line are stored. */
  readonly profile: string;
  /** Functions of an earlier version, which are deleted after the new ones are deployed. */
  formerFunctions?: readonly string[];
  /** The key for an app, once it was made. */
  appKey?: string;
  say(line: string): void;
}
