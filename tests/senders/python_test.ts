import { blockOf, declinedOfNobody, found, runProgram, withTrial } from "./sender.ts";
import { debianEnv, debianSenders } from "./packages.ts";

const place = await debianSenders();

for (
  const { name, page, block, query } of [
    { name: "python3-graypy", page: "others.md", block: "graypy.py", query: declinedOfNobody },
    {
      name: "python3-elasticsearch",
      page: "elasticsearch.md",
      block: "elasticsearch.py",
      query: declinedOfNobody,
    },
  ]
) {
  Deno.test({
    name: `${name}: what its example sends is found`,
    ignore: place === undefined,
    fn: () =>
      withTrial("python", async (trial) => {
        const env = { ...trial.env, ...debianEnv(place ?? "") };
        await runProgram({
          program: "/usr/bin/python3",
          args: ["-c", await blockOf(page, block)],
          env,
          cwd: "/",
        });
        await found(trial, query);
      }),
  });
}
