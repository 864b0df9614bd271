export function withoutSlashesAtEnd(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x2f) end--;
  return text.slice(0, end);
}
