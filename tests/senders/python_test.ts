import {
  blockOf,
  declinedOfNobody,
  events,
  found,
  intoAnOutage,
  isLong,
  runProgram,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";

const place = await debianSenders();

interface PythonSender {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  /** Makes a program of the block that sends the trial's events through an outage, and what arrives. */
  readonly outage: (trial: Trial, block: string) => Promise<void>;
}

function runPython(trial: Trial, program: string): Promise<string> {
  const env = { ...trial.env, ...debianEnv(place ?? "") };
  return runProgram({ program: "/usr/bin/python3", args: ["-c", program], env, cwd: "/" });
}

const senders: PythonSender[] = [
  {
    name: "python3-graypy",
    page: "others.md",
    block: "graypy.py",
    // It looks at no answer.
    outage: (trial, block) =>
      throughAnOutage(
        trial,
        () =>
          runPython(
            trial,
            `${block}
import time
for n in range(${events}):
    logger.error(f"event {n}")
    time.sleep(0.12)
`,
          ),
        { lost: "some", doubled: "none" },
      ),
  },
  {
    name: "python3-elasticsearch",
    page: "elasticsearch.md",
    block: "elasticsearch.py",
    outage: (trial, block) =>
      intoAnOutage(
        trial,
        () =>
          runPython(
            trial,
            block.replace(
              /\[\{[\s\S]*\}\]/,
              `[{"_index": "shop", "_op_type": "create", "message": f"event {n}"} for n in range(${events})]`,
            ),
          ),
        { lost: "none", doubled: "none" },
      ),
  },
];

for (const { name, page, block, outage } of senders) {
  Deno.test({
    name: `${name}: what its example sends is found`,
    ignore: place === undefined,
    fn: () =>
      withTrial("python", async (trial) => {
        await runPython(trial, await blockOf(page, block));
        await found(trial, declinedOfNobody);
      }),
  });

  Deno.test({
    name: `${name}: through an outage of five seconds`,
    ignore: place === undefined || !isLong,
    fn: () => withTrial("python", async (trial) => outage(trial, await blockOf(page, block))),
  });
}
