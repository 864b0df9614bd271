import { command } from "../../local/run_command.ts";
import { exists, removeIfThere } from "../../local/files.ts";
import { Failure } from "../../local/exit_on_failure.ts";
import { databasePassword, type Stack } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";
import { type Order, orderOf, stepsOf } from "./permutations.ts";

const packageName = "postgresql-server-dev-17";
const inPackage = "usr/lib/postgresql/17/lib/pgxs/src/test/isolation/isolationtester";
const program = `/${inPackage}`;

/**
 * Installs PostgreSQL's isolation tester into the Debian folder, once for each machine. It is one
 * file of a package; the whole package would bring LLVM (735 MB).
 */
export async function installTester(
  system: System,
  progress: (step: string) => void,
): Promise<void> {
  if (await exists(system.outside(program))) return;
  const root = system.outside("");
  if (root === "") {
    throw new Failure(`${program} is missing: install the package ${packageName}.`);
  }
  progress("Unpacking PostgreSQL's isolation tester");
  const folder = "/tmp/isolationtester";
  const script = [
    "set -e",
    `mkdir -p ${folder} && cd ${folder}`,
    "apt-get update",
    `apt-get download ${packageName}`,
    `dpkg-deb --fsys-tarfile ${packageName}_*.deb | tar -x ./${inPackage}`,
    `mkdir -p $(dirname ${program}) && mv ./${inPackage} ${program}`,
    "rm -rf /var/lib/apt/lists/*",
  ].join("\n");
  try {
    await command(["flock", root, "chroot", root, "/bin/sh", "-c", script], {
      env: { LC_ALL: "C" },
      failure: "Unpacking PostgreSQL's isolation tester failed",
    });
  } finally {
    await removeIfThere(`${root}${folder}`);
  }
}

/** The result of a permutation. */
export interface Outcome {
  order: Order;
  /** A beginning of orders that need not be tried: every order with this beginning is equivalent to another order. */
  leftOut?: { beginning: Order; reason: string };
  /** The errors that the invariant or the tester reported. */
  fault?: string;
  /** The output of the tester. */
  text: string;
}

/** Runs the permutations of a spec in a database. */
export async function runSpec(
  system: System,
  stack: Stack,
  database: string,
  spec: string,
): Promise<{ outcomes: Outcome[]; text: string }> {
  const connection = `host=127.0.0.1 port=${stack.ports.postgres} dbname=${database} ` +
    `user=supabase_admin password=${databasePassword}`;
  const [head, ...args] = system.command("postgres", "/bin/sh", [
    "-c",
    `exec ${program} "$0" 2>&1`,
    connection,
  ]);
  const child = new Deno.Command(head, {
    args,
    cwd: "/",
    env: {
      PGISOLATIONTIMEOUT: "90",
      LC_ALL: "C.UTF-8",
      PGOPTIONS: "-c statement_timeout=0 -c datestyle=ISO",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(spec));
  await writer.close();
  const { stdout, code } = await child.output();
  const text = new TextDecoder().decode(stdout);
  const outcomes = outcomesIn(text);
  if (code !== 0 && outcomes.length > 0) {
    outcomes[outcomes.length - 1].fault ??= `the tester ended with ${code}`;
  }
  return { outcomes, text };
}

/** Parses the output of the tester. */
function outcomesIn(text: string): Outcome[] {
  return text.split(/^starting permutation: /m).slice(1).map((part) => {
    const lines = part.split("\n");
    const steps = lines[0].trim().split(" ");
    const outcome: Outcome = { order: orderOf(steps), text: part };
    let step = "";
    for (const line of lines) {
      const begun = /^step (\w+): /.exec(line);
      if (begun) step = begun[1];
      const left = /^ *left out: (.*?) *$/.exec(line);
      if (left) {
        const beginning = outcome.order.slice(0, steps.indexOf(step) + 1);
        outcome.leftOut ??= { beginning, reason: `${step[0]} ${left[1]}` };
      }
      const failed = /(?:failed: |^step \w+ timed out|^)(?:ERROR: {2}(.*)|step .* timed out.*)$/
        .exec(line);
      if (failed) outcome.fault ??= failed[1] ?? failed[0];
    }
    return outcome;
  });
}

/** Writes a spec for the tester: the steps of a and b, and the orders to run. */
export function specOf(
  names: { a: string; b: string },
  places: { a: string[]; b: string[] },
  orders: Order[],
  leftOut: Map<Order, string>,
  skips: boolean,
): string {
  const session = (side: "a" | "b") => [
    `session ${side}`,
    `setup { select interleavings.connect('${side}'); }`,
    ...places[side].map((_, n) => [
      n + 1 < places[side].length ? `# goes on to: ${places[side][n + 1]}` : "# goes on to its end",
      `step ${side}${n + 1} { select interleavings.go('${side}', ${n + 1}, ${skips}); }`,
    ]).flat(),
    `teardown { select interleavings.collect('${side}'); }`,
    "",
  ];
  return [
    `# ${names.a} (a) and ${names.b} (b)`,
    "setup { select interleavings.restore(); }",
    "teardown { select interleavings.check(); }",
    "",
    ...session("a"),
    ...session("b"),
    ...orders.map((order) => `permutation ${stepsOf(order).join(" ")}`),
    ...[...leftOut].map(([beginning, reason]) =>
      `# left out: what begins with ${stepsOf(beginning).join(" ")}, since then ${reason}`
    ),
    "",
  ].join("\n");
}
