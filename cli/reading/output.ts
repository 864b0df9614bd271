/** The destination of lines: a pager at a terminal, else standard output. Both may close early. */
export interface Output {
  write(line: string): Promise<boolean>;
  close(): Promise<void>;
}

export function isColoured(): boolean {
  return Deno.stdout.isTerminal() && !Deno.env.get("NO_COLOR");
}

/** `page`: at a terminal, output longer than the screen goes to $PAGER, by default less. */
export function openOutput({ page }: { page: boolean }): Output {
  const encoder = new TextEncoder();
  if (page && Deno.stdout.isTerminal() && Deno.env.get("PAGER") !== "cat") {
    const pager = openPager();
    if (pager) {
      const writer = pager.stdin.getWriter();
      return {
        write: (line) => writer.write(encoder.encode(`${line}\n`)).then(() => true, () => false),
        close: async () => {
          await writer.close().catch(() => {});
          await pager.status;
        },
      };
    }
  }
  const writer = Deno.stdout.writable.getWriter();
  return {
    // The reader of a pipe may close it: `| head`.
    write: (line) => writer.write(encoder.encode(`${line}\n`)).then(() => true, () => false),
    close: () => Promise.resolve(writer.releaseLock()),
  };
}

function openPager(): Deno.ChildProcess | null {
  const named = Deno.env.get("PAGER");
  const argv = named ? ["sh", "-c", named] : ["less", "-FRX"];
  try {
    return new Deno.Command(argv[0], { args: argv.slice(1), stdin: "piped" }).spawn();
  } catch {
    return null;
  }
}
