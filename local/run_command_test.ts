import { rejects, strictEqual } from "node:assert/strict";
import { command } from "./run_command.ts";

const cases: [string, string, string][] = [
  ["a full disk", "tar: write: No space left on device", "the disk is full."],
  ["a failed download", "Temporary failure resolving 'deb.example'", "a download failed."],
  [
    "anything else",
    "ignored\nE: Unable to locate package x\nmore",
    "E: Unable to locate package x",
  ],
];

for (const [name, output, sentence] of cases) {
  Deno.test(`${name} is reported in one sentence`, async () => {
    const failing = ["sh", "-c", 'printf "%s\\n" "$1" >&2; exit 1', "sh", output];
    await rejects(command(failing, { failure: "Installing failed" }), (error: Error) => {
      strictEqual(error.name, "Failure");
      strictEqual(error.message.startsWith(`Installing failed: ${sentence}`), true);
      return true;
    });
  });
}

Deno.test("a command that does not end is killed and reported", async () => {
  await rejects(
    // Ignores SIGTERM.
    command(["bash", "-c", "trap '' TERM; exec sleep 600"], {
      failure: "Setting up failed",
      within: 500,
    }),
    { name: "Failure", message: "Setting up failed: it did not end within 0.5 s." },
  );
});

Deno.test("a missing program is named", () =>
  rejects(command(["logloom-has-no-such-program"], { failure: "Setting up failed" }), {
    name: "Failure",
    message:
      "Setting up failed: the program logloom-has-no-such-program is missing on this machine.",
  }));
