import { useState } from "react";
import { LogText } from "../shared/log-text.tsx";
import { say } from "../shared/translate.ts";
import type { Stack } from "./message-parts.ts";
import { Button } from "../shared/basic-controls.tsx";

/** A stack trace: the error and the first frame of the user's code. A button shows all frames. */
export function StackText({ stack }: { stack: Stack }) {
  const [isWhole, setWhole] = useState(false);
  const { head, frames, tail, own } = stack;
  const shown = isWhole ? frames : own >= 0 ? [frames[own] ?? ""] : frames.slice(0, 1);
  return (
    <div className="message stack">
      <pre tabIndex={0}>
        {head !== "" && <LogText text={`${head}\n`} links />}
        {shown.map((line, i) => (
          <span key={i} className={line === frames[own] ? "frame own" : "frame"}>
            <LogText text={`${line}\n`} />
          </span>
        ))}
        {tail !== "" && <LogText text={tail} links />}
      </pre>
      {frames.length > 1 && (
        <Button
          look="small quiet"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole
            ? say("Only the first frame of your code")
            : say("All frames ({number})", { number: frames.length })}
        </Button>
      )}
    </div>
  );
}
