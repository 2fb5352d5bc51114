/** Text from outside, shortened and reduced to printable ASCII, for logs and messages. */
export function printable(text: string, maxLength: number): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, maxLength);
}
