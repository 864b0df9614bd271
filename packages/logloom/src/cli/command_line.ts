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
  /** How people call a command: `logloom search`. */
  call(command: string): string;
  /** The folder with migrations, functions and uninstall.sql. */
  readonly supabase: string;
  /** The folder with the built console. */
  consoleFolder(): Promise<string>;
  /** A path as the caller means it. */
  path(path: string): string;
  /** What is asked where no project is named. */
  localStack?(): Promise<LocalStack>;
  /** Looks at a command and its options before it runs. */
  inspect?(command: Command): void;
}

export interface Cli extends Host {
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Ends the program with another code than 0. */
  exitWith(code: number): void;
  /** The query that a refusal points into. */
  query: string;
}

export type { Command };

export interface Words {
  /** Arguments of examples; a line may have several commands, `$` stands for this one. */
  readonly examples: readonly string[];
  readonly notes?: string;
  readonly exit?: string;
}

/** The exit codes where a command has no others. */
const usualExit = "0, or 1 after an error.";

/** A command that says what it does by --help. */
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

// A query may begin with -: -service:web is a term, no option. Only -h is one of a letter.
const hiddenMinus = "\0-";
const hide = (arg: string) => /^-[^-]/.test(arg) && arg !== "-h" ? `\0${arg}` : arg;
const show = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(show)
    : typeof value === "string" && value.startsWith(hiddenMinus)
    ? value.slice(1)
    : value;

/** One signal may come more than once: from the terminal or systemd, and passed on by npm. */
const passedOnMs = 500;

/** Runs a command line to its end or to Ctrl-C, and answers with the exit code. */
export async function run(
  args: readonly string[],
  host: Host,
  makeProgram: (cli: Cli) => Command,
): Promise<number> {
  const stop = new AbortController();
  let stoppedAt = Infinity;
  const abort = () => {
    // Whoever asks again waits for nothing; a pager without this program would fight with the shell over the keys.
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

/** A secret in a command line stays in the shell's history, and other users of the machine can read it. */
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
