import { useEffect, useRef, useState } from "react";
import { Button, IconButton } from "./basic-controls.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icons.tsx";
import { say } from "./translate.ts";

/** Copies a text and says so. Without a clipboard it shows the selected text in a dialog. */
export function CopyButton({ text, label = say("Copy"), icon = false, look = "small" }: {
  text: string | (() => string);
  label?: string;
  look?: string;
  icon?: boolean;
}) {
  const [done, setDone] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    const wanted = typeof text === "string" ? text : text();
    if (await copyText(wanted)) setDone(true);
    else setShown(wanted);
  };
  return (
    <>
      {icon
        ? (
          <IconButton
            icon={done ? "check" : "copy"}
            label={done ? say("Copied") : label}
            onClick={copy}
          />
        )
        : (
          <Button look={look} onClick={copy}>
            <Icon name={done ? "check" : "copy"} />
            {done ? say("Copied") : label}
          </Button>
        )}
      {shown !== null && <CopyByHand text={shown} onClose={() => setShown(null)} />}
    </>
  );
}

/** Whether the text was copied. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages over plain HTTP have no clipboard, and browsers may refuse it.
    return false;
  }
}

function CopyByHand({ text, onClose }: { text: string; onClose: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <Dialog title={say("Copy the text yourself")} onClose={onClose}>
      <p>
        {say("The browser does not let this page copy. Press Ctrl+C (⌘C on a Mac).")}
      </p>
      <textarea
        ref={field}
        className="mono by-hand"
        aria-label={say("The text to copy")}
        readOnly
        value={text}
      />
    </Dialog>
  );
}
