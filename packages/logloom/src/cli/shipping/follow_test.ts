import assert from "node:assert/strict";
import { follow, readLive } from "./follow.ts";

interface Followed extends AsyncDisposable {
  readonly path: string;
  /** Waits for this number of lines and compares them. */
  expect(...lines: string[]): Promise<void>;
  /** Waits until the end of the file is reached. */
  caughtUp(): Promise<void>;
}

async function startFollowing(fromStart: boolean, before?: string): Promise<Followed> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/app.log`;
  if (before !== undefined) await Deno.writeTextFile(path, before);
  const stop = new AbortController();
  const lines = follow({ path, fromStart, pollMs: 5, signal: stop.signal });
  const seen: string[] = [];
  const next = async () => {
    const { value } = await lines.next();
    return value ?? [];
  };
  return {
    path,
    async expect(...expected) {
      while (seen.length < expected.length) seen.push(...await next());
      assert.deepEqual(seen.splice(0), expected);
    },
    async caughtUp() {
      for (let read = await next(); read.length > 0; read = await next()) seen.push(...read);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await lines.return(undefined);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function append(path: string, text: string): Promise<void> {
  return Deno.writeTextFile(path, text, { append: true });
}

Deno.test("following begins at the end of a file, or at its start if asked to", async () => {
  await using atEnd = await startFollowing(false, "old\n");
  await atEnd.caughtUp();
  await append(atEnd.path, "new\n");
  await atEnd.expect("new");
  await using atStart = await startFollowing(true, "old\n");
  await atStart.expect("old");
});

Deno.test("a line is read when it is complete", async () => {
  await using followed = await startFollowing(false, "");
  await followed.caughtUp();
  await append(followed.path, "first ha");
  await followed.caughtUp();
  await append(followed.path, "lf\nsecond\n");
  await followed.expect("first half", "second");
});

Deno.test("a line that is being written when following begins is read as a whole", async () => {
  await using followed = await startFollowing(false, "old\nfirst ha");
  await followed.caughtUp();
  await append(followed.path, "lf\nsecond\n");
  await followed.expect("first half", "second");
});

Deno.test("a file that does not exist yet is read from its start", async () => {
  await using followed = await startFollowing(false);
  await followed.caughtUp();
  await append(followed.path, "hello\n");
  await followed.expect("hello");
});

Deno.test("a rotated file is read to its end, then the new one from its start", async () => {
  await using followed = await startFollowing(false, "");
  await followed.caughtUp();
  await append(followed.path, "1\n");
  await followed.expect("1");
  await Deno.rename(followed.path, `${followed.path}.1`);
  await append(`${followed.path}.1`, "2\nwithout end");
  await followed.caughtUp();
  await append(followed.path, "3\n");
  await followed.expect("2", "without end", "3");
  await append(followed.path, "4\n");
  await followed.expect("4");
});

Deno.test("lines that are written to the old file while the new one appears are not lost", async () => {
  await using followed = await startFollowing(false, "");
  await followed.caughtUp();
  await append(followed.path, "1\n");
  await Deno.rename(followed.path, `${followed.path}.1`);
  await append(followed.path, "3\n");
  await append(`${followed.path}.1`, "2\n");
  await followed.expect("1", "2", "3");
});

Deno.test("a truncated file is read from its start", async () => {
  await using followed = await startFollowing(false, "a long first line\n");
  await followed.caughtUp();
  await Deno.truncate(followed.path);
  await append(followed.path, "short\n");
  await followed.expect("short");
});

Deno.test("a truncated file that is longer again than before is read from its start", async () => {
  await using followed = await startFollowing(false, "old line one\n");
  await followed.caughtUp();
  await append(followed.path, "old line two\n");
  await followed.expect("old line two");
  await Deno.truncate(followed.path);
  await append(followed.path, "new line one, longer\nnew line two, longer\nnew line three\n");
  await followed.expect("new line one, longer", "new line two, longer", "new line three");
});

Deno.test("a line that was cut by a truncation is kept as it is", async () => {
  await using followed = await startFollowing(true, "whole\nbegun");
  await followed.expect("whole");
  await Deno.truncate(followed.path);
  await append(followed.path, "next\n");
  await followed.expect("begun", "next");
});

Deno.test("a large file of any length is followed from its end, also after a truncation", async () => {
  const line = (n: number) => `${n} ${"x".repeat(100)}`;
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => line(from + n));
  const text = (from: number, to: number) => lines(from, to).map((one) => `${one}\n`).join("");
  await using followed = await startFollowing(false, text(0, 3000));
  await followed.caughtUp();
  await append(followed.path, text(3000, 7000));
  await followed.expect(...lines(3000, 7000));
  await Deno.truncate(followed.path);
  await append(followed.path, text(7000, 15_000));
  await followed.expect(...lines(7000, 15_000));
});

Deno.test("a file in UTF-16 is followed from its end", async () => {
  const utf16 = (text: string) =>
    new Uint8Array(new Uint16Array([...text].map((one) => one.charCodeAt(0))).buffer);
  await using followed = await startFollowing(false);
  await Deno.writeFile(followed.path, utf16("\uFEFFold\r\n"));
  await followed.caughtUp();
  await Deno.writeFile(followed.path, utf16("grün\r\n"), { append: true });
  await followed.expect("grün");
});

Deno.test("after a stop a program's lines are read until the program is silent", async () => {
  const stop = new AbortController();
  const words = Array.from({ length: 8 }, (_, n) => `ending ${n}`);
  let isOver = false;
  async function* program(): AsyncGenerator<string[]> {
    yield ["begun"];
    stop.abort();
    // All words take twice the time for which a silent stream would be read.
    for (const word of words) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      yield [word];
    }
    // The program stays alive and writes nothing more.
    const alive = setInterval(() => {}, 1000);
    await new Promise<void>((resolve) => end = resolve);
    clearInterval(alive);
    isOver = true;
  }
  let end = () => {};
  const heard = (await Array.fromAsync(readLive(program(), 60_000, stop.signal))).flat();
  assert.deepEqual(heard, ["begun", ...words]);
  assert.equal(isOver, false);
  end();
});
