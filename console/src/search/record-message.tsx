import { useMemo } from "react";
import { say } from "../shared/translate.ts";
import { LongText } from "./long-text.tsx";
import { jsonIn, stackIn } from "./message-parts.ts";
import { StackText } from "./stack-text.tsx";
import { Tree } from "./value-tree.tsx";

/** A message. JSON in it is shown as a tree, a stack trace is folded. */
export function Message({ text }: { text: string }) {
  const json = useMemo(() => jsonIn(text), [text]);
  const stack = useMemo(() => stackIn(text), [text]);
  if (stack) return <StackText stack={stack} />;
  return (
    <>
      <LongText text={text} className="message" />
      {json && (
        <section className="message-json" aria-label={say("JSON in the message")}>
          <Tree value={json.value as Record<string, unknown>} path={[]} onFilter={null} />
        </section>
      )}
    </>
  );
}
