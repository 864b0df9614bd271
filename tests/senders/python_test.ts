import {
  type Away,
  blockOf,
  declinedOfNobody,
  found,
  intoAnOutage,
  longTest,
  many,
  type Run,
  runProgram,
  sayingBy,
  tellProgram,
  throughAnOutage,
  type Trial,
  withTrial,
} from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";
import { onlyIf } from "../support/skip_unless.ts";

const place = await debianSenders();
const isOnDebian = () => onlyIf(!!place, "its programs are taken from Debian, as root");

interface PythonSender {
  readonly name: string;
  readonly page: string;
  readonly block: string;
  readonly outages: readonly Away[];
  /** Sends events through an outage with a program made from the block, and checks the arrived ones. */
  readonly outage: (trial: Trial, block: string, away: Away) => Promise<void>;
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
    outages: ["refuses"],
    // Fewer events, because each is a request of its own.
    outage: (trial, block) =>
      tellProgram(
        pythonRun(
          trial,
          `${block}
for done, line in enumerate(sys.stdin, 1):
    for n in range(*map(int, line.split())) if line != "end\\n" else []:
        logger.error(f"event {n}")
        time.sleep(0.12)
    print("\\ndone", done, flush=True)
`,
        ),
        (tell) => throughAnOutage(trial, sayingBy(tell), { lost: "none", doubled: "none" }),
      ),
  },
  {
    name: "python3-elasticsearch",
    page: "elasticsearch.md",
    block: "elasticsearch.py",
    outages: ["is not there"],
    outage: (trial, block, away) =>
      intoAnOutage(
        trial,
        () =>
          runProgram(pythonRun(
            trial,
            block.replace(
              /\[\{[\s\S]*\}\]/,
              `[{
    "_index": "shop",
    "_op_type": "create",
    "@timestamp": datetime.now(timezone.utc).isoformat(),
    "message": f"event {n}",
} for n in range(${many})]`,
            ),
          )),
        away,
      ),
  },
];

for (const { name, page, block, outages, outage } of senders) {
  Deno.test({
    name: `${name}: the example's event is found`,
    ...isOnDebian(),
    fn: () =>
      withTrial("python", async (trial) => {
        await runProgram(pythonRun(trial, await blockOf(page, block)));
        await found(trial, declinedOfNobody);
      }),
  });

  for (const away of outages) {
    longTest({
      name: `${name}: through an outage, while the service ${away}`,
      ...isOnDebian(),
      fn: () =>
        withTrial("python", async (trial) => outage(trial, await blockOf(page, block), away)),
    });
  }
}
