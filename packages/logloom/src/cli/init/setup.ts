import type { Cli } from "../command_line.ts";
import type { Installation } from "../guest/installation.ts";
import type { Migration } from "../guest/migrations.ts";
import type { Project } from "./project.ts";

/** The project and the choices that all steps use. */
export interface Setup {
  readonly cli: Cli;
  readonly project: Project;
  /** Returns the changes in the project's folder. Computed once. */
  prepare(): Promise<Installation>;
  /** Call this after changing the folder. */
  forgetPrepared(): void;
  /** The migrations in the project's folder. */
  migrations(): Promise<Migration[]>;
  readonly tenant: string | undefined;
  readonly owner: string | undefined;
  /** The collectors to turn on. */
  readonly collect: readonly string[];
  /** The profile that gets the key for this command line. */
  readonly profile: string;
  /** Functions of an earlier version. They are deleted after the new ones are deployed. */
  formerFunctions?: readonly string[];
  /** The key for an app, if one was created. */
  appKey?: string;
  say(line: string): void;
}
