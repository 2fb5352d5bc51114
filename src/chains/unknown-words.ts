/** Of a refusal that nobody knows, in its reason. */
const maxWords = 12;

/** Letters, joined by hyphens as in Bitcoin's names of rules: nothing with a digit or a sign in it, as calldata, addresses, urls and keys have. */
const plain = /^[a-z]{1,20}(-[a-z]{1,20}){0,5}[,.:;]?$/i;

/** The reason for a refusal in words that are not known: its code, and the plain ones of its first words. */
export function unknownReason(code: number | string, message: string): string {
  const words = message
    .split(/\s+/)
    .filter((word) => plain.test(word))
    .slice(0, maxWords);
  return [`refused by the node (code ${code})`, words.join(' ')].filter(Boolean).join(': ');
}
