import {
  blockOf,
  declinedOfNobody,
  events,
  found,
  intoAnOutage,
  longTest,
  type Run,
  runProgram,
  sayingBy,
  tellProgram,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";
import { onlyIf } from "../support/only_if.ts";

const place = await debianSenders();
const isOnDebian = () => onlyIf(!!place, "its programs are taken from Debian, as root");

interface PythonSender {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  /** Makes a program of the block that sends the trial's events through an outage, and what arrives. */
  readonly outage: (trial: Trial, block: string) => Promise<void>;
}

function pythonRun(trial: Trial, program: string): Run {
  const env = { ...trial.env, ...debianEnv(place ?? "") };
  return { program: "/usr/bin/python3", args: ["-c", program], env, cwd: "/" };
}

const senders: PythonSender[] = [
  {
    name: "python3-graypy",
    page: "others.md",
    block: "graypy.py",
    // It looks at no answer.
    outage: (trial, block) =>
      tellProgram(
        pythonRun(
          trial,
          `${block}
import sys, time
for done, line in enumerate(sys.stdin, 1):
    for n in range(*map(int, line.split())) if line != "end\\n" else []:
        logger.error(f"event {n}")
        time.sleep(0.12)
    print("\\ndone", done, flush=True)
`,
        ),
        (tell) => throughAnOutage(trial, sayingBy(tell), { lost: "some", doubled: "none" }),
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
          runProgram(pythonRun(
            trial,
            block.replace(
              /\[\{[\s\S]*\}\]/,
              `[{"_index": "shop", "_op_type": "create", "message": f"event {n}"} for n in range(${events})]`,
            ),
          )),
        { lost: "none", doubled: "none" },
      ),
  },
];

for (const { name, page, block, outage } of senders) {
  Deno.test({
    name: `${name}: what its example sends is found`,
    ...isOnDebian(),
    fn: () =>
      withTrial("python", async (trial) => {
        await runProgram(pythonRun(trial, await blockOf(page, block)));
        await found(trial, declinedOfNobody);
      }),
  });

  longTest({
    name: `${name}: through an outage of five seconds`,
    ...isOnDebian(),
    fn: () => withTrial("python", async (trial) => outage(trial, await blockOf(page, block))),
  });
}
