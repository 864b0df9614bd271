import type { Command } from "./command_line.ts";
import { alerts } from "./commands/alerts.ts";
import { completion } from "./commands/completion.ts";
import { consoleCommand, openCommand } from "./commands/console.ts";
import { doctor } from "./commands/doctor.ts";
import { apply, diff, pull } from "./commands/files.ts";
import { fields } from "./commands/fields.ts";
import { init, upgrade } from "./commands/init.ts";
import { keys } from "./commands/keys.ts";
import { login } from "./commands/login.ts";
import { mark } from "./commands/mark.ts";
import { rules } from "./commands/rules.ts";
import { search } from "./commands/search.ts";
import { ship } from "./commands/ship.ts";
import { stats } from "./commands/stats.ts";
import { tail } from "./commands/tail.ts";
import { uninstallCommand } from "./commands/uninstall.ts";
import { type Cli, type Host, newCommand, run } from "./command_line.ts";

const commands = [
  login,
  search,
  tail,
  stats,
  fields,
  ship,
  mark,
  keys,
  alerts,
  rules,
  pull,
  diff,
  apply,
  consoleCommand,
  openCommand,
  doctor,
  init,
  upgrade,
  uninstallCommand,
  completion,
];

/** Creates all commands, including the host's own. */
export function makeProgram(cli: Cli, own: readonly ((cli: Cli) => Command)[] = []): Command {
  const program = newCommand(cli, "", "Sends and reads logs, and looks after a Logloom", {
    examples: ["init", "search 'level:error' --since 1h"],
  }).version(cli.version, "--version", "show the version");
  for (const command of [...commands, ...own]) program.addCommand(command(cli));
  return program;
}

export function main(args: readonly string[], host: Host): Promise<number> {
  return run(args, host, makeProgram);
}
