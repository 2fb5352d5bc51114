import { createInterface } from 'node:readline';
import { Finding } from './session';

const answerWithinMs = 10 * 60_000;

/** Puts a question and returns the line that answers it, trimmed. @throws Finding when there is none. */
export type Ask = (question: string) => Promise<string>;

/** Lets `work` ask on the terminal (or read lines from a pipe): questions go to stderr, so that stdout holds results alone. */
export async function withPrompt<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const { stdin: input, stderr: output } = process;
  const reader = createInterface({
    input,
    output,
    terminal: input.isTTY && output.isTTY,
    signal: AbortSignal.timeout(answerWithinMs),
  });
  // one iterator for all questions: it keeps lines that arrive together
  const lines = reader[Symbol.asyncIterator]();
  try {
    return await work(async (question) => {
      output.write(question);
      const line = await lines.next();
      if (line.done === true) throw new Finding('nothing was entered');
      return line.value.trim();
    });
  } finally {
    reader.close();
  }
}
