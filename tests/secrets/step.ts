import { type Context, type Step, type StepResult, sum } from "../runner/step.ts";

export const secrets: Step = {
  name: "secrets",
  title: "no key and no token in what any process wrote to its log",
  needsStack: true,
  run: secretsInLogs,
};

/** No log may show an API key, except for its first characters, or a token of three parts. */
const kinds = [/\bll_[0-9A-Za-z]{9,}/, /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/];

/** If the step has its own stack, its logs are searched as well. */
export async function withoutSecrets(
  context: Context,
  result: Promise<StepResult>,
): Promise<StepResult> {
  return sum([await result, await secretsInLogs(context)]);
}

async function secretsInLogs({ stack: testStack }: Context): Promise<StepResult> {
  if (!testStack) throw new Error("logs need a stack");
  const folder = `${testStack.stack.folder}/logs`;
  const result = { passed: 0, failed: 0 };
  for await (const { name } of Deno.readDir(folder)) {
    const lines = (await Deno.readTextFile(`${folder}/${name}`)).split("\n");
    const found = lines.findIndex((line) => kinds.some((secret) => secret.test(line)));
    if (found < 0) {
      result.passed += 1;
    } else {
      console.log(`${name}:${found + 1}: a secret`);
      result.failed += 1;
    }
    console.log(`${name}: ${lines.length - 1} lines`);
  }
  return result.passed + result.failed > 0 ? result : { passed: 0, failed: 1 };
}
