import { Command, CommanderError } from "commander";
import { LogloomError } from "../read/error.ts";
import { exitCodes, Failure, sentence } from "./failure.ts";
import { refusalLines } from "./format_lines.ts";
import { hasPager, watchOutput } from "./output.ts";

/** A stack on this machine. */
export interface LocalStack {
  readonly url: string;
  readonly token: string | undefined;
  readonly apiKey: string | undefined;
}

/** Where the command line runs: as the package's program, or in a clone. */
export interface Host {
  readonly version: string;
  /** How users call a command, for example `logloom search`. */
  call(command: string): string;
  /** The folder with migrations, functions and uninstall.sql. */
  readonly supabase: string;
  /** The folder with the built console. */
  consoleFolder(): Promise<string>;
  /** Resolves a path relative to the caller's folder. */
  path(path: string): string;
  /** The stack to use if no project is named. */
  localStack?(): Promise<LocalStack>;
  /** Called with each command before it runs. */
  inspect?(command: Command): void;
}

export interface Cli extends Host {
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Sets an exit code other than 0. */
  exitWith(code: number): void;
  /** The query of this command. Error messages point into it. */
  query: string;
}

export type { Command };

export interface Words {
  /** Arguments of examples. A line may have several commands; `$` stands for this one. */
  readonly examples: readonly string[];
  readonly notes?: string;
  readonly exit?: string;
}

/** The exit codes of commands that define no others. */
const usualExit = "0, or 1 after an error.";

/** Creates a command with its help text. */
export function newCommand(
  cli: Cli,
  path: string,
  summary: string,
  { examples, notes, exit = usualExit }: Words,
): Command {
  const call = cli.call(path);
  const name = path.split(" ").at(-1) ?? path;
  const lines = examples.map((example) =>
    `  ${example.includes("$") ? example.replaceAll("$", call) : `${call} ${example}`.trimEnd()}`
  );
  const after = [
    `Examples:\n${lines.join("\n")}`,
    ...notes === undefined ? [] : [notes],
    `Exit code: ${exit}`,
  ];
  return plainCommand(name)
    .description(summary)
    .configureHelp({ commandUsage: (command) => `${call} ${command.usage()}`, helpWidth: 100 })
    .addHelpText("after", `\n${after.join("\n\n")}`);
}

export function plainCommand(name: string): Command {
  return new Command(name)
    .exitOverride()
    .helpOption("-h, --help", "show this")
    .helpCommand(false)
    .configureOutput({ writeErr: () => {} });
}

// A query may begin with -: `-service:web` is a term, not an option. The only option of one letter is -h.
const hiddenMinus = "\0-";
const hide = (arg: string) => /^-[^-]/.test(arg) && arg !== "-h" ? `\0${arg}` : arg;
const show = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(show)
    : typeof value === "string" && value.startsWith(hiddenMinus)
    ? value.slice(1)
    : value;

/** The same signal may arrive twice within this time: from the terminal or systemd, and passed on by npm. */
const passedOnMs = 500;

/** Runs a command line until it ends or is interrupted. Returns the exit code. */
export async function run(
  args: readonly string[],
  host: Host,
  makeProgram: (cli: Cli) => Command,
): Promise<number> {
  const stop = new AbortController();
  let stoppedAt = Infinity;
  const abort = () => {
    // The second Ctrl-C ends the program at once, unless a pager is open: the pager and the shell would both read the
    // keys.
    if (Date.now() - stoppedAt > passedOnMs && !hasPager()) process.exit(exitCodes.interrupted);
    stoppedAt = Math.min(stoppedAt, Date.now());
    stop.abort();
  };
  const cli: Cli = {
    ...host,
    signal: stop.signal,
    query: "",
    exitWith: (wanted) => {
      code = wanted;
    },
  };
  let code: number = exitCodes.done;
  process.on("SIGINT", abort).on("SIGTERM", abort);
  watchOutput();
  try {
    const program = makeProgram(cli);
    program.hook("preAction", (_, command) => {
      host.inspect?.(command);
      command.processedArgs = command.processedArgs.map(show);
      for (const [name, value] of Object.entries(command.opts())) {
        command.setOptionValue(name, show(value));
      }
    });
    await program.parseAsync(args.map(hide), { from: "user" });
    return code;
  } catch (error) {
    if (stop.signal.aborted) return exitCodes.interrupted;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    for (const line of linesOf(error, cli.query)) console.error(line);
    if (process.env.LOGLOOM_DEBUG) console.error(error);
    return exitCodes.failed;
  } finally {
    process.off("SIGINT", abort).off("SIGTERM", abort);
  }
}

function linesOf(error: unknown, query: string): string[] {
  if (error instanceof CommanderError) return [`logloom: ${mistake(error)}`];
  if (error instanceof LogloomError) {
    return error.cause instanceof Failure
      ? [`logloom: ${error.cause.message}`]
      : refusalLines(error, query);
  }
  return [`logloom: ${sentence(error)}`];
}

/** Secrets are not options: they would stay in the shell's history, and other users of the machine could read them. */
const secretOptions = /unknown option '--(key|token|apikey)\b/;

function mistake(error: CommanderError): string {
  const secret = secretOptions.exec(error.message);
  if (secret) {
    return `a command line can be read by others, so there is no --${secret[1]}: log in, or set ` +
      "LOGLOOM_API_KEY, LOGLOOM_TOKEN or LOGLOOM_PUBLISHABLE_KEY.";
  }
  if (error.code === "commander.help") return "say what to do; --help lists the commands.";
  const message = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/, " ($1)");
  const [first, ...rest] = message.replaceAll("\0", "").replace(/\.$/, "");
  return `${first.toUpperCase()}${rest.join("")}; --help lists the options.`;
}
